"""A run of onbox that was handed to a cluster as one job: its records, weighed with the engine's word. Pure.

As `onbox status` weighs them: `onbox.runs.engine_word`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from patrol.probe.journal import place_of

if TYPE_CHECKING:
    from onbox.backends.cluster import Endpoint, Told
    from onbox.contract.readings import Maybe
    from patrol.before import LogPlace
    from patrol.snapshot import RunLook, Scheduler

GAP = "its journal was not read from its beginning, so that its job is not known"
NO_RECORD = "its records name no job"


def known_job(place: LogPlace) -> KnownJob | Unseen:
    """The job that runs the chain now, by the run's own journal."""
    read = place_of(place.reader.get("journal"))
    found = read.facts.jobs.of.get(WHOLE) if read is not None else None
    if found is not None:
        return found
    return Unseen(GAP if read is not None and read.gap else NO_RECORD)


def end_on_record(place: LogPlace, known: KnownJob) -> KnownJob:
    """With the engine's last word on it, if an earlier look has heard it: engines forget, and ends do not change."""
    kept = place.reader.get("engine_end")
    if known.ended is None and isinstance(kept, dict) and kept.get("job_id") == known.job_id:
        return known._replace(ended=kept)
    return known


def keep_end(place: LogPlace, known: KnownJob, word: Maybe[Job]) -> None:
    if isinstance(word, Job) and word.state in OVER:
        place.reader["engine_end"] = record_of_end(known, word)


def with_told(
    run: RunLook, known: KnownJob, told: Told | None, endpoint: Endpoint, place: LogPlace, now: float
) -> RunLook:
    """The look with the engine's word, and where the job's disk is another one with the log that the engine holds.

    told: None where it was not asked, as the job's end is on record.
    """
    word = word_of(known, {known.job_id: told.word} if told is not None and known.job_id is not None else {})
    apart = place.reader.get("manifest", {}).get("engine", {}).get("apart") == "yes"
    run = _since_submission(run, known, place)
    if told is not None and told.submitted_at is not None:
        run = run._replace(submitted_age_seconds=max(0.0, now - told.submitted_at))
    if apart and told is not None:
        run = _from_afar(run, known, told, endpoint, place, now)
    run = run._replace(scheduler=_weigh(run, known, word, told, apart=apart))
    engine = observed(run.scheduler)
    if engine is not None and engine.rule == "done-elsewhere":
        ended = told.ended_at if told is not None else None
        age: Maybe[float] = Absent("not told") if ended is None else max(0.0, now - ended)
        run = run._replace(done=f"{known.backend} says {engine.native_state}", ended_age_seconds=age)
    return run


def _since_submission(run: RunLook, known: KnownJob, place: LogPlace) -> RunLook:
    """Without the end of an earlier launch: what was stopped or failed before the newest submission is history."""
    read = place_of(place.reader.get("journal"))
    end = read.facts.end if read is not None else None
    if end is None or not is_overtaken(end.get("at"), (known,)):
        return run
    later = Absent("it was handed to the engine again since")
    return run._replace(outcome=later, ended_age_seconds=later, reason="")


def _from_afar(run: RunLook, known: KnownJob, told: Told, endpoint: Endpoint, place: LogPlace, now: float) -> RunLook:
    kept: dict[str, Any] = place.reader.setdefault("afar", {})
    if kept.get("job") != known.job_id:
        kept.clear()
        kept["job"] = known.job_id
    shown = read_evidence(str(known.job_id), endpoint.engine, told, kept, now)
    began: Maybe[float] = Absent("it has not begun") if told.began_at is None else max(0.0, now - told.began_at)
    return run._replace(
        log=shown.log,
        progress=shown.progress,
        failure=shown.failure,
        stage_began_age_seconds=began,
        log_words=cluster_of(endpoint.engine).log_argv(endpoint.address, str(known.job_id)),
    )


def _disk(run: RunLook) -> StageState:
    """What the run directory alone says of the chain."""
    return state_on_disk(
        done=observed(run.done) is not None,
        alive=run.runner_alive is True or run.stage_alive is True,
        failed=state_after(run.outcome) is RunState.FAILED,
        interrupted=state_after(run.outcome) is RunState.INTERRUPTED,
    )


def _weigh(run: RunLook, known: KnownJob, word: Maybe[Job], told: Told | None, *, apart: bool) -> Maybe[Scheduler]:
    verdict = weigh(known, word, _disk(run), apart=apart)
    says = safe_line(verdict.text, SAYS_LIMIT)
    if verdict.state is StageState.UNKNOWN and verdict.rule != FORGOTTEN:
        return Unseen(says)
    stopped = RunState.STOPPED if state_after(run.outcome) is RunState.STOPPED else RunState.RUNNING
    troubles = told.troubles if told is not None else ()
    job_id = known.job_id or known.name
    return scheduler_of(known.backend, job_id, word, verdict, says=says, stopped=stopped, troubles=troubles)
