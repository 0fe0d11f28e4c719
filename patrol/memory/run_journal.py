"""How far a run's journal was read, and what it has told so far: it grows, and only what is new is sent. Pure."""

from __future__ import annotations

from typing import Any

from onbox.contract.events import Unreadable, parse_events
from onbox.named_tuple import NamedTuple
from onbox.runs.journal import JournalFacts
from onbox.runs.kept_facts import from_plain, to_plain


class JournalPlace(NamedTuple):
    """offset: behind the last whole line that was taken in. gap: whether lines were skipped."""

    inode: int
    offset: int
    gap: bool
    facts: JournalFacts


def nothing_read(inode: int) -> JournalPlace:
    return JournalPlace(inode, 0, gap=False, facts=JournalFacts())


def take_in(place: JournalPlace, start: int, pieces: tuple[bytes, ...], skipped_bytes: int) -> JournalPlace:
    """The place behind the journal's bytes from `start` on. After a gap, the torn line that a piece begins with is left
    out.
    """
    facts = from_plain(to_plain(place.facts)) if pieces else place.facts  # those of `place` stay as they were
    end = start + skipped_bytes + sum(len(piece) for piece in pieces)
    gap = place.gap or len(pieces) > 1
    for at, piece in enumerate(pieces):
        text = piece[piece.find(b"\n") + 1 :] if at > 0 else piece
        if at + 1 < len(pieces):
            text = text[: text.rfind(b"\n") + 1]
        for record in parse_events(text.splitlines(keepends=True)):
            if not isinstance(record, Unreadable):
                facts.apply(record)
    torn = len(pieces[-1]) - (pieces[-1].rfind(b"\n") + 1) if pieces else 0
    return JournalPlace(place.inode, end - torn, gap, facts)


def plain_of(place: JournalPlace) -> dict[str, Any]:
    """For the memory between two looks."""
    return {"inode": place.inode, "offset": place.offset, "gap": place.gap, "facts": to_plain(place.facts)}


def place_of(known: object) -> JournalPlace | None:
    """The inverse of `plain_of`; None where nothing is known, or what is known has another shape."""
    if not isinstance(known, dict):
        return None
    try:
        return JournalPlace(int(known["inode"]), int(known["offset"]), bool(known["gap"]), from_plain(known["facts"]))
    except (KeyError, TypeError, ValueError):
        return None
