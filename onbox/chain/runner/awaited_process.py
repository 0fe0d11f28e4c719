"""Which process a stage's `wait_for` means: its pid is frozen with start time and boot, so that a later process of the
same pid is not taken for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.chain.runner.wait_for import name_of_process
from onbox.chain.state.frozen_run import read_stages
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.system.process import look_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import FrozenStage
    from onbox.model.manifest import Stage, WaitFor


def with_processes(stages: Sequence[Stage], paths: RunPaths, backend: str) -> Sequence[Stage]:
    """The stages, each pid with the process that has it; one that was frozen before stays the same process.

    Raises Trouble where the end of a process is waited for that does not live.
    """
    if not any(stage.wait_for is not None and stage.wait_for.pid is not None for stage in stages):
        return stages
    if backend != "local":
        raise Trouble(
            Exit.CONFIG, f"wait_for: a pid is of this machine, and the stages go to {backend}; use file or log"
        )
    frozen = {one.stage.name: one.stage.wait_for for one in _frozen(paths)}
    return [stage._replace(wait_for=_with_process(stage, frozen.get(stage.name))) for stage in stages]


def _frozen(paths: RunPaths) -> Iterable[FrozenStage]:
    try:
        return list(read_stages(paths))
    except (OSError, ValueError):
        return ()  # none yet; a damaged one is told where it is needed


def _with_process(stage: Stage, before: WaitFor | None) -> WaitFor | None:
    wait = stage.wait_for
    if wait is None or wait.pid is None:
        return wait
    if before is not None and before.pid == wait.pid and before.process:
        return wait._replace(process=before.process)
    entry = look_up(wait.pid)
    if entry is not None and not entry.is_zombie:
        return wait._replace(process=name_of_process(entry))
    if wait.file is None and wait.log is None:
        raise Trouble(
            Exit.CONFIG, f"stage {stage.name}: wait_for: no process {wait.pid} lives here; nothing was started"
        )
    return wait._replace(process="")
