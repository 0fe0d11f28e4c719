"""A journal's facts as plain data, which a reader keeps between two looks and goes on from. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.model.tracker import identity_from_record
from onbox.outside import safe_line
from onbox.runs.jobs import KnownJob
from onbox.runs.journal import STAGES_KEPT, TEXT_LIMIT, JournalFacts, Series, StageResult

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 2  # 1 was the patrol's own fold; results, series and began_at came later, and may be missing
DRIFTS_KEPT = 5
_END_KEPT = ("event", "at", "ended_at", "duration_seconds", "reason", "stopped_at", "attempt")
_PLAIN = (
    "is_open",
    "launches",
    "launch",
    "began_at",
    "rested_seconds",
    "stage",
    "attempt",
    "attempt_began_at",
    "boot_id",
    "retries",
    "stage_event",
    "notices_held",
    "newest_event",
    "newest_at",
    "rolled_back_to",
    "failed_left",
    "rechecked",
)
_LATER: dict[str, Any] = {
    "began_at": None,
    "rested_seconds": 0.0,
    "boot_id": None,
    "notices_held": "",
    "stage_event": "",
    "rolled_back_to": None,
    "failed_left": None,
    "rechecked": "",
}  # what an earlier version did not keep


def to_plain(facts: JournalFacts) -> dict[str, Any]:
    """As JSON-ready data, bounded, every text of it safe to show."""
    return {
        "schema": SCHEMA,
        **{name: _safe(getattr(facts, name)) for name in _PLAIN},
        "end": None if facts.end is None else _kept(facts.end, _END_KEPT),
        "results": [list(one) for one in facts.results.values()],
        "series": [[name, *one] for name, one in facts.series.items()],
        "jobs": [_job_to_plain(job) for job in facts.jobs.of.values()],
        "submissions": facts.jobs.submissions,
        "tracker_runs": list(trackers_by_stage(facts).values()),
        "repeats": dict(facts.repeats),
    }


def from_plain(data: Mapping[str, Any]) -> JournalFacts:
    """The inverse of `to_plain`. Raises KeyError, TypeError, ValueError for what is of another shape."""
    if data["schema"] != SCHEMA:
        raise ValueError(f"a journal's facts of schema {data['schema']}")
    facts = JournalFacts()
    for name in _PLAIN:
        setattr(facts, name, data.get(name, _LATER[name]) if name in _LATER else data[name])
    facts.end = None if data["end"] is None else dict(data["end"])
    results = (StageResult(*one) for one in data.get("results", ()))
    facts.results = {one.stage: one._replace(warnings=tuple(one.warnings)) for one in results}
    facts.series = {name: Series(*one) for name, *one in data.get("series", ())}
    facts.jobs.of = {job["stage"]: KnownJob(**job) for job in data["jobs"]}
    facts.jobs.submissions = int(data["submissions"])
    facts.tracker_runs = [dict(one) for one in data["tracker_runs"]]
    facts.repeats = dict(data["repeats"])
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
