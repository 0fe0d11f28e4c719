"""What a stage is, from its engine's word and from what the run directory says: one ordered table. Pure.

A marker alone is not success: a job can end OUT_OF_MEMORY although its script went on and left its marker. Nor is an
engine's silence an end: a job that the engine has forgotten is judged by its marker, and a job that the engine could
not be asked about is judged by nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onbox.backends.base import Job, JobState
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.contract.states import RunState, StageState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Seen(NamedTuple):
    """What was seen of a stage. disk: its state by the run directory alone. job: the engine's word; `Absent`: it does
    not know the job (any more). engine: its name, for people. job_id: None: there is no job of this stage. apart: the
    job has another disk than this one, so that no marker of it is ever seen here.
    """

    engine: str
    job_id: str | None
    disk: StageState
    job: Maybe[Job]
    apart: bool = False

    @property
    def state(self) -> JobState | None:
        """The engine's word; None where it has none."""
        return None if isinstance(self.job, Absent | Unseen) else self.job.state


class Verdict(NamedTuple):
    """What a stage is. rule: the row that says so. text: why. failure_class: where the engine proves one."""

    rule: str
    state: StageState
    text: str
    failure_class: str | None = None


class Row(NamedTuple):
    """First match wins. text: {job} is the engine's name and the job's id, {words} its state, reason and their note,
    {why} why nothing was seen. keeps: the state that the run directory says is kept, `state` holding where it says
    nothing of use.
    """

    rule: str
    holds: Callable[[Seen], bool]
    state: StageState
    text: str
    keeps: frozenset[StageState] = frozenset()


_DONE = frozenset({StageState.DONE})
_JUDGED = frozenset({StageState.FAILED})
_AT_WORK = frozenset({StageState.RUNNING, StageState.STALLED, StageState.WAITING, StageState.DONE})
_OVER = frozenset({JobState.FAILED, JobState.INTERRUPTED, JobState.STOPPED, JobState.BLOCKED})

TABLE: tuple[Row, ...] = (
    Row("no-job", lambda s: s.job_id is None, StageState.PENDING, "", frozenset(StageState)),
    Row("could-not-look", lambda s: isinstance(s.job, Unseen), StageState.UNKNOWN, "{job}: could not look: {why}"),
    Row(
        "done-and-forgotten",
        lambda s: s.disk in _DONE and isinstance(s.job, Absent),
        StageState.DONE,
        "{job} is over and forgotten; its marker counts",
    ),
    Row("done", lambda s: s.disk in _DONE and s.state is JobState.SUCCEEDED, StageState.DONE, "{job}: {words}"),
    Row(
        "done-but-job-ending",
        lambda s: s.disk in _DONE and s.state in (JobState.RUNNING, JobState.ENDING),
        StageState.RUNNING,
        "its marker is there, {job} has not ended: {words}",
    ),
    Row(
        "done-but-job-not",
        lambda s: s.disk in _DONE and s.state in _OVER,
        StageState.FAILED,
        "its marker is there, but {job} did not succeed: {words}",
    ),
    Row(
        "lost",
        lambda s: isinstance(s.job, Absent) and s.disk in (StageState.RUNNING, StageState.STALLED),
        StageState.UNKNOWN,
        "{job} is lost by the engine, its processes live on: {why}",
    ),
    Row(
        "forgotten",
        lambda s: isinstance(s.job, Absent),
        StageState.UNKNOWN,
        "{job} left no marker: {why}",
        frozenset({StageState.FAILED, StageState.INTERRUPTED}),
    ),
    Row("unknown-word", lambda s: s.state is JobState.UNKNOWN, StageState.UNKNOWN, "{job}: {words}"),
    Row("waits", lambda s: s.state is JobState.PENDING, StageState.PENDING, "{job}: {words}"),
    Row("runs", lambda s: s.state is JobState.RUNNING, StageState.RUNNING, "{job}: {words}", _AT_WORK),
    Row("ends", lambda s: s.state is JobState.ENDING, StageState.RUNNING, "{job}: {words}", _JUDGED),
    Row("never-ran", lambda s: s.state is JobState.BLOCKED, StageState.PENDING, "{job}: {words}", _JUDGED),
    Row(
        "done-elsewhere",
        lambda s: s.state is JobState.SUCCEEDED and s.apart,
        StageState.DONE,
        "{job}: {words}; its markers are where it ran",
    ),
    Row(
        "success-without-marker",
        lambda s: s.state is JobState.SUCCEEDED,
        StageState.FAILED,
        "{job} ended well, but the stage left no marker: {words}",
        _JUDGED,
    ),
    Row(
        "interrupted",
        lambda s: s.state in (JobState.INTERRUPTED, JobState.STOPPED),
        StageState.INTERRUPTED,
        "{job}: {words}",
        _JUDGED,
    ),
    Row(
        "failed-by-engine",
        lambda s: s.state is JobState.FAILED and isinstance(s.job, Job) and s.job.failure_class is not None,
        StageState.FAILED,
        "{job}: {words}",
    ),
    Row(
        "failed",
        lambda s: s.state is JobState.FAILED,
        StageState.FAILED,
        "{job}: {words}",
        frozenset({StageState.FAILED, StageState.INTERRUPTED}),
    ),
    Row("unexplained", lambda _: True, StageState.UNKNOWN, "{job}: {words}"),
)


def judge_stage(seen: Seen) -> Verdict:
    """The verdict of the first row that holds. The last one always does."""
    row = next(row for row in TABLE if row.holds(seen))
    job = None if isinstance(seen.job, Absent | Unseen) else seen.job
    text = row.text.format(
        job=f"{seen.engine} job {seen.job_id}",
        words="" if job is None else words_of(job),
        why=seen.job.why if isinstance(seen.job, Absent | Unseen) else "",
    )
    state = seen.disk if seen.disk in row.keeps else row.state
    return Verdict(row.rule, state, text, job.failure_class if job is not None else None)


def words_of(job: Job) -> str:
    """The engine's words with what they mean: `PENDING (Resources): waits for free nodes`."""
    reason = f" ({job.reason})" if job.reason else ""
    return job.native_state + reason + (f": {job.note}" if job.note else "")


# What the stages make of the run; the first that holds.
_RUN_STATES: tuple[tuple[StageState, RunState], ...] = (
    (StageState.UNKNOWN, RunState.UNKNOWN),
    (StageState.FAILED, RunState.FAILED),
    (StageState.STALLED, RunState.STALLED),
    (StageState.RUNNING, RunState.RUNNING),
    (StageState.WAITING, RunState.RUNNING),
    (StageState.INTERRUPTED, RunState.INTERRUPTED),
    (StageState.PENDING, RunState.PENDING),
)


def judge_run(stages: Iterable[StageState], disk: RunState) -> RunState:
    """The run's state, from its stages' and from what the run directory says (which knows of a stop)."""
    found = set(stages)
    state = next((run for stage, run in _RUN_STATES if stage in found), RunState.DONE)
    if state in (RunState.INTERRUPTED, RunState.PENDING) and disk is RunState.STOPPED:
        return RunState.STOPPED
    return RunState.STALLED if state is RunState.RUNNING and disk is RunState.STALLED else state
