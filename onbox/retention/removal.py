"""Remove what was agreed, so that kill -9 at any moment leaves nothing half deleted under a checkpoint's own name.

1. The list is written down (`record.py`). 2. Each checkpoint is renamed aside; all renames are made durable. 3. What
lies aside is deleted. 4. The end is written down. Who comes after a kill deletes what lies aside, and moves nothing
that is kept by then.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.checkpoints.extent import measure
from onbox.named_tuple import NamedTuple
from onbox.retention.aside import PRUNED, aside_path, remove_empty_folder
from onbox.retention.record import Begun, Move, new_begun, note_begun, note_ended
from onbox.system.files import sync_folder

if TYPE_CHECKING:
    from collections.abc import Collection

    from onbox.contract.paths import RunPaths
    from onbox.retention.plan import PrunePlan


class Removed(NamedTuple):
    """removed: what is gone now. left: `path: why`, agreed to and there all the same. recorded: the list stands on the
    disk. trouble: the first error; "": none.
    """

    removed: tuple[Move, ...]
    left: tuple[str, ...]
    recorded: bool
    trouble: str = ""

    @property
    def bytes(self) -> int:
        return sum(move.item.bytes for move in self.removed)


def remove_listed(paths: RunPaths, plan: PrunePlan, project: str) -> Removed:
    """Remove the plan's list, to which somebody agreed. Raises StateNotWritten: then nothing was touched."""
    moves = [Move(item, aside_path(item.path, PRUNED, plan.word, project)) for item in plan.items]
    begun = new_begun(plan.word, moves, plan.retention)
    recorded = note_begun(paths, begun)
    return _carry_out(paths, begun, {item.path for item in plan.items}, recorded=recorded)


def finish(paths: RunPaths, begun: Begun, plan: PrunePlan) -> Removed:
    """Finish a list that was cut off: what is still in its place goes only if `plan`, made now, lets it go."""
    return _carry_out(paths, begun, {item.path for item in plan.items}, recorded=bool(begun.by))


def _carry_out(paths: RunPaths, begun: Begun, allowed: Collection[str], *, recorded: bool) -> Removed:
    left: list[str] = []
    removed: list[Move] = []
    trouble = ""
    try:
        moved = [move for move in begun.moves if _move_aside(move, allowed, left)]
        _make_durable(moved)
        for move in moved:
            _delete(move.aside)
            removed.append(move)
        for move in begun.moves:
            remove_empty_folder(move.aside)
    except OSError as error:
        trouble = f"{error.filename or begun.moves[0].item.path}: {error.strerror or error}"
    if not trouble:
        recorded = recorded or note_begun(paths, begun)  # now there may be room
        note_ended(paths, begun.word, [one.item.path for one in removed], left)
    return Removed(tuple(removed), tuple(left), recorded, trouble)


def _move_aside(move: Move, allowed: Collection[str], left: list[str]) -> bool:
    """Whether it lies aside now. Raises OSError where it cannot be renamed."""
    item = move.item
    if _identity(move.aside) == item.identity:
        return True
    now = _identity(item.path)
    if now is None:
        return False  # it is gone: an earlier try was through with it, or its owner
    why = "" if item.path in allowed else "it is kept now"
    if not why and (now != item.identity or os.path.lexists(move.aside) or _has_changed(move)):
        why = "it has changed since it was listed"
    if not why:
        os.rename(item.path, move.aside)
        if _identity(move.aside) == item.identity:
            return True
        os.rename(move.aside, item.path)
        why = "something else took its place"
    left.append(f"{item.name}: {why}")
    return False


def _has_changed(move: Move) -> bool:
    seen, item = measure(move.item.path), move.item
    return (seen.bytes, seen.files, seen.newest_at) != (item.bytes, item.files, item.newest_at)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        seen = os.lstat(path)
    except FileNotFoundError:
        return None
    return None if stat.S_ISLNK(seen.st_mode) else (seen.st_dev, seen.st_ino)


def _make_durable(moved: Collection[Move]) -> None:
    """After a power failure nothing half deleted may stand under its old name."""
    folders = {os.path.dirname(path) for move in moved for path in (move.aside, move.item.path)}
    for folder in sorted(folders):
        sync_folder(folder)


def _delete(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path)
        return
    with suppress(FileNotFoundError):
        os.unlink(path)
