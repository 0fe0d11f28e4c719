"""What the journal says has happened. Pure: records in, history out. Constant work per record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import CHAIN_ENDS, Event, Unreadable
from onbox.named_tuple import NamedTuple
from onbox.runs.journal import JournalFacts
from onbox.system.clock import parse_utc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.contract.events import Record


class StageHistory(NamedTuple):
    """What is known of one stage.

    attempts: number of the newest attempt. last: the last event that decides, one of Event.ATTEMPT_STARTED,
    STAGE_DONE, STAGE_FAILED, STAGE_INTERRUPTED, STAGE_RETRYING, STAGE_REDO. started: the newest attempt's start record.
    A *series* are the attempts of one command since the stage was last done or redone: `before` is what the artifacts
    looked like when it began ({} = none existed), at `began_at`; its attempts before the newest took `spent_seconds`.
    pictured: the patterns of the artifacts that `before` tells of; None: not known (of an earlier writer). retries:
    how many were made since the last verdict.
    """

    attempts: int = 0
    last: str = ""
    started: Record | None = None
    ended: Record | None = None
    before: dict[str, Any] | None = None
    retries: int = 0
    pictured: tuple[str, ...] | None = None
    began_at: str = ""
    spent_seconds: float = 0.0

    @property
    def has_earlier_work(self) -> bool:
        """Whether the next attempt goes on from what earlier ones left (ONBOX_RESUME=1)."""
        return self.attempts > 0 and self.last not in (Event.STAGE_DONE, Event.STAGE_REDO)

    def continued_by(self, fingerprint: object) -> bool:
        """Whether an attempt of a command with this fingerprint belongs to the same series."""
        return self.before is not None and (self.started or {}).get("fingerprint") in (None, fingerprint)

    def has_written(self, at: float | None, fingerprint: object) -> bool:
        """Whether what was written then may be of a command with this fingerprint. at None: nobody knows when."""
        began = parse_utc(self.began_at)
        return at is None or began is None or (self.continued_by(fingerprint) and at >= began)


class History:
    """What is known of a run. facts: of the chain, as every reader folds them. stages: what only its runner needs.
    untold: the stage that has failed since the newest end of the chain; "" for none. A launch that was cut off before
    its first attempt does not make an older failure a new one. failed: those of the newest launch: what failed in one
    before is about to run again.
    """

    def __init__(self) -> None:
        self.facts = JournalFacts()
        self.stages: dict[str, StageHistory] = {}
        self.unreadable: list[Unreadable] = []
        self.untold = ""
        self.failed: set[str] = set()

    def of(self, stage: str) -> StageHistory:
        return self.stages.get(stage, _NOTHING)

    @property
    def open(self) -> bool:
        """The chain was started and has not ended by its own word."""
        return self.facts.is_open

    @property
    def launches(self) -> int:
        return self.facts.launches

    @property
    def last_end(self) -> Record | None:
        """The record of the newest end; None while it is open."""
        return self.facts.end

    def apply(self, record: Record) -> None:
        """Take in one more record."""
        self.facts.apply(record)
        event, stage = record["event"], record.get("stage")
        if event in CHAIN_ENDS:
            self.untold = ""
        elif event == Event.CHAIN_STARTED:
            self.failed.clear()
        elif event == Event.STAGE_FAILED and isinstance(stage, str):
            self.untold = stage
            self.failed.add(stage)
        if isinstance(stage, str) and event in _STEPS:
            self.stages[stage] = _STEPS[event](self.of(stage), record)


_NOTHING = StageHistory()


def _attempt(known: StageHistory, record: Record) -> int:
    """The attempt that a record is about; a record that lacks it (damaged) is taken to be about the newest one."""
    attempt = record.get("attempt")
    return attempt if isinstance(attempt, int) else known.attempts


def _started(known: StageHistory, record: Record) -> StageHistory:
    patterns = record.get("pictured")
    pictured = tuple(patterns) if isinstance(patterns, list) else None
    newest = StageHistory(_attempt(known, record), Event.ATTEMPT_STARTED, record, pictured=pictured)
    if not known.continued_by(record.get("fingerprint")):
        return newest._replace(before=record.get("before", {}), began_at=str(record.get("at", "")))
    more = record.get("before_more")
    return newest._replace(
        before={**(known.before or {}), **(more if isinstance(more, dict) else {})},
        retries=known.retries,
        pictured=pictured or known.pictured,
        began_at=known.began_at,
        spent_seconds=known.spent_seconds + _seconds(known.ended),
    )


def _seconds(ended: Record | None) -> float:
    """How long an attempt took; 0 where that was not seen."""
    duration = (ended or {}).get("duration_seconds")
    return float(duration) if isinstance(duration, int | float) else 0.0


def _ended(known: StageHistory, record: Record) -> StageHistory:
    return known._replace(ended=record)


def _done(known: StageHistory, record: Record) -> StageHistory:
    # Short on purpose: thousands of done stages are kept in memory.
    return StageHistory(attempts=_attempt(known, record), last=Event.STAGE_DONE)


def _failed(known: StageHistory, record: Record) -> StageHistory:
    failed = known._replace(last=Event.STAGE_FAILED, started=record, retries=0)
    # One that never got so far as to start may be of another command than the attempts before it.
    return failed if known.continued_by(record.get("fingerprint")) else failed._replace(before=None)


def _interrupted(known: StageHistory, _: Record) -> StageHistory:
    return known._replace(last=Event.STAGE_INTERRUPTED)


def _retrying(known: StageHistory, _: Record) -> StageHistory:
    return known._replace(last=Event.STAGE_RETRYING, retries=known.retries + 1)


def _redo(known: StageHistory, _: Record) -> StageHistory:
    return StageHistory(known.attempts, Event.STAGE_REDO)


_STEPS = {
    Event.ATTEMPT_STARTED: _started,
    Event.ATTEMPT_ENDED: _ended,
    Event.STAGE_DONE: _done,
    Event.STAGE_FAILED: _failed,
    Event.STAGE_INTERRUPTED: _interrupted,
    Event.STAGE_RETRYING: _retrying,
    Event.STAGE_REDO: _redo,
}


def replay(records: Iterable[Record | Unreadable]) -> History:
    """Fold the whole journal. Lines that are not records are kept aside, not passed over in silence."""
    history = History()
    for record in records:
        if isinstance(record, Unreadable):
            history.unreadable.append(record)
        else:
            history.apply(record)
    return history
