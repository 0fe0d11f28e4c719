"""What a run's journal says has happened to the chain: the one fold of it. Pure: records in, facts out.

Small whatever the journal's length, and plain on request (`kept_facts.py`), so that a reader who comes back can keep it
between two looks and go on from there. What only the runner needs of each stage is folded beside it, in
`onbox/chain/state/replay.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import CHAIN_ENDS, ROLLBACKS, Event, Unreadable
from onbox.contract.json_text import as_number, as_whole
from onbox.logs.metric import LIMIT as METRIC_LIMIT
from onbox.logs.metric import metric_in
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.runs.jobs import Jobs
from onbox.system.clock import parse_utc
from onbox.triage import repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onbox.contract.events import Record

KEPT_TRACKER_RUNS = 20
NAME_LIMIT = 80
STAGES_KEPT = 8
WARNINGS_KEPT = 5
TEXT_LIMIT = 500


class StageResult(NamedTuple):
    """How a stage was done: how far its counter came, its last loss, and how long its last attempt took. spent_seconds:
    all its attempts since it began; None: the end of one was not seen. metric: the last line of its log, where it is a
    number with its name. warnings: what spoke against its DONE, and did not refuse it.
    """

    stage: str
    seconds: float | None = None
    current: float | None = None
    maximum: int | None = None
    loss: float | str | None = None
    spent_seconds: float | None = None
    metric: str = ""
    warnings: tuple[str, ...] = ()


class Series(NamedTuple):
    """The attempts of one command since its stage was last done. spent_seconds: of those that have ended; None: the end
    of one was not seen. is_open: the newest has not ended.
    """

    began_at: str
    fingerprint: str
    spent_seconds: float | None = 0.0
    is_open: bool = True


def result_words(result: StageResult) -> str:
    """`5155/5155 loss 0.41 · acc 0.967`; "" where its log told nothing. A counter that stopped short of its end says so
    itself.
    """
    counter = ""
    if result.current is not None:
        counter = f"{result.current:.12g}" + (f"/{result.maximum}" if result.maximum else "")
    loss = result.loss if isinstance(result.loss, str | None) else f"{result.loss:.4g}"
    shown = " ".join(filter(None, (counter, f"loss {loss}" if loss else "")))
    return " · ".join(filter(None, (shown, result.metric)))


def whole_seconds(results: Iterable[StageResult], stage_count: int, since_launch: float | None) -> float | None:
    """How long a chain that is done took: since its first launch, but at least what its stages took, as some may have
    been done before that. None: not known.
    """
    spent = [one.spent_seconds for one in results]
    known = [seconds for seconds in spent if seconds is not None]
    if since_launch is None or len(known) != stage_count:
        return None
    return max(since_launch, sum(known))


def rechecked_words(stage: str) -> str:
    """Why the chain stands where it ended, though that stage passes its gate now."""
    return f"stage {stage} was judged again and is DONE since; the chain has not gone on yet"


# Events that say nothing of where the run stands.
_BESIDE = ROLLBACKS | {Event.PATROL_SILENT, Event.PATROL_BACK, Event.DETECTED, Event.DETECTED_OVER}


_OF_STAGE = {
    Event.ATTEMPT_STARTED,
    Event.STAGE_DONE,
    Event.STAGE_FAILED,
    Event.STAGE_INTERRUPTED,
    Event.STAGE_RETRYING,
    Event.STAGE_REDO,
}


class JournalFacts:
    """is_open: the chain was started and has not ended by its own word. launches: how many starts were seen; launch:
    the newest one's number, as its record or its end tells. end: the record of the newest end; None while it is open.
    began_at: of the first launch since the chain was last done; rested_seconds: since then, the time between the end of
    a launch and the next one. results: of the stages that are done, in that order.
    series: of the newest stages that are not done, by name.

    stage, attempt, attempt_began_at, boot_id: of the newest attempt; retries: of that stage since its last verdict.
    stage_event: the newest event that decides what a stage is; "" for none.
    notices_held: why its notices cannot be written; "" where they can. newest_event, newest_at: of the newest record.
    rolled_back_to: the step, while no attempt has followed.
    rechecked: the stage at which the chain ended, judged again since then, and DONE; "" for none.
    failed_left: of a sweep, how many failed cells are left; None: none was skipped since its end. jobs: of engines.
    tracker_runs: newest records, oldest first. repeats: how its attempts ended badly, as `repeats.take_in` folds it.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.launches = 0
        self.launch: int | None = None
        self.began_at: str | None = None
        self.rested_seconds = 0.0
        self.results: dict[str, StageResult] = {}
        self.series: dict[str, Series] = {}
        self.end: Record | None = None
        self.stage: str | None = None
        self.attempt: int | None = None
        self.attempt_began_at: str | None = None
        self.boot_id: str | None = None
        self.retries = 0
        self.stage_event = ""
        self.notices_held = ""
        self.newest_event = ""
        self.newest_at = ""
        self.rolled_back_to: float | None = None
        self.rechecked = ""
        self.failed_left: int | None = None
        self.jobs = Jobs()
        self.tracker_runs: list[Record] = []
        self.repeats: Mapping[str, Any] = repeats.NOTHING

    @property
    def bad_ends(self) -> tuple[repeats.AttemptEnd, ...]:
        """How its attempts ended badly, oldest first."""
        return repeats.ends_of(self.repeats)

    def repeated(self, same_step: float | None) -> repeats.Repeated:
        """How often the newest bad end came. same_step: as in [detect]."""
        return repeats.repeated(self.bad_ends, same_step)

    def spent_seconds(self, stage: str) -> float | None:
        """How long the attempts of a stage took that have ended; None: the end of one was not seen."""
        known = self.series.get(stage)
        return None if known is None else known.spent_seconds

    def worked_seconds(self, now: float) -> float | None:
        """How long all launches since began_at have taken until now, without the time between them; None: not known."""
        began = parse_utc(self.began_at or "")
        return None if began is None else max(0.0, now - began - self.rested_seconds)

    def took_seconds(self, own_seconds: float, now: float) -> float:
        """How long all launches have taken, of which the one at work measured its own part: at least that."""
        return max(own_seconds, self.worked_seconds(now) or 0.0)

    @property
    def stage_began_at(self) -> str | None:
        """Of the current stage's first attempt."""
        known = self.series.get(self.stage or "")
        return known.began_at if known is not None else None

    def apply(self, record: Record) -> None:
        """Take in one more record."""
        event = record["event"]
        if event not in _BESIDE:
            self.newest_event, self.newest_at = event, str(record.get("at", ""))
        if event in _OF_STAGE:
            self.stage_event = event
        self.jobs.apply(record)
        self.repeats = repeats.take_in(self.repeats, record)
        step = _STEPS.get(event)
        if step is not None:
            step(self, record)


def _chain_started(facts: JournalFacts, record: Record) -> None:
    if facts.began_at is None or (facts.end is not None and facts.end["event"] == Event.CHAIN_DONE):
        at = record.get("at")
        facts.began_at, facts.rested_seconds = at if isinstance(at, str) else None, 0.0
    elif facts.end is not None:
        facts.rested_seconds += _seconds_between(facts.end, record)
    facts.is_open, facts.end, facts.notices_held, facts.failed_left, facts.rechecked = True, None, "", None, ""
    facts.launches += 1
    facts.launch = as_whole(record.get("launch"))


def _seconds_between(before: Record, after: Record) -> float:
    """0 where one of both does not tell its time, or the clock was set back."""
    began, ended = parse_utc(str(before.get("at"))), parse_utc(str(after.get("at")))
    return 0.0 if began is None or ended is None else max(0.0, ended - began)


def _chain_ended(facts: JournalFacts, record: Record) -> None:
    facts.is_open = False
    facts.launch = as_whole(record.get("attempt"))
    facts.end, facts.failed_left, facts.rechecked = record, None, ""


def _attempt_started(facts: JournalFacts, record: Record) -> None:
    stage = record.get("stage")
    if not isinstance(stage, str):
        return
    if stage != facts.stage:
        facts.retries = 0
    at = record.get("at")
    facts.stage, facts.attempt = stage[:NAME_LIMIT], as_whole(record.get("attempt"))
    facts.rolled_back_to = None
    facts.attempt_began_at = at if isinstance(at, str) else None
    boot = record.get("boot_id")
    facts.boot_id = boot[:NAME_LIMIT] if isinstance(boot, str) else None
    command = str(record.get("fingerprint") or "")[:NAME_LIMIT]
    known = facts.series.pop(facts.stage, None)
    if known is None or known.fingerprint != command:
        known = Series(str(at or ""), command)
    elif known.is_open:
        known = known._replace(spent_seconds=None)  # the end of the one before was not seen
    facts.series[facts.stage] = known._replace(is_open=True)
    if len(facts.series) > STAGES_KEPT:
        del facts.series[next(iter(facts.series))]


def _attempt_ended(facts: JournalFacts, record: Record) -> None:
    stage = str(record.get("stage"))[:NAME_LIMIT]
    known, took = facts.series.get(stage), as_number(record.get("duration_seconds"))
    if known is not None and known.is_open:
        spent = None if known.spent_seconds is None or took is None else known.spent_seconds + took
        facts.series[stage] = known._replace(spent_seconds=spent, is_open=False)


def _retrying(facts: JournalFacts, _: Record) -> None:
    facts.retries += 1


def _notices_held(facts: JournalFacts, record: Record) -> None:
    facts.notices_held = str(record.get("reason") or "why is not known")


def _notices_written(facts: JournalFacts, _: Record) -> None:
    facts.notices_held = ""


def _stage_done(facts: JournalFacts, record: Record) -> None:
    facts.retries = 0
    stage = record.get("stage")
    if isinstance(stage, str):
        if facts.end is not None and facts.end.get("stopped_at") == stage:
            facts.rechecked = stage[:NAME_LIMIT]
        facts.results.pop(stage, None)
        series = facts.series.pop(stage[:NAME_LIMIT], None)
        spent = series.spent_seconds if series is not None and not series.is_open else None
        facts.results[stage] = result_of(record)._replace(spent_seconds=spent)
        if len(facts.results) > STAGES_KEPT:
            del facts.results[next(iter(facts.results))]


def _done_accepted(facts: JournalFacts, record: Record) -> None:
    if record.get("duration_seconds") is not None:  # else nothing is told of its result that was not known before
        _stage_done(facts, record)


def result_of(record: Mapping[str, Any]) -> StageResult:
    """Of a `stage_done` record, or of a DONE marker."""
    told = record.get("progress")
    progress = told if isinstance(told, dict) else {}
    loss, metric, warnings = progress.get("loss"), record.get("metric"), record.get("warnings")
    return StageResult(
        str(record.get("stage"))[:NAME_LIMIT],
        as_number(record.get("duration_seconds")),
        as_number(progress.get("current")),
        as_whole(progress.get("exact_max")),
        safe_line(loss, 20) if isinstance(loss, str) else as_number(loss),
        metric=metric_in(safe_line(metric, METRIC_LIMIT + 1)) if metric else "",
        warnings=tuple(safe_line(one, TEXT_LIMIT) for one in warnings[:WARNINGS_KEPT])
        if isinstance(warnings, list)
        else (),
    )


def _rolled_back(facts: JournalFacts, record: Record) -> None:
    facts.rolled_back_to = as_number(record.get("step"))


def _rollback_undone(facts: JournalFacts, _: Record) -> None:
    facts.rolled_back_to = None


def _cell_skipped(facts: JournalFacts, record: Record) -> None:
    facts.failed_left = as_whole(record.get("failed_left")) if facts.end is not None else None


def _redone(facts: JournalFacts, record: Record) -> None:
    facts.results.pop(str(record.get("stage")), None)
    facts.series.pop(str(record.get("stage")), None)


def _tracker_run(facts: JournalFacts, record: Record) -> None:
    facts.tracker_runs = [*facts.tracker_runs[1 - KEPT_TRACKER_RUNS :], record]


_STEPS: dict[str, Callable[[JournalFacts, Record], None]] = {
    Event.CHAIN_STARTED: _chain_started,
    **dict.fromkeys(CHAIN_ENDS, _chain_ended),
    Event.ATTEMPT_STARTED: _attempt_started,
    Event.ATTEMPT_ENDED: _attempt_ended,
    Event.STAGE_RETRYING: _retrying,
    Event.NOTICES_HELD: _notices_held,
    Event.NOTICES_WRITTEN: _notices_written,
    Event.STAGE_DONE: _stage_done,
    Event.DONE_ACCEPTED: _done_accepted,
    Event.STAGE_REDO: _redone,
    Event.ROLLBACK_DONE: _rolled_back,
    Event.ROLLBACK_UNDONE: _rollback_undone,
    Event.TRACKER_RUN: _tracker_run,
    Event.CELL_SKIPPED: _cell_skipped,
}


def fold(records: Iterable[Record | Unreadable]) -> JournalFacts:
    """The facts of a whole journal. Lines that are not records are passed over."""
    facts = JournalFacts()
    for record in records:
        if not isinstance(record, Unreadable):
            facts.apply(record)
    return facts
