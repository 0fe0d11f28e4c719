"""What a stage and a run are, from an engine's word and from what the run directory says: one ordered table. Pure.

A marker alone is not success: a job can end OUT_OF_MEMORY although its script went on and left its marker. Nor is an
engine's silence an end: a job that the engine has forgotten is judged by its marker, and a job that the engine could
not be asked about is judged by nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.backends.base import Job, JobState
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.contract.states import RunState, StageState
from onbox.named_tuple import NamedTuple
from onbox.runs.jobs import job_of_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onbox.runs.jobs import KnownJob

UNANSWERED = "its submission was not answered: whether the job exists is not known"
NOT_ASKED = "its engine was not asked"
FORGOTTEN = "forgotten"
NEVER_RAN = "never-ran"


class SeenStage(NamedTuple):
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


class StageVerdict(NamedTuple):
    """What a stage is. rule: the row that says so. text: why. failure_class: where the engine proves one."""

    rule: str
    state: StageState
    text: str
    failure_class: str | None = None


class EngineRow(NamedTuple):
    """First match wins. text: {job} is the engine's name and the job's id, {words} its state, reason and their note,
    {why} why nothing was seen. keeps: the state that the run directory says is kept, `state` holding where it says
    nothing of use.
    """

    rule: str
    holds: Callable[[SeenStage], bool]
    state: StageState
    text: str
    keeps: frozenset[StageState] = frozenset()


_DONE = frozenset({StageState.DONE})
_JUDGED = frozenset({StageState.FAILED})
_AT_WORK = frozenset({StageState.RUNNING, StageState.STALLED, StageState.WAITING, StageState.DONE})
_OVER = frozenset({JobState.FAILED, JobState.INTERRUPTED, JobState.STOPPED, JobState.BLOCKED})

TABLE: tuple[EngineRow, ...] = (
    EngineRow("no-job", lambda s: s.job_id is None, StageState.PENDING, "", frozenset(StageState)),
    EngineRow(
        "could-not-look", lambda s: isinstance(s.job, Unseen), StageState.UNKNOWN, "{job}: could not look: {why}"
    ),
    EngineRow(
        "done-and-forgotten",
        lambda s: s.disk in _DONE and isinstance(s.job, Absent),
        StageState.DONE,
        "{job} is over and forgotten; its marker counts",
    ),
    EngineRow("done", lambda s: s.disk in _DONE and s.state is JobState.SUCCEEDED, StageState.DONE, "{job}: {words}"),
    EngineRow(
        "done-but-job-ending",
        lambda s: s.disk in _DONE and s.state in (JobState.RUNNING, JobState.ENDING),
        StageState.RUNNING,
        "its marker is there, {job} has not ended: {words}",
    ),
    EngineRow(
        "done-but-job-not",
        lambda s: s.disk in _DONE and s.state in _OVER,
        StageState.FAILED,
        "its marker is there, but {job} did not succeed: {words}",
    ),
    EngineRow(
        "lost",
        lambda s: isinstance(s.job, Absent) and s.disk in (StageState.RUNNING, StageState.STALLED),
        StageState.UNKNOWN,
        "lost by the engine, but its processes live on: {job}: {why}",
    ),
    EngineRow(
        FORGOTTEN,
        lambda s: isinstance(s.job, Absent),
        StageState.UNKNOWN,
        "{job} left no marker: {why}",
        frozenset({StageState.FAILED, StageState.INTERRUPTED}),
    ),
    EngineRow("unknown-word", lambda s: s.state is JobState.UNKNOWN, StageState.UNKNOWN, "{job}: {words}"),
    EngineRow("waits", lambda s: s.state is JobState.PENDING, StageState.PENDING, "{job}: {words}"),
    EngineRow("runs", lambda s: s.state is JobState.RUNNING, StageState.RUNNING, "{job}: {words}", _AT_WORK),
    EngineRow("ends", lambda s: s.state is JobState.ENDING, StageState.RUNNING, "{job}: {words}", _JUDGED),
    EngineRow(NEVER_RAN, lambda s: s.state is JobState.BLOCKED, StageState.PENDING, "{job}: {words}", _JUDGED),
    EngineRow(
        "done-elsewhere",
        lambda s: s.state is JobState.SUCCEEDED and s.apart,
        StageState.DONE,
        "{job}: {words}; its markers are where it ran",
    ),
    EngineRow(
        "success-without-marker",
        lambda s: s.state is JobState.SUCCEEDED,
        StageState.FAILED,
        "{job} ended well, but the stage left no marker: {words}",
        _JUDGED,
    ),
    EngineRow(
        "interrupted",
        lambda s: s.state in (JobState.INTERRUPTED, JobState.STOPPED),
        StageState.INTERRUPTED,
        "{job}: {words}",
        _JUDGED,
    ),
    EngineRow(
        "failed-by-engine",
        lambda s: s.state is JobState.FAILED and isinstance(s.job, Job) and s.job.failure_class is not None,
        StageState.FAILED,
        "{job}: {words}",
    ),
    EngineRow(
        "failed",
        lambda s: s.state is JobState.FAILED,
        StageState.FAILED,
        "{job}: {words}",
        frozenset({StageState.FAILED, StageState.INTERRUPTED}),
    ),
    EngineRow("unexplained", lambda _: True, StageState.UNKNOWN, "{job}: {words}"),
)


def judge_stage(seen: SeenStage) -> StageVerdict:
    """The verdict of the first row that holds. The last one always does."""
    row = next(row for row in TABLE if row.holds(seen))
    job = None if isinstance(seen.job, Absent | Unseen) else seen.job
    text = row.text.format(
        job=f"{seen.engine} job {seen.job_id}",
        words="" if job is None else words_of(job),
        why=seen.job.why if isinstance(seen.job, Absent | Unseen) else "",
    )
    state = seen.disk if seen.disk in row.keeps else row.state
    return StageVerdict(row.rule, state, text, job.failure_class if job is not None else None)


def words_of(job: Job) -> str:
    """The engine's words with what they mean: `PENDING (Resources): waits for free nodes`."""
    reason = f" ({job.reason})" if job.reason else ""
    return job.native_state + reason + (f": {job.note}" if job.note else "")


def word_of(known: KnownJob, answers: Mapping[str, Maybe[Job]]) -> Maybe[Job]:
    """An engine's word on one job, from its answers by id. An end on record is not asked for again: engines forget."""
    if known.ended is not None:
        return job_of_record(known.ended)
    if known.job_id is None:
        return Unseen(UNANSWERED)
    word = answers.get(known.job_id, Unseen(NOT_ASKED))
    if isinstance(word, Absent) and known.session and known.session != word.session:
        return Absent(f"{word.why}; the one that took it was restarted: its processes may live on")
    return word


def state_on_disk(*, done: bool, alive: bool, failed: bool, interrupted: bool = False) -> StageState:
    """What the run directory and the kernel alone say of a stage (or of the chain); the first that holds."""
    rows = (
        (done, StageState.DONE),
        (alive, StageState.RUNNING),  # a FAILED beside it is of the attempt before
        (failed, StageState.FAILED),
        (interrupted, StageState.INTERRUPTED),
    )
    return next((state for holds, state in rows if holds), StageState.PENDING)


def weigh(known: KnownJob, word: Maybe[Job], disk: StageState, *, apart: bool = False) -> StageVerdict:
    """The verdict on the stage of one job. apart: as in `SeenStage`."""
    return judge_stage(SeenStage(known.backend, known.job_id or known.name, disk, word, apart))


def is_overtaken(end_at: object, jobs: Iterable[KnownJob]) -> bool:
    """Whether an end of the chain is history: a job was submitted after it. end_at: as the journal writes times."""
    newest = max((job.at for job in jobs), default="")
    return isinstance(end_at, str) and bool(end_at) and end_at < newest


class JobsVerdict(NamedTuple):
    """What all jobs make of the run. stage: the one that makes its state, and its verdict."""

    state: RunState
    stage: str
    verdict: StageVerdict


def judge_jobs(verdicts: Mapping[str, StageVerdict], disk: RunState) -> JobsVerdict:
    """The run's state by its jobs: the stage that makes it is the first of that state, of a chain that is done the
    last. A job that can never run proves a failure before it, also where the engine has forgotten that one.
    """
    state = judge_run([one.state for one in verdicts.values()], disk)
    same = [stage for stage, one in verdicts.items() if judge_run([one.state], disk) is state]
    stage = same[-1] if state is RunState.DONE else same[0]
    blocked = next((stage for stage, one in verdicts.items() if one.rule == NEVER_RAN), None)
    if blocked is not None and verdicts[stage].rule == FORGOTTEN:
        stage = blocked
    return JobsVerdict(state, stage, verdicts[stage])


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
