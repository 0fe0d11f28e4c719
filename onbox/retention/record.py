"""prunes.jsonl: what somebody agreed to remove, and what came of it. Written before anything is touched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.checkpoints.extent import measure
from onbox.checkpoints.keep import DEFAULT_KEEP, Retention
from onbox.checkpoints.select import step_of
from onbox.contract.events import Unreadable, parse_events, render_event
from onbox.named_tuple import NamedTuple
from onbox.retention.aside import PRUNED, lying_aside
from onbox.retention.plan import PruneItem
from onbox.system.clock import utc_text, wall
from onbox.system.files import NO_ROOM, StateNotWritten, user_name
from onbox.system.journal import Journal, read_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from onbox.contract.paths import RunPaths

BEGUN, ENDED = "prune_begun", "prune_ended"


class Move(NamedTuple):
    """A checkpoint on its way: aside is where it is moved to before it is deleted."""

    item: PruneItem
    aside: str


class Begun(NamedTuple):
    """An agreed list. by: who agreed, by login name; at: when; "" where only the names of what lies aside tell of it.
    retention: under which it was made.
    """

    word: str
    at: str
    by: str
    moves: tuple[Move, ...]
    retention: Retention


def note_begun(paths: RunPaths, begun: Begun) -> bool:
    """Whether it stands on the disk. False: the disk has no room, which is why somebody prunes. Raises
    StateNotWritten for any other reason.
    """
    items = [{**move.item._asdict(), "aside": move.aside} for move in begun.moves]
    about = {"word": begun.word, "by": begun.by, **begun.retention._asdict(), "items": items}
    return _note(paths, {"event": BEGUN, **about}, begun.at or utc_text(wall()))


def note_ended(paths: RunPaths, word: str, removed: Sequence[str], left: Sequence[str]) -> bool:
    """removed, left: paths; left: agreed to, and there all the same."""
    return _note(paths, {"event": ENDED, "word": word, "removed": list(removed), "left": list(left)}, utc_text(wall()))


def _note(paths: RunPaths, record: dict[str, Any], at: str) -> bool:
    try:
        journal = Journal(paths.prunes)
        try:
            journal.append(render_event({"at": at, **record}))
        finally:
            journal.close()
    except StateNotWritten as error:
        if error.errno in NO_ROOM:
            return False
        raise
    return True


def new_begun(word: str, moves: Sequence[Move], retention: Retention) -> Begun:
    return Begun(word, utc_text(wall()), user_name(os.getuid()), tuple(moves), retention)


def unfinished(paths: RunPaths) -> list[Begun]:
    """Agreed lists that have no end yet, the oldest first. Raises OSError."""
    found: dict[str, Begun] = {}
    for record in parse_events(read_lines(paths.prunes)):
        if isinstance(record, Unreadable):
            continue
        word = str(record.get("word"))
        if record["event"] == BEGUN:
            moves = tuple(move for one in record.get("items") or () if (move := _move(one)) is not None)
            kept = Retention(record.get("keep") or DEFAULT_KEEP, record.get("milestones"))
            found[word] = Begun(word, str(record.get("at")), str(record.get("by")), moves, kept)
        elif record["event"] == ENDED:
            found.pop(word, None)
    return list(found.values())


def strays(project: str, folders: Iterable[str], known: Collection[str]) -> list[Begun]:
    """Lists of which only what lies aside tells: their disk had no room for a record. known: words of those that have
    one. Raises OSError.
    """
    found: dict[str, list[Move]] = {}
    for folder in sorted(set(folders)):
        for one in lying_aside(folder, PRUNED, project):
            if one.word not in known:
                found.setdefault(one.word, []).append(Move(_item(one.original, one.path), one.path))
    return [Begun(word, "", "", tuple(moves), Retention()) for word, moves in found.items()]


def _item(original: str, aside: str) -> PruneItem:
    seen, name = measure(aside), os.path.basename(original)
    identity = (seen.identity[0], seen.identity[1])
    return PruneItem(original, name, "", step_of(original), seen.bytes, seen.files, seen.newest_at, identity)


def _move(data: Any) -> Move | None:
    """None: it cannot be understood."""
    try:
        fields = {key: data[key] for key in PruneItem._fields} | {"identity": tuple(data["identity"])}
        return Move(PruneItem(**fields), str(data["aside"]))
    except (KeyError, TypeError):
        return None
