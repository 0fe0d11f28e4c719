"""Which jobs of an engine a run has, from its journal. Pure: records in, jobs out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.backends.base import Job, JobState
from onbox.contract.events import Event, Unreadable
from onbox.contract.readings import Absent
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onbox.contract.events import Record
    from onbox.contract.readings import Maybe

WHOLE = ""  # the "stage" of a job that runs the whole chain


class KnownJob(NamedTuple):
    """The newest job of a stage (WHOLE: of the chain).

    name: as it was submitted under. job_id: None while the engine's answer is not on record: the job may exist.
    session: which life of the engine took it. after: id of the job that must succeed first; "" for none. at: when it
    was submitted. began: whether its onbox put its beginning on record. ended: the record of the engine's last word on
    it, once it was over.
    """

    stage: str
    backend: str
    name: str
    job_id: str | None = None
    session: str = ""
    after: str = ""
    at: str = ""
    began: bool = False
    ended: Record | None = None


class Jobs:
    """The jobs of a run. submissions: how many there have been in all, for names that are used once only."""

    def __init__(self) -> None:
        self.of: dict[str, KnownJob] = {}
        self.submissions = 0

    @property
    def open(self) -> list[KnownJob]:
        """Those whose end is not on record."""
        return [job for job in self.of.values() if job.ended is None]

    def apply(self, record: Record) -> None:
        """Take in one more record."""
        step = _STEPS.get(record["event"])
        if step is not None:
            step(self, str(record.get("stage") or WHOLE), record)


def _submitting(jobs: Jobs, stage: str, record: Record) -> None:
    jobs.submissions += 1
    jobs.of[stage] = _named(stage, record)


def _named(stage: str, record: Record) -> KnownJob:
    return KnownJob(stage, str(record.get("backend")), str(record.get("name")), at=str(record.get("at", "")))


def _submitted(jobs: Jobs, stage: str, record: Record) -> None:
    known = jobs.of.get(stage) or _named(stage, record)  # a reader may bring the journal's end only
    session = str(record.get("session") or "")
    after = str((record.get("after") or [""])[-1])
    jobs.of[stage] = known._replace(job_id=str(record.get("job_id")), session=session, after=after)


def _refused(jobs: Jobs, stage: str, _: Record) -> None:
    jobs.of.pop(stage, None)


def _ended(jobs: Jobs, stage: str, record: Record) -> None:
    known = jobs.of.get(stage)
    if known is not None and known.job_id == record.get("job_id"):
        jobs.of[stage] = known._replace(ended=record)


def _chain_started(jobs: Jobs, _: str, record: Record) -> None:
    """By a job of ours; or by a runner without one: what has ended has nothing more to say of this run."""
    job = record.get("job")
    if not isinstance(job, str):
        jobs.of = {known.stage: known for known in jobs.open}
        return
    for stage, known in jobs.of.items():
        if job in (f"{known.backend}:{known.job_id}", f"{known.backend}:{known.name}"):
            jobs.of[stage] = known._replace(began=True)


_STEPS: dict[str, Callable[[Jobs, str, dict[str, Any]], None]] = {
    Event.JOB_SUBMITTING: _submitting,
    Event.JOB_SUBMITTED: _submitted,
    Event.JOB_REFUSED: _refused,
    Event.JOB_ENDED: _ended,
    Event.CHAIN_STARTED: _chain_started,
    Event.STAGE_REDO: _refused,  # what the job left is dropped, and its end with it
    Event.DONE_ACCEPTED: _refused,  # what the job left counts by a person's word
}


def replay_jobs(records: Iterable[Record | Unreadable]) -> Jobs:
    """Fold the whole journal."""
    jobs = Jobs()
    for record in records:
        if not isinstance(record, Unreadable):
            jobs.apply(record)
    return jobs


def job_of_record(record: Mapping[str, Any]) -> Maybe[Job]:
    """The inverse of `record_of_end`."""
    if record.get("state") is None:
        return Absent(str(record.get("reason") or "forgotten"))
    return Job(
        str(record.get("job_id")),
        JobState(record["state"]),
        str(record.get("native_state", "")),
        str(record.get("reason", "")),
        str(record.get("note", "")),
        record.get("failure_class"),
        record.get("exit_code"),
        int(record.get("restarts") or 0),
    )


def record_of_end(known: KnownJob, word: Job | Absent) -> dict[str, Any]:
    """The journal's record of a job that is over; `state` null for one that the engine has forgotten."""
    record: dict[str, Any] = {
        "event": Event.JOB_ENDED,
        "stage": known.stage or None,
        "backend": known.backend,
        "job_id": known.job_id,
    }
    if isinstance(word, Absent):
        return {**record, "state": None, "reason": word.why}
    fields = {key: value for key, value in word._asdict().items() if key not in ("job_id", "held")}
    return {**record, **fields, "state": word.state.value}
