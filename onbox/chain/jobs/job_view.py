"""A run whose stages are jobs of an engine, as it is right now: the run directory's view, with the engine's word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.backends.base import Job
from onbox.contract.states import RunState, StageState
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.runs.engine_word import StageVerdict, is_overtaken, judge_run, weigh, word_of
from onbox.runs.jobs import WHOLE, Jobs, KnownJob

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.backends.base import Backend
    from onbox.chain.run_status import RunView, StageView
    from onbox.contract.readings import Maybe


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
    verdicts: Mapping[str, StageVerdict]

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


def refine(view: RunView, looks: Mapping[str, JobLook], *, apart: bool) -> JobView:
    """The view with the engine's word taken in. apart: as in `Seen`."""
    view = _since_submission(view, looks)
    if WHOLE in looks:
        return _refine_whole(view, looks, apart=apart)
    verdicts = {
        stage.name: _weigh(looks[stage.name], stage, apart=apart) for stage in view.stages if stage.name in looks
    }
    return _with(view, looks, verdicts)


def _since_submission(view: RunView, looks: Mapping[str, JobLook]) -> RunView:
    """Without the end of an earlier launch: what was stopped or failed before the newest submission is history."""
    if view.end is None or not is_overtaken(view.end.get("at"), (look.known for look in looks.values())):
        return view
    return view._replace(end=None, state=RunState.PENDING)


def _refine_whole(view: RunView, looks: Mapping[str, JobLook], *, apart: bool) -> JobView:
    """One job for all stages: its word is about the stage at work. One that succeeded elsewhere did all of them."""
    current = next((stage for stage in view.stages if stage.state is not StageState.DONE), view.stages[-1])
    verdict = _weigh(looks[WHOLE], current, apart=apart)
    names = [current.name]
    if verdict.rule == "done-elsewhere":
        names = [stage.name for stage in view.stages]
    return _with(view, looks, dict.fromkeys(names, verdict))


def _weigh(look: JobLook, stage: StageView, *, apart: bool) -> StageVerdict:
    return weigh(look.known, look.word, stage.state, apart=apart)


def _with(view: RunView, looks: Mapping[str, JobLook], verdicts: Mapping[str, StageVerdict]) -> JobView:
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


def _note(stage: StageView, verdict: StageVerdict) -> str:
    return " · ".join(filter(None, (stage.note, safe_line(verdict.text))))
