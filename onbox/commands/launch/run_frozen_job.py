"""`onbox chain --inline --frozen RUN_DIR [STAGE]`: what a job of an engine runs. The definition is the frozen one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.backends.table import stages_of
from onbox.chain.command.environment import JOB_VARIABLE
from onbox.chain.lock.run_lock import HolderUnknown, Taken, take_lock
from onbox.chain.lock.run_owner import refuse_foreign_run
from onbox.chain.runner.runner import TIME_IS_OVER
from onbox.chain.runner.runner_process import run_chain
from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.chain.state.replay import replay
from onbox.commands.shared.echo import beater
from onbox.contract.events import parse_events
from onbox.contract.exits import Exit
from onbox.contract.paths import RunPaths
from onbox.errors import Trouble
from onbox.model.engines import PER_STAGE
from onbox.system.clock import monotonic, pause
from onbox.system.command import CommandResult, run_command
from onbox.system.journal import read_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.cli.command import Options
    from onbox.contract.events import Record

# A job can begin while its submitter still writes down the next one's id, while the job before it ends, or before a
# shared file system has let go of the lock of a node that was lost. It waits; two runners there never are.
LOCK_PATIENCE_SECONDS = 600.0
LOCK_LOOK_SECONDS = 0.5


def run_frozen(args: Options, listen: Callable[[Record], None]) -> int:
    """One stage of the frozen run, or all of it, in this process. listen: hears of every record."""
    if not args.inline or len(args.stages) > 1 or args.accept_done or args.redo:
        raise Trouble(Exit.USAGE, "usage: onbox chain --inline --frozen RUN_DIR [STAGE]")
    paths, only = RunPaths(os.path.abspath(args.frozen)), (args.stages or [None])[0]
    refuse_foreign_run(paths)
    head = read_head(paths)
    if head is None:
        raise Trouble(Exit.USAGE, f"there is no run at {paths.root}")
    names = [frozen.stage.name for frozen in read_stages(paths)]
    if only is not None and only not in names:
        raise Trouble(Exit.USAGE, f"no stage {only!r} in this run; there are: {', '.join(names[:20])}")
    lock = _wait_for_lock(paths)
    code = run_chain(paths, lock.lock_fd, listen=listen, beat=beater(args), only=only)
    if code == Exit.STOPPED and only is not None:
        _requeue(paths, only)
    return code


def _wait_for_lock(paths: RunPaths) -> Taken:
    deadline, told = monotonic() + LOCK_PATIENCE_SECONDS, False
    while True:
        try:
            lock = take_lock(paths)
        except HolderUnknown:
            lock = None
        if isinstance(lock, Taken):
            return lock
        who = f"runner pid {lock.pid} on {lock.host}" if lock is not None else "a process that cannot be identified"
        if not told:
            print(f"onbox: waits for {paths.lock}, which {who} holds", flush=True)
            told = True
        if monotonic() >= deadline:
            raise Trouble(Exit.ANOTHER_RUNNER, f"{paths.lock} is held by {who} for {LOCK_PATIENCE_SECONDS:g} s")
        pause(LOCK_LOOK_SECONDS)


def _requeue(paths: RunPaths, only: str) -> None:
    """Back into the queue, where the time limit alone ended the stage and the user wants it so: the same job goes on,
    and what depends on it goes on waiting.
    """
    end = replay(parse_events(read_lines(paths.journal))).last_end or {}
    engine, _, job_id = os.environ.get(JOB_VARIABLE, "").partition(":")
    stage = next(frozen.stage for frozen in read_stages(paths) if frozen.stage.name == only)
    if end.get("reason") != TIME_IS_OVER or engine not in PER_STAGE:
        return
    argv = stages_of(engine).requeue_argv(job_id, stage)
    if argv is None:
        return
    answer = run_command(argv, timeout_seconds=60.0)
    said = (
        "is back in the queue" if isinstance(answer, CommandResult) and answer.code == 0 else f"not requeued: {answer}"
    )
    print(f"onbox: {engine} job {job_id} {said}", flush=True)
