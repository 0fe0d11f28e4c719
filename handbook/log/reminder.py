"""When a run's record is due: a live run whose people say nothing for a day is told so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbook.log.entry import PEOPLES_KINDS
from handbook.log.logbook import LogbookFile
from handbook.page.facts import RecordFacts
from handbook.page.phrases import clock_seconds, safe
from onbox.errors import Trouble
from onbox.system.clock import parse_utc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handbook.log.entry import LogEntry
    from handbook.page.facts import RunFacts
    from patrol.config.settings import Settings

ENDED = ("done", "stopped")


def record_of(run: RunFacts, settings: Settings) -> RecordFacts:
    """When somebody last wrote into its logbook, and when that is due again."""
    if not run.run:
        return RecordFacts(None, by_hand=False, due_at=None)
    entries = _entries(run, settings)
    last, sealed = _last_by_hand(run, entries), _sealed(run, entries)
    since = last if last is not None else min(filter(None, (parse_utc(one.at) for one in run.launches)), default=None)
    due = None if since is None or run.state in ENDED else since + settings.config.logbook.remind_seconds
    owner, owner_since = _handed_to(run, entries)
    return RecordFacts(since, last is not None, None if sealed is not None else due, sealed, owner, owner_since)


def _entries(run: RunFacts, settings: Settings) -> Sequence[LogEntry]:
    try:
        return LogbookFile(settings.folder, run.run, settings.state).read().entries
    except (Trouble, OSError):
        return ()  # it is told by who writes into it


def _sealed(run: RunFacts, entries: Sequence[LogEntry]) -> float | None:
    mine = (clock_seconds(one.at) for one in entries if one.kind == "seal" and one.source == f"seal {run.run_id}")
    return max(filter(None, mine), default=None)


def _handed_to(run: RunFacts, entries: Sequence[LogEntry]) -> tuple[str, float | None]:
    """Whom the newest entry of that kind names, and when."""
    mine = [one for one in entries if one.kind == "handoff" and one.owner and _is_about(one, run)]
    return (safe(mine[-1].owner, 60), clock_seconds(mine[-1].at)) if mine else ("", None)


def _last_by_hand(run: RunFacts, entries: Sequence[LogEntry]) -> float | None:
    kinds = (*PEOPLES_KINDS, "handoff")
    mine = [one for one in entries if one.kind in kinds and not one.source and _is_about(one, run)]
    return max(filter(None, (clock_seconds(one.at) for one in mine)), default=None)


def _is_about(entry: LogEntry, run: RunFacts) -> bool:
    return entry.run in (run.name, run.run, "")
