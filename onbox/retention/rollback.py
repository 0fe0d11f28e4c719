"""Reject the checkpoints after a step, so that the next resume goes on from it; and undo that.

1. The journal says what is rejected, by whom and why. 2. Each later checkpoint is renamed aside (nothing is deleted).
3. The journal says that it is done. Between 1 and 3 no resume takes what is still in its place.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.chain.resume_source import Rollback, SetAside
from onbox.contract.events import Event, render_event
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.named_tuple import NamedTuple
from onbox.retention.aside import REJECTED, aside_path, remove_empty_folder
from onbox.runs.start_command import StartCommand
from onbox.system.clock import utc_text, wall
from onbox.system.files import read_file, sync_folder, user_name
from onbox.system.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.chain.stage_checkpoints import RunCheckpoints, StageCheckpoints
    from onbox.checkpoints.survey import Surveyed
    from onbox.contract.paths import RunPaths

_RESUMED_BY_NAME = ("last", "latest")
_POINTERS = ("latest", "checkpoint", "latest_checkpointed_iteration.txt", "last_checkpoint")
POINTER_BYTES = 4096


class RollbackPlan(NamedTuple):
    """target: what the next resume goes on from. rejected: real paths that are set aside, with their sizes. links: of
    symbolic links that lead there. warnings: what a person has to look at.
    """

    stage: str
    target: Surveyed
    rejected: tuple[Surveyed, ...]
    links: tuple[str, ...]
    warnings: tuple[str, ...]


def make_rollback_plan(run: RunCheckpoints, step: int) -> RollbackPlan:
    """Raises Trouble where the step is no whole checkpoint, or something could not be looked at."""
    of = run.to_resume
    if of is None or run.current is None or of.stage.name != run.current:
        raise Trouble(Exit.USAGE, _no_stage(run, step))
    if of.survey.unseen:
        raise Trouble(Exit.GATE_REFUSED, f"nothing was rejected: could not look at {of.survey.unseen[0]}")
    target = _target(of, step)
    later = [one for one in of.survey.found if one.step is not None and one.step > step and not one.refused]
    newer = [one for one in of.survey.found if one.step is None and one.extent.newest_at > target.extent.newest_at]
    by_name = [one for one in newer if any(word in os.path.basename(one.path).lower() for word in _RESUMED_BY_NAME)]
    rejected = (*later, *(one for one in by_name if not one.extent.is_link))
    links = tuple(
        dict.fromkeys(os.path.join(os.path.dirname(one.path), name) for one in rejected for name in one.names)
    )
    warnings = [
        f"{one.path} stays, and was written after step {step}: look at it" for one in newer if one not in by_name
    ]
    return RollbackPlan(of.stage.name, target, rejected, links, (*warnings, *_pointers(rejected)))


def _no_stage(run: RunCheckpoints, step: int) -> str:
    if run.current is not None:
        return f"stage {run.current}, which a resume would start, has no checkpoints"
    done = "every stage is done: nothing would continue from a step"
    of = run.to_resume
    if of is None:
        return done
    name = of.stage.name
    command = of.stage.cmd if isinstance(of.stage.cmd, str) else shlex.join(of.stage.cmd)
    command = command if len(command.splitlines()) == 1 else "COMMAND"
    stage = f"{name}=export ONBOX_CHECKPOINT={shlex.quote(_target(of, step).path)}; {command}"
    again = StartCommand(run.head.run).resume("--redo", name)
    return (
        f"{done}; a run of its own does: onbox chain --run {run.head.run}-{step} {shlex.quote(stage)} "
        f"(to begin again at step 0: {again})"
    )


def _target(of: StageCheckpoints, step: int) -> Surveyed:
    there = [one for one in of.survey.found if one.step == step]
    usable = [one for one in there if one.usable]
    if usable:
        return max(usable, key=lambda one: (one.whole is True, one.path))
    if there:
        raise Trouble(
            Exit.GATE_REFUSED,
            f"step {step} cannot be gone on from: {there[0].path}: {there[0].against or there[0].says}",
        )
    steps = sorted({one.step for one in of.survey.found if one.usable and one.step is not None}, reverse=True)
    named = ", ".join(map(str, steps[:10])) or "none"
    raise Trouble(Exit.USAGE, f"there is no checkpoint of step {step}; whole ones of stage {of.stage.name}: {named}")


def _pointers(rejected: tuple[Surveyed, ...]) -> Iterator[str]:
    """Small files by which a framework finds its newest checkpoint, and that name one which is set aside."""
    names = {name for one in rejected for name in (os.path.basename(one.path), str(one.step))}
    for folder in sorted({os.path.dirname(one.path) for one in rejected}):
        for pointer in _POINTERS:
            path = os.path.join(folder, pointer)
            with suppress(OSError):
                words = (read_file(path, POINTER_BYTES) or b"").decode("utf-8", "replace")
                if not os.path.islink(path) and names & set(words.replace('"', " ").split()):
                    yield f"{path} names {words.split()[0]}: let it name the step that you go back to"


def roll_back(paths: RunPaths, plan: RollbackPlan, *, number: int, reason: str, project: str) -> list[str]:
    """Carry it out. What was left in its place, and why. Raises StateNotWritten (nothing was moved), OSError."""
    step = plan.target.step
    assert step is not None
    sources = [*(one.path for one in plan.rejected), *plan.links]
    moved = [SetAside(path, aside_path(path, REJECTED, str(number), project), _identity(path)) for path in sources]
    begun = Rollback(
        number, plan.stage, step, plan.target.path, reason, user_name(os.getuid()), utc_text(wall()), tuple(moved)
    )
    note(paths, Event.ROLLBACK_BEGUN, begun, _begun_fields(begun))
    return finish_rollback(paths, begun)


def finish_rollback(paths: RunPaths, begun: Rollback) -> list[str]:
    """Set aside what is still in its place."""
    left = _rename_all([(one.path, one.aside, one) for one in begun.moved])
    note(paths, Event.ROLLBACK_DONE, begun, {"left": left, "count": len(begun.moved) - len(left)})
    return left


def undo_rollback(paths: RunPaths, done: Rollback) -> list[str]:
    """Put everything back. What could not be, and why."""
    note(paths, Event.ROLLBACK_UNDOING, done, {})
    left = _rename_all([(one.aside, one.path, one) for one in done.moved])
    for one in done.moved:
        remove_empty_folder(one.aside)
    note(paths, Event.ROLLBACK_UNDONE, done, {"left": left})
    return left


def _rename_all(wanted: list[tuple[str, str, SetAside]]) -> list[str]:
    left = []
    for source, target, one in wanted:
        if _lies_at(target, one):
            continue  # an earlier try was so far
        if not _lies_at(source, one):
            left.append(f"{one.path}: it is not there any more")
        elif os.path.lexists(target):
            left.append(f"{one.path}: something else is at {target}")
        else:
            os.rename(source, target)
    for folder in sorted({os.path.dirname(path) for source, target, _ in wanted for path in (source, target)}):
        with suppress(FileNotFoundError):
            sync_folder(folder)
    return left


def _identity(path: str) -> tuple[int, int]:
    seen = os.lstat(path)
    return (seen.st_dev, seen.st_ino)


def _lies_at(path: str, one: SetAside) -> bool:
    try:
        return _identity(path) == one.identity
    except FileNotFoundError:
        return False


def _begun_fields(begun: Rollback) -> dict[str, Any]:
    moved = [{"path": one.path, "aside": one.aside, "identity": list(one.identity)} for one in begun.moved]
    return {"checkpoint": begun.checkpoint, "moved": moved}


def note(paths: RunPaths, event: str, it: Rollback, more: dict[str, Any]) -> None:
    """One record, flushed. Only for who holds the run's lock. Raises StateNotWritten."""
    about = {"stage": it.stage, "number": it.number, "step": it.step, "reason": it.reason}
    record = {"at": utc_text(wall()), "event": event, **about, "by": user_name(os.getuid()), **more}
    journal = Journal(paths.journal)
    try:
        journal.append(render_event(record))
    finally:
        journal.close()
