"""A job on a cluster that somebody submitted: what its engine told as a `RunLook`, and what to keep of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.backends.base import Job
from onbox.backends.table import cluster_of
from onbox.contract.readings import Absent, Unseen
from onbox.contract.states import RunState, StageState
from onbox.outside import safe_line
from onbox.runs.engine_word import FORGOTTEN, SeenStage, judge_run, judge_stage, words_of
from patrol.engines.evidence import OVER, read_evidence
from patrol.memory.run_memory import RunMemory, WatchedJob
from patrol.snapshot import RunLook, Scheduler

if TYPE_CHECKING:
    from onbox.backends.cluster import ClusterJob, Endpoint
    from onbox.contract.readings import Maybe
    from onbox.model.boxes import Watch
    from onbox.runs.engine_word import StageVerdict

SAYS_LIMIT = 200
NO_SHELL = Absent("its processes are the engine's")


def current_job(watch: Watch, known: RunMemory | None) -> WatchedJob:
    """The job that is looked at: as configured, or the newest submission by this patrol."""
    job = known.job if known is not None else None
    return job if job is not None and job.configured == watch.job else WatchedJob(str(watch.job), str(watch.job))


def look_of(
    watch: Watch, endpoint: Endpoint, told: ClusterJob, session: str, known: RunMemory | None, now: float
) -> tuple[RunLook, RunMemory]:
    """The job as it is, and what to remember of it."""
    job = current_job(watch, known)
    job_id = job.job_id
    word = _word(told, session, job)
    if isinstance(word, Job):
        job = job._replace(seen=True, session=session)
    shown = read_evidence(job_id, endpoint.engine, told, job.log, now)
    engine = weigh(endpoint.engine, job_id, word, told)
    look = RunLook(
        run=watch.name,
        managed=False,
        place=job_id,
        run_id=f"{endpoint.engine}:{watch.job}",  # a job and what replaces it are one run, so that failures are counted
        stage=Absent("a job has no stages"),
        attempt=word.restarts + job.restarts + 1 if isinstance(word, Job) else Absent("not told"),
        runner_alive=NO_SHELL,
        stage_alive=Unseen("its engine does not tell") if isinstance(engine, Unseen) else NO_SHELL,
        stage_began_age_seconds=_age(told.began_at, now, "it has not begun"),
        stall_after_seconds=_given(watch.stall_after_seconds),
        expected_seconds=_given(watch.expected_seconds),
        log=shown.log,
        progress=shown.progress,
        failure=shown.failure,
        scheduler=engine,
        log_words=cluster_of(endpoint.engine).log_argv(endpoint.address, job_id),
        can_resubmit=watch.resubmit is not None,
        submitted_age_seconds=_age(told.submitted_at, now, "not told"),
    )
    if isinstance(word, Job) and word.state in OVER:
        look = look._replace(ended_age_seconds=_age(told.ended_at, now, "when it ended is not told"))
        if word.state.value == "succeeded":
            look = look._replace(done=f"{endpoint.engine} says {word.native_state}")
    return look, RunMemory(job=job._replace(log=shown.change))


def _word(told: ClusterJob, session: str, known: WatchedJob) -> Maybe[Job]:
    """The engine's word. A job that it knew and knows no more was lost by it, or removed: that is not an end."""
    word = told.word
    if not isinstance(word, Absent):
        return word
    if not known.seen:
        return Absent("its engine does not know it: is the id right?")
    if known.session != session:
        return Absent("its head was restarted and has lost it; its processes may live on")
    return Absent("its engine no longer knows it: it was removed there")


def weigh(engine: str, job_id: str, word: Maybe[Job], told: ClusterJob) -> Maybe[Scheduler]:
    """The engine's word as the rules take it: without markers, as the job's disk is not seen."""
    if isinstance(word, Unseen):
        return word
    verdict = judge_stage(SeenStage(engine, job_id, StageState.PENDING, word, apart=True))
    words = word.why if isinstance(word, Absent) else words_of(word)
    says = safe_line(f"{engine} job {job_id}: {words}", SAYS_LIMIT)
    if verdict.state is StageState.UNKNOWN and verdict.rule != FORGOTTEN:
        return Unseen(says)
    return scheduler_of(engine, job_id, word, verdict, says=says, troubles=told.troubles)


def scheduler_of(
    engine: str,
    job_id: str,
    word: Maybe[Job],
    verdict: StageVerdict,
    *,
    says: str,
    stopped: RunState = RunState.RUNNING,
    troubles: tuple[str, ...] = (),
) -> Scheduler:
    """What a look tells of the engine: its own words, bounded and safe to show; FORGOTTEN where it does not know the
    job. stopped: what the run is where its jobs were stopped.
    """
    found = Scheduler(
        engine=engine,
        job_id=job_id,
        job_state=FORGOTTEN,
        native_state="",
        rule=verdict.rule,
        run_state=judge_run([verdict.state], stopped).value,
        failure_class=verdict.failure_class,
        says=says,
        troubles=troubles,
    )
    if not isinstance(word, Job):
        return found
    return found._replace(
        job_state=word.state.value,
        native_state=safe_line(word.native_state, 40),
        reason=safe_line(word.reason, 160),
        note=word.note,
        restarts=word.restarts,
        held=word.held,
    )


def _age(at: float | None, now: float, why: str) -> Maybe[float]:
    return Absent(why) if at is None else max(0.0, now - at)


def _given(value: float | None) -> Maybe[float]:
    return Absent("not declared") if value is None else value
