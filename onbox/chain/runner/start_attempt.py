"""Start an attempt in two steps, prepare and go, or take over one that an earlier runner started.

*Prepare* reserves the slot and starts the keeper, which waits. *Go* journals the start and lets the keeper begin. A
keeper whose runner dies before *go* ends without having done anything.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.chain.command.environment import ATTEMPT_VARIABLE, VariableMissing, attempt_id, stage_environment
from onbox.chain.command.keeper import (
    GO,
    GO_FD,
    KEEPER_ARGV,
    LIFE_FD,
    SCRIPT_FD,
    SLOT_FD,
    command_argv,
    find_program,
    keeper_text,
    longest_word,
)
from onbox.chain.gates.success_gate import Ended
from onbox.chain.state.slots import find_keeper, reserve_slot
from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic, parse_utc, wall
from onbox.system.files import NO_ROOM, StateNotWritten, link_newest
from onbox.system.process import Files, Identity, high_pipe, nameless_file, start_detached

if TYPE_CHECKING:
    from onbox.chain.runner.context import Context
    from onbox.chain.state.replay import StageHistory
    from onbox.contract.markers import Slot
    from onbox.contract.runfile import FrozenStage


class Live(NamedTuple):
    """An attempt that runs. `keeper`: who keeps it, None if that was never recorded; `keeper_lives` becomes False
    when only its command lives on. `is_child`: the keeper is this process's child, and when it started is not asked
    yet. `began` is monotonic.
    """

    frozen: FrozenStage
    number: int
    keeper: Identity | None
    keeper_lives: bool
    is_child: bool
    began: float
    began_wall: float


class Prepared(NamedTuple):
    """An attempt whose keeper waits for the word. `record` is its start record; `go_fd` must be used or closed."""

    frozen: FrozenStage
    record: dict[str, Any]
    keeper_pid: int
    go_fd: int

    @property
    def number(self) -> int:
        return int(self.record["attempt"])


def prepare_attempt(ctx: Context, frozen: FrozenStage, record: dict[str, Any]) -> Prepared | Ended:
    """Everything before the word *go*. An `Ended` with cause "not_started" if the command cannot be started at all.

    Raises StateNotWritten: then nothing was started.
    """
    stage, folder, number = frozen.stage, ctx.folder(frozen.stage), int(record["attempt"])
    try:
        env = stage_environment(stage.env, _own_variables(ctx, frozen, record), ctx.environ, folder)
    except VariableMissing as error:
        return Ended(None, None, "not_started", 0.0, str(error))
    command = command_argv(stage.cmd, find_program)
    if longest_word(command) is not None:
        return Ended(None, None, "not_started", 0.0, f"{os.strerror(errno.E2BIG)}: the command")
    log = ctx.paths.log(stage.name, number)
    slot_fd = reserve_slot(ctx.paths, ctx.head.run_id, stage.name, number)
    waiting_fd, go_fd = high_pipe()
    script_fd = nameless_file(keeper_text(folder, ctx.resume_words, command))
    try:
        inherited = ((slot_fd, SLOT_FD), (ctx.life_fd, LIFE_FD), (waiting_fd, GO_FD), (script_fd, SCRIPT_FD))
        return Prepared(frozen, record, start_detached(KEEPER_ARGV, env, Files(output=log, inherited=inherited)), go_fd)
    except OSError as error:
        os.close(go_fd)
        if error.errno in NO_ROOM:
            raise StateNotWritten(log, error) from error
        return Ended(None, None, "not_started", 0.0, f"{error.strerror}: {error.filename or 'the command'}")
    finally:
        os.close(script_fd)
        os.close(waiting_fd)
        os.close(slot_fd)  # from here on only the keeper holds its slot


def go(ctx: Context, prepared: Prepared) -> Live:
    """Journal the start and let the keeper begin; flush while it does.

    A runner killed in between finds the record; the power failing in between loses a start that did nothing yet.
    Raises StateNotWritten.
    """
    try:
        ctx.recorder.note(prepared.record, sync=False)
        began, began_wall = monotonic(), wall()
        with suppress(BrokenPipeError):  # the keeper was killed while it waited: its end will tell
            os.write(prepared.go_fd, GO)
    finally:
        os.close(prepared.go_fd)
    ctx.recorder.settle()
    name, log = prepared.frozen.stage.name, ctx.paths.log(prepared.frozen.stage.name, prepared.number)
    with suppress(StateNotWritten):  # a convenience: no inode left, or a file system without links, ends no stage
        link_newest(os.path.basename(log), ctx.paths.newest_log(name))
    return Live(prepared.frozen, prepared.number, Identity(prepared.keeper_pid, 0), True, True, began, began_wall)


def _own_variables(ctx: Context, frozen: FrozenStage, record: dict[str, Any]) -> dict[str, str]:
    stage, number = frozen.stage.name, int(record["attempt"])
    return {
        "ONBOX_RUN": ctx.head.run,
        "ONBOX_RUN_ID": ctx.head.run_id,
        "ONBOX_RUN_DIR": ctx.paths.root,
        "ONBOX_STAGE": stage,
        "ONBOX_ATTEMPT": str(number),
        "ONBOX_RESUME": "1" if record["resume"] else "0",
        "ONBOX_CHECKPOINT": str(record.get("checkpoint") or ""),
        ATTEMPT_VARIABLE: attempt_id(ctx.head.run_id, stage, number),
    }


def adopt_attempt(ctx: Context, frozen: FrozenStage, slot: Slot, history: StageHistory) -> Live:
    """Take over an attempt whose runner is gone. The lock on the slot said that it lives."""
    keeper = find_keeper(slot, ctx.paths.slot(frozen.stage.name))
    began_wall = (parse_utc(str(history.started.get("at", ""))) if history.started else None) or wall()
    began = monotonic() - max(0.0, wall() - began_wall)
    return Live(frozen, slot.attempt, keeper, keeper is not None, False, began, began_wall)
