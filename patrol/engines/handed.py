"""A run of onbox that was handed to a cluster as one job: its records, weighed with the engine's word. Pure.

As `onbox status` weighs them: `onbox.runs.engine_word`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.backends.base import Job
from onbox.backends.table import cluster_of
from onbox.contract.readings import Absent, Unseen, observed
from onbox.contract.states import RunState, StageState
from onbox.outside import safe_line
from onbox.runs.engine_word import FORGOTTEN, is_overtaken, state_on_disk, weigh, word_of
from onbox.runs.jobs import WHOLE, KnownJob, record_of_end
from onbox.runs.state import state_after
from patrol.engines.evidence import OVER, read_evidence
from patrol.engines.watched import SAYS_LIMIT, scheduler_of
from patrol.memory.run_memory import Handed

if TYPE_CHECKING:
    from onbox.backends.cluster import ClusterJob, Endpoint
    from onbox.contract.readings import Maybe
    from patrol.memory.run_memory import RunMemory
    from patrol.snapshot import RunLook, Scheduler

GAP = "its journal was not read from its beginning, so that its job is not known"
NO_RECORD = "its records name no job"


def known_job(kept: RunMemory) -> KnownJob | Unseen:
    """The job that runs the chain now, by the run's own journal."""
    read = kept.journal
    found = read.facts.jobs.of.get(WHOLE) if read is not None else None
    if found is not None:
        return found
    return Unseen(GAP if read is not None and read.gap else NO_RECORD)


def end_on_record(kept: RunMemory, known: KnownJob) -> KnownJob:
    """With the engine's last word on it, if an earlier look has heard it: engines forget, and ends do not change."""
    ended = kept.handed.ended
    if known.ended is None and ended is not None and ended.get("job_id") == known.job_id:
        return known._replace(ended=dict(ended))
    return known


def with_end(kept: RunMemory, known: KnownJob, word: Maybe[Job]) -> RunMemory:
    """With the engine's word, if it is its last one."""
    if not isinstance(word, Job) or word.state not in OVER:
        return kept
    return kept._replace(handed=kept.handed._replace(ended=record_of_end(known, word)))


def with_told(
    run: RunLook, known: KnownJob, told: ClusterJob | None, endpoint: Endpoint, kept: RunMemory, now: float
) -> tuple[RunLook, RunMemory]:
    """The look with the engine's word, and where the job's disk is another one with the log that the engine holds; what
    to remember of the run.

    told: None where it was not asked, as the job's end is on record.
    """
    word = word_of(known, {known.job_id: told.word} if told is not None and known.job_id is not None else {})
    apart = kept.manifest is not None and kept.manifest.is_apart
    run = _since_submission(run, known, kept)
    if told is not None and told.submitted_at is not None:
        run = run._replace(submitted_age_seconds=max(0.0, now - told.submitted_at))
    if apart and told is not None:
        run, kept = _from_afar(run, known, told, endpoint, kept, now)
    run = run._replace(scheduler=_weigh(run, known, word, told, apart=apart))
    engine = observed(run.scheduler)
    if engine is not None and engine.rule == "done-elsewhere":
        ended = told.ended_at if told is not None else None
        age: Maybe[float] = Absent("not told") if ended is None else max(0.0, now - ended)
        run = run._replace(done=f"{known.backend} says {engine.native_state}", ended_age_seconds=age)
    return run, kept


def _since_submission(run: RunLook, known: KnownJob, kept: RunMemory) -> RunLook:
    """Without the end of an earlier launch: what was stopped or failed before the newest submission is history."""
    end = kept.journal.facts.end if kept.journal is not None else None
    if end is None or not is_overtaken(end.get("at"), (known,)):
        return run
    later = Absent("it was handed to the engine again since")
    return run._replace(outcome=later, ended_age_seconds=later, reason="")


def _from_afar(
    run: RunLook, known: KnownJob, told: ClusterJob, endpoint: Endpoint, kept: RunMemory, now: float
) -> tuple[RunLook, RunMemory]:
    job_id = str(known.job_id)
    before = kept.handed.log if kept.handed.log_of == job_id else None
    shown = read_evidence(job_id, endpoint.engine, told, before, now)
    began: Maybe[float] = Absent("it has not begun") if told.began_at is None else max(0.0, now - told.began_at)
    seen = run._replace(
        log=shown.log,
        progress=shown.progress,
        failure=shown.failure,
        stage_began_age_seconds=began,
        log_words=cluster_of(endpoint.engine).log_argv(endpoint.address, job_id),
    )
    return seen, kept._replace(handed=Handed(kept.handed.ended, job_id, shown.change))


def _disk(run: RunLook) -> StageState:
    """What the run directory alone says of the chain."""
    return state_on_disk(
        done=observed(run.done) is not None,
        alive=run.runner_alive is True or run.stage_alive is True,
        failed=state_after(run.outcome) is RunState.FAILED,
        interrupted=state_after(run.outcome) is RunState.INTERRUPTED,
    )


def _weigh(
    run: RunLook, known: KnownJob, word: Maybe[Job], told: ClusterJob | None, *, apart: bool
) -> Maybe[Scheduler]:
    verdict = weigh(known, word, _disk(run), apart=apart)
    says = safe_line(verdict.text, SAYS_LIMIT)
    if verdict.state is StageState.UNKNOWN and verdict.rule != FORGOTTEN:
        return Unseen(says)
    stopped = RunState.STOPPED if state_after(run.outcome) is RunState.STOPPED else RunState.RUNNING
    troubles = told.troubles if told is not None else ()
    job_id = known.job_id or known.name
    return scheduler_of(known.backend, job_id, word, verdict, says=says, stopped=stopped, troubles=troubles)
