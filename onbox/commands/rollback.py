"""`onbox rollback`: reject the checkpoints after a step, by a person's word, so that a resume continues from it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from onbox.chain.lock.lock_owner import Holder
from onbox.chain.lock.run_lock import HolderUnknown, take_lock
from onbox.chain.run_status import look_at_run
from onbox.cli.amounts import WholeNumber
from onbox.cli.command import command, config_option
from onbox.cli.consent import agrees
from onbox.commands.checkpoints import look_at_checkpoints_of
from onbox.commands.shared.alone import alone
from onbox.commands.shared.arguments import run_argument
from onbox.commands.shared.project import load_project_to_read, run_to_act_on
from onbox.contract.events import Event
from onbox.contract.exits import Exit
from onbox.contract.states import RunState
from onbox.errors import Trouble
from onbox.model.units import counted, format_size
from onbox.outside import safe_line
from onbox.retention.rollback import finish_rollback, make_rollback_plan, roll_back, undo_rollback
from onbox.system.clock import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onbox.chain.resume_source import Rollback
    from onbox.chain.stage_checkpoints import RunCheckpoints
    from onbox.cli.command import Options
    from onbox.contract.paths import RunPaths
    from onbox.retention.rollback import RollbackPlan

EXAMPLES = """\
examples:
  onbox rollback --to 4000 --reason "loss climbs since 4100"     shows what it rejects, then asks
  onbox rollback --to 4000 --reason "..." --yes                  without a question
  onbox rollback --undo                                          put back what the last one rejected

The run must be stopped. Later checkpoints are set aside, not deleted; then `onbox resume` goes on from the step.
"""
SHOWN = 20


@command(EXAMPLES, exclusive=[("--to", "--undo", "--finish"), ("--reason", "--undo"), ("--reason", "--finish")])
@run_argument
@config_option
@click.option("--to", type=WholeNumber(0), metavar="STEP", help="the step of a whole checkpoint to go back to")
@click.option("--reason", metavar="TEXT", help="why; recorded in journal and logbook")
@click.option("--undo", is_flag=True, help="put back what the last rollback moved aside")
@click.option("--finish", is_flag=True, help="finish a rollback that was cut off")
@click.option("--yes", is_flag=True, help="no question")
def run(args: Options) -> int:
    if args.to is None and not args.undo and not args.finish:
        raise Trouble(
            Exit.USAGE, "to which step? onbox rollback --to STEP --reason TEXT; whole ones: onbox checkpoints"
        )
    if args.to is not None and not (args.reason or "").strip():
        raise Trouble(Exit.USAGE, "why? a rollback is on record with its reason: --reason TEXT")
    project = load_project_to_read(args.config)
    paths = run_to_act_on(project, args.run)
    with _at_rest(paths), alone(paths):
        looked = look_at_checkpoints_of(project, paths)
        if args.undo:
            return _undo(args, paths, looked)
        return _finish(args, paths, looked) if args.finish else _roll_back(args, paths, looked)


@contextmanager
def _at_rest(paths: RunPaths) -> Iterator[None]:
    """Nothing of the run is alive, and nobody starts it meanwhile. Raises Trouble."""
    name = os.path.basename(paths.root)
    alive = f"run {name} is alive{{}}: stop it first: onbox stop {name}"
    try:
        taken = take_lock(paths)
    except HolderUnknown:
        raise Trouble(Exit.ANOTHER_RUNNER, alive.format("")) from None
    if isinstance(taken, Holder):
        raise Trouble(Exit.ANOTHER_RUNNER, alive.format(f" (runner pid {taken.pid} on {taken.host})"))
    try:
        view = look_at_run(paths)
        if view is not None and view.stage_alive is not None:
            raise Trouble(Exit.ANOTHER_RUNNER, alive.format(f" (stage {view.stage_alive})"))
        if view is not None and "backend" in view.head.data and view.state in (RunState.RUNNING, RunState.PENDING):
            raise Trouble(Exit.ANOTHER_RUNNER, alive.format(" (a job of its engine)"))
        yield
    finally:
        os.close(taken.lock_fd)


def _all(looked: RunCheckpoints) -> list[Rollback]:
    return [one for of in looked.stages for one in of.rollbacks]


def _roll_back(args: Options, paths: RunPaths, looked: RunCheckpoints) -> int:
    name = os.path.basename(paths.root)
    for one in _all(looked):
        if one.is_open:
            raise Trouble(
                Exit.USAGE, f"the rollback to step {one.step} was cut off: onbox rollback {name} --finish, or --undo"
            )
    plan = make_rollback_plan(looked, args.to)
    for line in _plan_lines(name, plan):
        print(safe_line(line))
    if not plan.rejected:
        print(f"nothing is newer than step {args.to}: a resume continues from it already")
        return Exit.DONE
    _ask(args, f"Reject {counted(len(plan.rejected), 'checkpoint')}?")
    left = roll_back(paths, plan, number=len(_all(looked)) + 1, reason=args.reason.strip(), project=looked.head.project)
    return _tell(left, f"rolled back to step {args.to}; go on with: onbox resume {name}")


def _ask(args: Options, question: str) -> None:
    if not args.yes and not agrees(question, unasked="the same with --yes"):
        raise Trouble(Exit.USAGE, "nothing was changed")


def _plan_lines(name: str, plan: RollbackPlan) -> list[str]:
    size = format_size(sum(one.extent.bytes for one in plan.rejected))
    lines = [f"{name}: stage {plan.stage} goes back to step {plan.target.step}, {plan.target.path}"]
    if plan.rejected:
        lines.append(f"  rejects {counted(len(plan.rejected), 'checkpoint')}, {size}; set aside, not deleted:")
    lines += [f"    {one.path}" for one in plan.rejected[:SHOWN]]
    if len(plan.rejected) > SHOWN:
        lines.append(f"    … and {len(plan.rejected) - SHOWN} more")
    lines += [f"  link    {path} leads to one of them, and is set aside too" for path in plan.links]
    return lines + [f"  NOTE    {text}" for text in plan.warnings]


def _finish(args: Options, paths: RunPaths, looked: RunCheckpoints) -> int:
    name = os.path.basename(paths.root)
    cut_off = next((one for one in reversed(_all(looked)) if one.is_open), None)
    if cut_off is None:
        raise Trouble(Exit.USAGE, "no rollback was cut off")
    undoing = cut_off.last == Event.ROLLBACK_UNDOING
    what = "undoing the rollback" if undoing else "the rollback"
    print(safe_line(f"{what} to step {cut_off.step} was cut off ({cut_off.by}: {cut_off.reason})"))
    _ask(args, "Finish it?")
    left = undo_rollback(paths, cut_off) if undoing else finish_rollback(paths, cut_off)
    return _tell(left, f"finished; go on with: onbox resume {name}")


def _undo(args: Options, paths: RunPaths, looked: RunCheckpoints) -> int:
    last = next((one for one in reversed(_all(looked)) if one.last != Event.ROLLBACK_UNDONE), None)
    if last is None:
        raise Trouble(Exit.USAGE, "there is no rollback to undo")
    of = next(it for it in looked.stages if it.stage.name == last.stage)
    since = [it.number for it in of.attempts if utc_text(it.began_at) > last.at]
    if since:
        raise Trouble(
            Exit.USAGE,
            f"attempt {since[-1]} has begun since that rollback: what was rejected is of another branch now; "
            f"it lies in {os.path.dirname(last.moved[0].aside)}",
        )
    print(safe_line(f"the rollback to step {last.step} ({last.by}: {last.reason}) set aside {len(last.moved)}"))
    _ask(args, "Put them back?")
    return _tell(undo_rollback(paths, last), "undone: they are in their places again")


def _tell(left: Sequence[str], words: str) -> int:
    print(safe_line(words))
    for text in left:
        print(safe_line(f"  left: {text}"))
    return Exit.DONE
