"""What an engine's word means for one target: a job that is waited for by its id, or the job of a run. Pure.

An engine that could not be asked, that has lost the job or that says a word nobody knows is not an end of the job: only
the wait's own limit ends such a wait, and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.backends.base import Job, JobState
from onbox.backends.cluster import Endpoint, NoLook
from onbox.backends.cluster_reasons import BY_KEY
from onbox.contract.events import Event, parse_events
from onbox.contract.readings import Absent, Unseen
from onbox.contract.runfile import DamagedRunfile, is_apart, parse_head
from onbox.contract.states import StageState
from onbox.model.engines import CLUSTERS
from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.runs.engine_word import state_on_disk, weigh, word_of, words_of
from onbox.runs.jobs import WHOLE, KnownJob, replay_jobs
from onbox.triage.classes import REMEDIES
from patrol.engines.evidence import read_evidence
from sentinels.judge.note import Noted
from sentinels.judge.outcome import Outcome, WaitFinding
from sentinels.judge.run_facts import facts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onbox.backends.cluster import ClusterJob, ClusterLook
    from patrol.memory.run_memory import LogChange
    from sentinels.judge.conditions.base import Arming
    from sentinels.judge.conditions.run import RunCondition
    from sentinels.targets import Target

LOOKS_TO_BELIEVE = 2  # of what an engine says and no marker confirms


class Asked(NamedTuple):
    """What to ask for next: one job at its engine."""

    endpoint: Endpoint
    job_id: str


class JobCondition(Noted):
    """A job on a cluster, by its id: its engine's word ends the wait. seen_in: the life of the engine in which somebody
    saw it before this wait; None: nobody did.
    """

    kind = "job"

    def __init__(self, target: Target, asked: Asked, arming: Arming, *, seen_in: str | None = None) -> None:
        self.target, self.asked, self.arming = target, asked, arming
        self.session, self.lost_looks = seen_in or "", 0
        self.seen = seen_in is not None
        self._log_before: LogChange | None = None

    def wants(self) -> Asked | None:
        """The job to ask for now; None: there is nothing to ask."""
        return self.asked

    @property
    def wants_log(self) -> bool:
        return self.arming.stall_after_seconds is not None

    def hear(self, found: ClusterLook | NoLook, now: float) -> WaitFinding | None:
        """One look at the engine. now: local time, seconds since the epoch."""
        if isinstance(found, NoLook):
            self.tell(could_not_look(self.asked.endpoint.engine, found), warn=True)
            return None
        told = found.jobs[self.asked.job_id]
        word = told.word
        if isinstance(word, Unseen):
            self.tell(f"cannot be looked at: {safe_line(word.why, 200)}", warn=True)
            return None
        if isinstance(word, Absent):
            return self._not_known(word, found.session, now)
        self.seen, self.session, self.lost_looks = True, found.session, 0
        self.tell(safe_line(words_of(word), 200))
        return self._ended(word, told) or self._stalled(word, told, now)

    def _ended(self, word: Job, told: ClusterJob) -> WaitFinding | None:
        engine, job_id = self.asked.endpoint.engine, self.asked.job_id
        say = f"{engine} job {job_id}: {words_of(word)}"
        outcome = _OUTCOMES.get(word.state)
        if outcome is None:
            return None
        detail = {"engine": engine, "job_id": job_id, "native_state": word.native_state, "exit_code": word.exit_code}
        if outcome is not Outcome.LANDED:
            failure = failure_facts(engine, told)
            detail |= failure
            say += "".join(f" · {text}" for text in _said(failure))
        return self._found(outcome, say, told.ended_at, **detail)

    def _stalled(self, word: Job, told: ClusterJob, now: float) -> WaitFinding | None:
        limit = self.arming.stall_after_seconds
        if limit is None or word.state is not JobState.RUNNING:
            return None
        shown = read_evidence(self.asked.job_id, self.asked.endpoint.engine, told, self._log_before, now)
        log, self._log_before = shown.log, shown.change
        age = 0.0 if isinstance(log, Absent | Unseen) else log.written_age_seconds
        if age < limit:
            return None
        quiet = f"its log has not changed for {format_duration(age)}"
        say = f"{self.asked.endpoint.engine} says {word.native_state}, and {quiet}"
        return self._found(Outcome.STALLED, say, now - age)

    def _not_known(self, word: Absent, session: str, now: float) -> WaitFinding | None:
        """Not known (yet) is not an end. One that was known and is so no more can never be told of again."""
        if not self.seen:
            self.tell(f"there is no such job yet: {word.why}", warn=True)
            return None
        self.lost_looks += 1
        how = "its head was restarted" if session != self.session else "somebody removed it there"
        lost = f"the engine no longer knows {self.asked.job_id} ({how})"
        say = f"{lost}; whether it is alive is not known: look at its processes"
        self.tell(say)
        if self.lost_looks < LOOKS_TO_BELIEVE:
            return None
        return self._found(Outcome.UNREACHABLE, say, now, job_id=self.asked.job_id, reason="lost_by_engine")

    def _found(self, outcome: Outcome, say: str, since: float | None = None, **detail: Any) -> WaitFinding:
        kept = {key: value for key, value in detail.items() if value not in (None, "")}
        return WaitFinding(outcome, self.target.text, safe_line(say, 1000), since, kept)

    def memory(self) -> dict[str, Any]:
        return {"seen": self.seen, "session": self.session}

    def recall(self, memory: Mapping[str, Any]) -> None:
        if memory.get("seen"):
            self.seen, self.session = True, str(memory.get("session") or "")


_OUTCOMES = {
    JobState.SUCCEEDED: Outcome.LANDED,
    JobState.FAILED: Outcome.FAILED,
    JobState.INTERRUPTED: Outcome.STOPPED,
    JobState.STOPPED: Outcome.STOPPED,
    JobState.BLOCKED: Outcome.FAILED,
}


def could_not_look(engine: str, found: NoLook) -> str:
    """Why an engine told nothing; its own words kept."""
    return f"cannot be looked at: {engine}: {BY_KEY[found.reason].says} ({safe_line(found.detail, 200)})"


def failure_facts(engine: str, told: ClusterJob) -> dict[str, Any]:
    """Class, remedy and proof of a job that did not succeed, by its engine's word or its log."""
    failure = read_evidence("", engine, told, None, 0.0).failure
    if isinstance(failure, Absent | Unseen):
        return {}
    remedy = REMEDIES.get(failure.failure_class) or failure.remedy
    return {"failure_class": failure.failure_class, "remedy": remedy, "proof": failure.proof}


def _said(failure: Mapping[str, Any]) -> list[str]:
    words = [str(failure[key]) for key in ("failure_class", "proof") if failure.get(key)]
    return [*words, f"remedy: {failure['remedy']}"] if failure.get("remedy") else words


class HandedCondition(JobCondition):
    """The job of a run of onbox, as the run's own records name it: it only tells what speaks against the run, or of a
    run on another disk also that it is done. The run's records are waited for by a condition of their own, `run`.

    endpoint_of: from an engine's name and what the run's records say of it to where it answers; None: not known here.
    """

    kind = "handed"

    def __init__(
        self,
        target: Target,
        run: RunCondition,
        arming: Arming,
        endpoint_of: Callable[[str, Mapping[str, str]], Endpoint | None],
    ) -> None:
        super().__init__(target, Asked(Endpoint("", ""), ""), arming)
        self.run, self._endpoint_of = run, endpoint_of
        self._apart, self._against = False, ("", 0)
        self._job: KnownJob | None = None

    @property
    def wants_log(self) -> bool:
        return False

    def wants(self) -> Asked | None:
        parts = self.run.parts
        if parts is None or not parts.get("head"):
            return None
        try:
            settings = parse_head(parts["head"]).data.get("backend")
        except DamagedRunfile:
            return None
        engine = str(settings.get("name")) if isinstance(settings, dict) else ""
        if engine not in CLUSTERS or not isinstance(settings, dict):
            return None
        self._apart = is_apart(settings)
        self._job = replay_jobs(parse_events(parts.get("journal", b"").splitlines(keepends=True))).of.get(WHOLE)
        frozen = {key: value for key, value in settings.items() if isinstance(value, str)}
        endpoint = self._endpoint_of(engine, frozen)
        if endpoint is None or self._job is None or self._job.job_id is None or self._job.ended is not None:
            return None
        if self.asked != (asked := Asked(endpoint, self._job.job_id)):
            self.asked, self._against = asked, ("", 0)
        return self.asked

    def hear(self, found: ClusterLook | NoLook, now: float) -> WaitFinding | None:  # noqa: ARG002 - asked as any other
        if isinstance(found, NoLook):
            self.tell(could_not_look(self.asked.endpoint.engine, found), warn=True)
            return None
        told = found.jobs.get(self.asked.job_id)
        if told is None or self._job is None or self.run.parts is None:
            return None
        verdict = weigh(self._job, word_of(self._job, {self.asked.job_id: told.word}), self._disk(), apart=self._apart)
        self.tell(safe_line(verdict.text, 200))
        outcome = _OF_VERDICT.get(verdict.state)
        if outcome is None or (outcome is Outcome.LANDED and verdict.rule != "done-elsewhere"):
            self._against = ("", 0)
            return None
        times = self._against[1] + 1 if self._against[0] == verdict.rule else 1
        self._against = (verdict.rule, times)
        if times < LOOKS_TO_BELIEVE and outcome is not Outcome.LANDED:
            return None  # its records may be on their way: a stop or a failure is told better by them
        detail = failure_facts(self.asked.endpoint.engine, told) if outcome is not Outcome.LANDED else {}
        say = f"{verdict.text}{''.join(f' · {text}' for text in _said(detail))}"
        return self._found(outcome, say, told.ended_at, rule=verdict.rule, job_id=self.asked.job_id, **detail)

    def _disk(self) -> StageState:
        facts = facts_of(self.run.parts or {})
        return state_on_disk(
            done=facts.done is not None,
            alive="alive" in (facts.runner, facts.stage),
            failed=facts.ended is not None,
            interrupted=facts.last is not None and facts.last["event"] == Event.CHAIN_INTERRUPTED,
        )


_OF_VERDICT = {
    StageState.DONE: Outcome.LANDED,
    StageState.FAILED: Outcome.FAILED,
    StageState.INTERRUPTED: Outcome.STOPPED,
}
