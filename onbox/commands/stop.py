"""`onbox stop`: end a run and every process of its stage, so that `onbox resume` can continue it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from onbox.chain.command.environment import attempt_assignment
from onbox.chain.lock.lock_owner import Holder
from onbox.chain.lock.run_lock import HolderUnknown, take_lock
from onbox.chain.run_status import look_at_run
from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.chain.state.slots import find_keeper, read_slot
from onbox.chain.viewer.viewer import ask_to_stop, configured_grace
from onbox.cli.amounts import MOST_SECONDS, Number
from onbox.cli.command import command, config_option
from onbox.commands.engine.stop import stop_jobs
from onbox.commands.shared.arguments import run_argument
from onbox.commands.shared.notices import catch_up_notices
from onbox.commands.shared.project import load_project_to_read, run_to_act_on
from onbox.contract.events import Event, render_event
from onbox.contract.exits import Exit
from onbox.contract.paths import SWEEP, RunPaths
from onbox.contract.runfile import is_sweep
from onbox.contract.states import RunState
from onbox.errors import Trouble
from onbox.model.units import counted
from onbox.sweep.look import look_at_sweep
from onbox.system.clock import utc_text, wall
from onbox.system.files import remove_file
from onbox.system.journal import Journal
from onbox.system.process import end_tree, has_open, is_alive, wait_for_ends

if TYPE_CHECKING:
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  onbox stop                 SIGTERM to the stage's processes, SIGKILL after the grace period
  onbox stop --grace 120     leave the stage two minutes to write its checkpoint
  onbox stop --now           SIGKILL at once
"""

KILL_PATIENCE_SECONDS = 20.0  # what ending a tree with SIGKILL, judging and journaling may take after the grace


@command(EXAMPLES, exclusive=[("--grace", "--now")])
@run_argument
@config_option
@click.option(
    "--grace",
    type=Number(0, MOST_SECONDS),
    metavar="SECONDS",
    help="between SIGTERM and SIGKILL (default: [run] grace)",
)
@click.option("--now", is_flag=True, help="SIGKILL at once")
def run(args: Options) -> int:
    return stop_run(run_to_act_on(load_project_to_read(args.config), args.run), args.grace, now=args.now)


def stop_run(paths: RunPaths, grace_seconds: float | None, *, now: bool = False) -> int:
    """Stop the run there. grace_seconds None: as it is configured."""
    grace = 0.0 if now else configured_grace(paths) if grace_seconds is None else grace_seconds
    if _is_on_engine(paths):
        return _stop_jobs(paths, grace)
    try:
        holder = take_lock(paths)
    except HolderUnknown as unknown:
        raise Trouble(Exit.ANOTHER_RUNNER, f"{paths.lock} is held by a process that cannot be identified") from unknown
    if isinstance(holder, Holder):
        return _stop_runner(paths, holder, grace)
    try:
        return _stop_orphan(paths, grace)
    finally:
        os.close(holder.lock_fd)


def _is_on_engine(paths: RunPaths) -> bool:
    head = read_head(paths)
    return head is not None and isinstance(head.data.get("backend"), dict)


def _stop_jobs(paths: RunPaths, grace_seconds: float) -> int:
    if not stop_jobs(paths, grace_seconds):
        print("nothing runs")
        return Exit.DONE
    view = look_at_run(paths)
    over = view is not None and view.state is RunState.DONE
    print("the run had ended before the stop took effect: done" if over else f"stopped; {_goes_on_with(paths)}")
    return Exit.DONE


def _stop_runner(paths: RunPaths, holder: Holder, grace_seconds: float) -> int:
    if holder.host != os.uname().nodename:
        raise Trouble(
            Exit.ANOTHER_RUNNER, f"the runner is on another host: {holder.host}, pid {holder.pid}; stop it there"
        )
    if is_alive(holder.identity) and not has_open(holder.pid, paths.lock):
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            f"{paths.lock} names pid {holder.pid}, which does not have this lock open: nothing was signalled",
        )
    told = ask_to_stop(paths, holder.identity, grace_seconds)
    if not wait_for_ends([holder.identity], grace_seconds + KILL_PATIENCE_SECONDS):
        raise Trouble(Exit.INTERNAL, f"runner pid {holder.pid} did not end; see {paths.runner_log}")
    view = look_at_run(paths)
    if view is not None and view.state in (RunState.RUNNING, RunState.STALLED, RunState.INTERRUPTED) and not view.end:
        lock = take_lock(paths)  # the runner died before it could carry out the wish
        if isinstance(lock, Holder):
            raise Trouble(Exit.ANOTHER_RUNNER, f"another runner took over meanwhile (pid {lock.pid}): onbox stop again")
        try:
            return _stop_orphan(paths, grace_seconds)
        finally:
            os.close(lock.lock_fd)
    if not told and view is not None and view.state is RunState.INTERRUPTED:
        print(f"stopped, recorded as interrupted; {_goes_on_with(paths)}")
        return Exit.DONE
    if view is None or view.state is not RunState.STOPPED:
        state = view.state.value if view else "gone"
        print(f"the run had ended before the stop took effect: {state}")
        return Exit.DONE
    stage = view.end["stopped_at"] if view.end else "?"
    print(f"stopped{'' if stage == SWEEP else f' at stage {stage}'}; {_goes_on_with(paths)}")
    return Exit.DONE


def _goes_on_with(paths: RunPaths) -> str:
    return f"continue with: onbox resume {os.path.basename(paths.root)}"


def _stop_orphan(paths: RunPaths, grace_seconds: float) -> int:
    """No runner, but perhaps a stage that outlived it. The lock is ours, so nobody starts a runner meanwhile."""
    remove_file(paths.stop_request)
    head = read_head(paths)
    if head is not None and is_sweep(head):
        return _stop_cells(paths, grace_seconds)
    view = look_at_run(paths)
    if view is None or view.stage_alive is None:
        print("nothing runs")
        if view is not None and view.state is RunState.INTERRUPTED:
            _journal_stop(paths, view.current or "")
        return Exit.DONE
    head, stage = read_head(paths), view.stage_alive
    slot, _, _ = read_slot(paths.slot(stage))
    assert head is not None
    assert slot is not None
    leader = find_keeper(slot, paths.slot(stage))
    _journal_stop(paths, stage)  # before the stage ends: its keeper must not start a new runner
    survivors = end_tree(leader, attempt_assignment(head.run_id, stage, slot.attempt), grace_seconds)
    if survivors:
        pids = ", ".join(f"{entry.identity.pid} ({entry.state})" for entry in survivors)
        raise Trouble(Exit.INTERNAL, f"stage {stage}: not ended even by SIGKILL: pid {pids}")
    print(f"stopped stage {stage} (its runner was gone); {_goes_on_with(paths)}")
    return Exit.DONE


def _stop_cells(paths: RunPaths, grace_seconds: float) -> int:
    """A sweep without a runner: each of its cells that lives."""
    view = look_at_sweep(paths).data
    if view["state"] == RunState.INTERRUPTED.value or view["running_cells"]:
        _journal_stop(paths, SWEEP)  # before the cells end: none of them must start a new runner
    for cell in view["running_cells"]:
        stop_run(RunPaths(cell["state_dir"]), grace_seconds)
    count = len(view["running_cells"])
    print(f"stopped {counted(count, 'cell')}; {_goes_on_with(paths)}" if count else "nothing runs")
    return Exit.DONE


def _journal_stop(paths: RunPaths, stage: str) -> None:
    stages = {frozen.stage.name for frozen in read_stages(paths)}
    at = utc_text(wall())
    records: list[dict[str, Any]] = []
    if stage in stages:
        records.append({"at": at, "event": Event.STAGE_INTERRUPTED, "stage": stage, "reason": "stopped on request"})
    records.append(
        {
            "at": at,
            "event": Event.CHAIN_STOPPED,
            "stopped_at": stage,
            "reason": "stopped on request",
            "exit_code": int(Exit.STOPPED),
        }
    )
    journal = Journal(paths.journal)
    journal.append(b"".join(map(render_event, records)))
    journal.close()
    catch_up_notices(paths)
