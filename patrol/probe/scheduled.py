"""A run that is with an engine: the engine's word on its jobs, weighed with its markers, taken into its look. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.backends.table import probe_of
from onbox.contract.events import parse_events
from onbox.contract.readings import Absent, Unseen, observed
from onbox.contract.states import RunState, StageState
from onbox.model.engines import ON_BOX
from onbox.outside import safe_line
from onbox.runs.engine_word import FORGOTTEN, is_overtaken, judge_jobs, state_on_disk, weigh, word_of, words_of
from onbox.runs.jobs import Jobs, replay_jobs
from onbox.runs.state import state_after
from patrol.probe.box.jobs import NO_JOB
from patrol.snapshot import Scheduler

if TYPE_CHECKING:
    from onbox.backends.base import Job
    from onbox.contract.readings import Maybe
    from patrol.probe.box.jobs import RawJobs
    from patrol.snapshot import RunLook

SAYS_LIMIT = 200


def with_engine(run: RunLook, raw: Maybe[RawJobs], engine: str, handed_over: str, ended_at: str) -> RunLook:
    """The look with the engine's word. raw: `Absent` where no run has a job, or where nobody asked.

    engine: that was asked. handed_over: the engine that the frozen definition names; "" for none. ended_at: when the
    journal's end record was written, UTC text; "" for none.
    """
    if isinstance(raw, Absent | Unseen):
        return _without_word(run, raw, handed_over)
    lines = raw.journals.get(run.run)
    jobs = Jobs() if lines is None else replay_jobs(parse_events(line + b"\n" for line in lines))
    if not jobs.of:
        return run
    if is_overtaken(ended_at, jobs.of.values()):
        later = Absent("it was handed to the engine again since")
        run = run._replace(outcome=later, ended_age_seconds=later, reason="")
    return run._replace(scheduler=_weigh(run, jobs, raw, engine))


def _without_word(run: RunLook, raw: Absent | Unseen, handed_over: str) -> RunLook:
    """A run with an engine is never judged by processes alone: they are on another machine."""
    on_record = observed(run.done) is not None or observed(run.outcome) is not None
    if not handed_over or raw == NO_JOB or (handed_over not in ON_BOX and on_record):
        return run
    why = raw.why if isinstance(raw, Unseen) else f"it is with {handed_over}, which was not asked"
    return run._replace(scheduler=Unseen(why))


def _weigh(run: RunLook, jobs: Jobs, raw: RawJobs, engine: str) -> Maybe[Scheduler]:
    answers = probe_of(engine).parse_probe(raw.answer, [job.job_id for job in jobs.open if job.job_id is not None])
    markers = raw.markers.get(run.run, frozenset())
    words = {stage: word_of(known, answers) for stage, known in jobs.of.items()}
    verdicts = {stage: weigh(known, words[stage], _disk(run, stage, markers)) for stage, known in jobs.of.items()}
    stopped = RunState.STOPPED if state_after(run.outcome) is RunState.STOPPED else RunState.RUNNING
    state, stage, verdict = judge_jobs(verdicts, stopped)
    known, word = jobs.of[stage], words[stage]
    says = safe_line(verdict.text, SAYS_LIMIT)
    if verdict.state is StageState.UNKNOWN and verdict.rule != FORGOTTEN:
        return Unseen(says)
    found = Scheduler(
        engine=known.backend,
        job_id=known.job_id or "",
        job_state=FORGOTTEN,
        native_state="",
        rule=verdict.rule,
        run_state=state.value,
        stage=safe_line(stage, 80),
        failure_class=verdict.failure_class,
        says=says,
    )
    if isinstance(word, Absent | Unseen):
        return found
    return found._replace(
        job_state=word.state.value,
        native_state=safe_line(word.native_state, 40),
        reason=safe_line(word.reason, 80),
        note=word.note,
        restarts=word.restarts,
        held=word.held,
    )


def _disk(run: RunLook, stage: str, markers: frozenset[str]) -> StageState:
    """What the run directory alone says of a stage."""
    at_work = observed(run.stage) == stage
    return state_on_disk(
        done=f"{stage}_DONE" in markers,
        alive=at_work and (run.runner_alive is True or run.stage_alive is True),
        failed=f"{stage}_FAILED" in markers,
        interrupted=at_work and state_after(run.outcome) is RunState.INTERRUPTED,
    )


def by_name(engine: str, job: Job) -> Scheduler:
    """The word on a job that is known by its name only."""
    found = Scheduler(engine, job.job_id, job.state.value, job.native_state, job.reason, job.note)
    return found._replace(says=words_of(job), held=job.held)
