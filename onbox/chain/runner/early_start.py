"""The keeper of a stage, started while the marker of the stage before it lands: a shell takes as long to start as the
disk takes to flush. It begins by the word *go* only, which it gets when its turn has come; without it, it ends.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.chain.runner.start_attempt import Prepared, prepare_attempt
from onbox.model.manifest import Gates
from onbox.system.files import StateNotWritten, remove_file

if TYPE_CHECKING:
    from onbox.chain.runner.context import Context
    from onbox.chain.state.replay import StageHistory
    from onbox.contract.runfile import FrozenStage

_NO_GATES = Gates()


def start_early(ctx: Context, frozen: FrozenStage, known: StageHistory) -> Prepared | None:
    """A keeper that waits, for the first attempt; None: it is started when its turn has come. Raises StateNotWritten.

    Nothing here looks at the project: no gate, no hung disk and no folder of a million files keeps a marker waiting.
    """
    stage, paths = frozen.stage, ctx.paths
    reads_files = any(value.startswith("file:") for _, value in stage.env)
    asks_first = stage.wait_for is not None or stage.gates != _NO_GATES or reads_files
    if asks_first or known.last or os.path.lexists(paths.slot(stage.name)) or os.path.lexists(paths.done(stage.name)):
        return None
    prepared = prepare_attempt(ctx, frozen, {"attempt": 1, "resume": False})
    return prepared if isinstance(prepared, Prepared) else None


def call_off(ctx: Context, prepared: Prepared) -> None:
    """The stage is not started after all: nothing of it stays."""
    os.close(prepared.go_fd)
    os.waitpid(prepared.keeper_pid, 0)
    with suppress(StateNotWritten):  # a slot without a start on record means nothing
        remove_file(ctx.paths.slot(prepared.frozen.stage.name))
