"""A run whose stages are jobs of an engine, as it is right now: the run directory's view, with the engine's word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.backends.base import Job, JobState
from onbox.backends.judge import Seen, Verdict, judge_run, judge_stage
from onbox.chain.jobs import WHOLE, Jobs, KnownJob
from onbox.contract.events import Event
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.contract.states import RunState, StageState
from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.backends.base import Backend
    from onbox.chain.look import RunView, StageView

UNANSWERED = "its submission was not answered: whether the job exists is not known"
NOT_OURS = "another back end"


class JobLook(NamedTuple):
    """One job and the engine's word on it."""

    known: KnownJob
    word: Maybe[Job]


class JobView(NamedTuple):
    """view: with the states that run directory and engine make together. looks: by stage (WHOLE: one for all).
    verdicts: by stage, for those that have a job.
    """

    view: RunView
    looks: Mapping[str, JobLook]
    verdicts: Mapping[str, Verdict]

    @property
    def is_live(self) -> bool:
        """Whether a job runs or may still run, by its engine's word."""
        return any(isinstance(look.word, Job) and look.word.is_live for look in self.looks.values())


def ask(backend: Backend, jobs: Jobs) -> dict[str, JobLook]:
    """The engine's word on every job of the run, in as few questions as it needs. An end that is on record is not
    asked for again: engines forget.
    """
    ids = [job.job_id for job in jobs.open if job.job_id is not None and job.backend == backend.name]
    answers = backend.look(ids) if ids else {}
    return {stage: JobLook(known, word_of(known, answers)) for stage, known in jobs.of.items()}


def word_of(known: KnownJob, answers: Mapping[str, Maybe[Job]]) -> Maybe[Job]:
    """The word on one job, from the answers by id."""
    if known.ended is not None:
        return job_of_record(known.ended)
    if known.job_id is None:
        return Unseen(UNANSWERED)
    word = answers.get(known.job_id, Unseen(NOT_OURS))
    if isinstance(word, Absent) and known.session and known.session not in word.why:
        return Absent(f"{word.why}; the one that took it was restarted: its processes may live on")
    return word


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
    fields = {key: value for key, value in word._asdict().items() if key != "job_id"}
    return {**record, **fields, "state": word.state.value}


def refine(view: RunView, looks: Mapping[str, JobLook], *, apart: bool) -> JobView:
    """The view with the engine's word taken in. apart: as in `Seen`."""
    view = _since_submission(view, looks)
    if WHOLE in looks:
        return _refine_whole(view, looks, apart=apart)
    verdicts = {
        stage.name: judge_stage(_seen(looks[stage.name], stage, apart=apart))
        for stage in view.stages
        if stage.name in looks
    }
    return _with(view, looks, verdicts)


def _since_submission(view: RunView, looks: Mapping[str, JobLook]) -> RunView:
    """Without the end of an earlier launch: what was stopped or failed before the newest submission is history."""
    newest = max((look.known.at for look in looks.values()), default="")
    if view.end is None or str(view.end.get("at", "")) >= newest:
        return view
    return view._replace(end=None, state=RunState.PENDING)


def _refine_whole(view: RunView, looks: Mapping[str, JobLook], *, apart: bool) -> JobView:
    """One job for all stages: its word is about the stage at work. One that succeeded elsewhere did all of them."""
    current = next((stage for stage in view.stages if stage.state is not StageState.DONE), view.stages[-1])
    verdict = judge_stage(_seen(looks[WHOLE], current, apart=apart))
    names = [current.name]
    if verdict.rule == "done-elsewhere":
        names = [stage.name for stage in view.stages]
    return _with(view, looks, dict.fromkeys(names, verdict))


def _seen(look: JobLook, stage: StageView, *, apart: bool) -> Seen:
    return Seen(look.known.backend, look.known.job_id or look.known.name, stage.state, look.word, apart)


def _with(view: RunView, looks: Mapping[str, JobLook], verdicts: Mapping[str, Verdict]) -> JobView:
    stages = tuple(
        stage._replace(state=verdicts[stage.name].state, note=_note(stage, verdicts[stage.name]))
        if stage.name in verdicts
        else stage
        for stage in view.stages
    )
    state = judge_run([stage.state for stage in stages], view.state)
    if state is RunState.PENDING and not verdicts:
        state = view.state
    return JobView(view._replace(state=state, stages=stages), looks, verdicts)


def _note(stage: StageView, verdict: Verdict) -> str:
    return " · ".join(filter(None, (stage.note, safe_line(verdict.text))))
