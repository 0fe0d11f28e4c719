"""When each attempt of each stage began, and how it ended: from the records of its end, and what was seen of one that
goes on. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.events import Event
from onbox.contract.json_text import as_number, as_whole
from onbox.contract.readings import observed
from onbox.named_tuple import NamedTuple
from onbox.system.clock import parse_utc

if TYPE_CHECKING:
    from onbox.contract.events import Record
    from patrol.page.model import RunHistory

# What a record says of the attempt's end: in words, and how it is coloured.
_ENDS = {
    Event.STAGE_DONE: ("done", "done"),
    Event.STAGE_FAILED: ("failed", "critical"),
    Event.STAGE_RETRYING: ("failed, and was tried again", "warning"),
    Event.STAGE_INTERRUPTED: ("interrupted", "warning"),
    Event.ATTEMPT_ENDED: ("ended", "unknown"),
}


class AttemptRow(NamedTuple):
    """ended_at: None: it was not seen to end. how, tone: of the end, in words and as a colour."""

    stage: str
    number: int | None
    began_at: float
    ended_at: float | None = None
    how: str = ""
    tone: str = "unknown"


def attempts_of(run: RunHistory) -> tuple[AttemptRow, ...]:
    """Oldest first, with the one that was alive when the run was seen last."""
    found: dict[tuple[str, int | None], AttemptRow] = {}
    for event in run.events:
        if event["event"] in _ENDS:
            _take_end(found, event)
    alive = _alive(run)
    if alive is not None:
        found[alive.stage, alive.number] = alive
    return tuple(sorted(found.values(), key=lambda one: one.began_at))


def _take_end(found: dict[tuple[str, int | None], AttemptRow], event: Record) -> None:
    """The first record of an end says when, the last one how."""
    stage, number, at = str(event.get("stage")), as_whole(event.get("attempt")), parse_utc(str(event.get("at")))
    if at is None:
        return
    how, tone = _ENDS[event["event"]]
    known = found.get((stage, number))
    began = parse_utc(str(event.get("started_at")))
    if began is None:
        began = at - (as_number(event.get("duration_seconds")) or 0.0)
    if known is None:
        found[stage, number] = AttemptRow(stage, number, began, at, how, tone)
    else:
        found[stage, number] = known._replace(began_at=min(known.began_at, began), how=how, tone=tone)


def _alive(run: RunHistory) -> AttemptRow | None:
    look = run.look
    if look is None or run.seen_at is None or observed(look.stage_alive) is not True:
        return None
    stage, age = observed(look.stage), observed(look.stage_began_age_seconds)
    if not stage or age is None:
        return None
    how, tone = ("running", "running") if run.seen_now else ("running when it was seen last", "unknown")
    return AttemptRow(stage, observed(look.attempt), run.seen_at - age, None, how, tone)
