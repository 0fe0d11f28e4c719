"""What a run's journal says has happened to the chain: the one fold of it. Pure: records in, facts out.

Small whatever the journal's length, and plain on request, so that a reader who comes back can keep it between two looks
and go on from there. What only the runner needs of each stage is folded beside it, in `onbox/chain/state/replay.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import CHAIN_ENDS, Event, Unreadable
from onbox.contract.json_text import as_whole
from onbox.model.tracker import identity_from_record
from onbox.outside import safe_line
from onbox.runs.jobs import Jobs, KnownJob
from onbox.triage import repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onbox.contract.events import Record

KEPT_TRACKER_RUNS = 20
NAME_LIMIT = 80


class JournalFacts:
    """is_open: the chain was started and has not ended by its own word. launches: how many starts were seen; launch:
    the newest one's number, as its record or its end tells. end: the record of the newest end; None while it is open.

    stage, attempt, attempt_began_at: of the newest attempt; retries: of that stage since its last verdict.
    newest_event, newest_at: of the newest record. jobs: of engines. tracker_runs: newest records, oldest first.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.launches = 0
        self.launch: int | None = None
        self.end: Record | None = None
        self.stage: str | None = None
        self.attempt: int | None = None
        self.attempt_began_at: str | None = None
        self.retries = 0
        self.newest_event = ""
        self.newest_at = ""
        self.jobs = Jobs()
        self.tracker_runs: list[Record] = []
        self._repeats: Mapping[str, Any] = repeats.NOTHING

    @property
    def bad_ends(self) -> tuple[repeats.AttemptEnd, ...]:
        """How its attempts ended badly, oldest first."""
        return repeats.ends_of(self._repeats)

    @property
    def repeated(self) -> repeats.Repeated:
        """How often the newest bad end came."""
        return repeats.repeated(self.bad_ends)

    def apply(self, record: Record) -> None:
        """Take in one more record."""
        event = record["event"]
        self.newest_event, self.newest_at = event, str(record.get("at", ""))
        self.jobs.apply(record)
        self._repeats = repeats.take_in(self._repeats, record)
        step = _STEPS.get(event)
        if step is not None:
            step(self, record)


def _chain_started(facts: JournalFacts, record: Record) -> None:
    facts.is_open, facts.end = True, None
    facts.launches += 1
    facts.launch = as_whole(record.get("launch"))


def _chain_ended(facts: JournalFacts, record: Record) -> None:
    facts.is_open = False
    facts.launch = as_whole(record.get("attempt"))
    facts.end = record


def _attempt_started(facts: JournalFacts, record: Record) -> None:
    stage = record.get("stage")
    if not isinstance(stage, str):
        return
    if stage != facts.stage:
        facts.retries = 0
    at = record.get("at")
    facts.stage, facts.attempt = stage[:NAME_LIMIT], as_whole(record.get("attempt"))
    facts.attempt_began_at = at if isinstance(at, str) else None


def _retrying(facts: JournalFacts, _: Record) -> None:
    facts.retries += 1


def _stage_done(facts: JournalFacts, _: Record) -> None:
    facts.retries = 0


def _tracker_run(facts: JournalFacts, record: Record) -> None:
    facts.tracker_runs = [*facts.tracker_runs[1 - KEPT_TRACKER_RUNS :], record]


_STEPS: dict[str, Callable[[JournalFacts, Record], None]] = {
    Event.CHAIN_STARTED: _chain_started,
    **dict.fromkeys(CHAIN_ENDS, _chain_ended),
    Event.ATTEMPT_STARTED: _attempt_started,
    Event.STAGE_RETRYING: _retrying,
    Event.STAGE_DONE: _stage_done,
    Event.TRACKER_RUN: _tracker_run,
}


def fold(records: Iterable[Record | Unreadable]) -> JournalFacts:
    """The facts of a whole journal. Lines that are not records are passed over."""
    facts = JournalFacts()
    for record in records:
        if not isinstance(record, Unreadable):
            facts.apply(record)
    return facts


# -- kept between two looks

SCHEMA = 2  # 1 was the patrol's own fold
STAGES_KEPT = 8
DRIFTS_KEPT = 5
TEXT_LIMIT = 500
_END_KEPT = ("event", "at", "ended_at", "reason", "stopped_at", "attempt")
_PLAIN = (
    "is_open",
    "launches",
    "launch",
    "stage",
    "attempt",
    "attempt_began_at",
    "retries",
    "newest_event",
    "newest_at",
)


def to_plain(facts: JournalFacts) -> dict[str, Any]:
    """As JSON-ready data, bounded, every text of it safe to show."""
    return {
        "schema": SCHEMA,
        **{name: _safe(getattr(facts, name)) for name in _PLAIN},
        "end": None if facts.end is None else _kept(facts.end, _END_KEPT),
        "jobs": [_job_to_plain(job) for job in facts.jobs.of.values()],
        "submissions": facts.jobs.submissions,
        "tracker_runs": list(trackers_by_stage(facts).values()),
        "repeats": dict(facts._repeats),  # noqa: SLF001 - this module's own
    }


def from_plain(data: Mapping[str, Any]) -> JournalFacts:
    """The inverse of `to_plain`. Raises KeyError, TypeError, ValueError for what is of another shape."""
    if data["schema"] != SCHEMA:
        raise ValueError(f"a journal's facts of schema {data['schema']}")
    facts = JournalFacts()
    for name in _PLAIN:
        setattr(facts, name, data[name])
    facts.end = None if data["end"] is None else dict(data["end"])
    facts.jobs.of = {job["stage"]: KnownJob(**job) for job in data["jobs"]}
    facts.jobs.submissions = int(data["submissions"])
    facts.tracker_runs = [dict(one) for one in data["tracker_runs"]]
    facts._repeats = dict(data["repeats"])  # noqa: SLF001 - this module's own
    return facts


def trackers_by_stage(facts: JournalFacts) -> dict[str, dict[str, Any]]:
    """The newest run at a tracker of each stage, of the newest eight stages: identity and drift, safe to show."""
    found: dict[str, dict[str, Any]] = {}
    for record in facts.tracker_runs:
        identity = identity_from_record(record)
        if identity is None or identity.stage is None:
            continue
        drift = record.get("drift")
        words = [safe_line(one, TEXT_LIMIT) for one in drift[:DRIFTS_KEPT]] if isinstance(drift, list) else []
        told = {key: _safe(value) for key, value in identity._asdict().items() if value is not None}
        found.pop(identity.stage, None)
        found[identity.stage] = {**told, "drift": words}
    return dict(list(found.items())[-STAGES_KEPT:])


def _job_to_plain(job: KnownJob) -> dict[str, Any]:
    ended = None if job.ended is None else {key: _safe(value) for key, value in job.ended.items()}
    return {**{key: _safe(value) for key, value in job._asdict().items()}, "ended": ended}


def _kept(record: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: _safe(record[key]) for key in keys if record.get(key) is not None}


def _safe(value: Any) -> Any:
    """Text bounded and safe; numbers, booleans and None as they are; anything else is left out."""
    if isinstance(value, str):
        return safe_line(value, TEXT_LIMIT)
    return value if isinstance(value, int | float) or value is None else None
