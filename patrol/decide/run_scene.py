"""What the rules of a run are asked about: the look at it, its box, and what is remembered of both. Pure."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen, observed
from onbox.named_tuple import NamedTuple
from onbox.runs.journal import whole_seconds
from onbox.runs.unseen_end import late_after
from onbox.triage.repeats import AttemptEnd, Repeated, repeated
from patrol.decide.box_scene import BoxScene, finite
from patrol.decide.tracker_view import fresh_age
from patrol.liveness import Presence, presence_of
from patrol.memory.update_history import applicable, attempt_id, losses_now, rate_now

if TYPE_CHECKING:
    from patrol.memory.history import Before
    from patrol.snapshot import Failure, RunLook, Scheduler

SHORT_SECONDS = 5.0


class RunScene(BoxScene):
    """A look at one run, and its memory; that of an earlier run of the same name is not its own."""

    def __init__(self, scene: BoxScene, look: RunLook, before_all: Before, ill_rules: frozenset[str]) -> None:
        super().__init__(scene.box, scene.box_before, scene.now, scene.limits, scene.way)
        self.look, self.before_all, self.ill_rules = look, before_all, ill_rules

    @cached_property
    def before(self) -> Before:
        return applicable(self.before_all, self.look)

    @cached_property
    def replaced(self) -> bool:
        run_id = observed(self.look.run_id)
        return None not in (run_id, self.before_all.run_id) and run_id != self.before_all.run_id

    @cached_property
    def presence(self) -> Presence:
        return presence_of(self.look)

    @property
    def alive(self) -> bool:
        return self.presence in (Presence.ALIVE, Presence.ORPHAN)

    @property
    def gone(self) -> bool:
        return self.presence is Presence.GONE

    @cached_property
    def outcome(self) -> str | None:
        return observed(self.look.outcome)

    @cached_property
    def engine(self) -> Scheduler | None:
        """The engine's word; None for a run that is with none, or whose engine could not be asked."""
        return observed(self.look.scheduler)

    @cached_property
    def failure(self) -> Failure | None:
        return observed(self.look.failure)

    @cached_property
    def gone_looks(self) -> int:
        """How often in a row, this look included, neither process nor proof of an end was seen."""
        return self.before.gone_ticks + 1 if self.gone else 0

    @cached_property
    def stall_seconds(self) -> float:
        return observed(self.look.stall_after_seconds) or self.limits.stall_after_seconds

    @cached_property
    def signal_ages(self) -> dict[str, float]:
        """Age in seconds of every sign of progress that was seen, by the box's clock."""
        log, artifacts = observed(self.look.log), observed(self.look.artifacts)
        newest = observed(artifacts.newest_age_seconds) if artifacts else None
        found = {"log": log.written_age_seconds if log else None, "artifacts": newest}
        found["tracker"] = fresh_age(self)  # it can confirm progress, and never proves that there is none
        return {name: max(0.0, finite(age)) for name, age in found.items() if age is not None}

    @cached_property
    def unseen_signals(self) -> tuple[str, ...]:
        """Signs of progress that could not be looked at: without them nothing is proven to be old."""
        found = {"log": self.look.log, "artifacts": self.look.artifacts}
        artifacts = observed(self.look.artifacts)
        if artifacts is not None:
            found["artifacts"] = artifacts.newest_age_seconds  # type: ignore[assignment]
        return tuple(name for name, reading in found.items() if isinstance(reading, Unseen))

    @cached_property
    def attempt_age_seconds(self) -> float | None:
        return observed(self.look.stage_began_age_seconds)

    @cached_property
    def all_signals_old(self) -> bool:
        """At least one was seen, none is unseen, and each is older than `stall_after`; nor is the attempt younger."""
        young = self.attempt_age_seconds is not None and self.attempt_age_seconds <= self.stall_seconds
        ages = self.signal_ages
        return bool(ages) and not self.unseen_signals and not young and min(ages.values()) > self.stall_seconds

    @cached_property
    def heartbeat_limit_seconds(self) -> float:
        return late_after(self.look.heartbeat_every_seconds, self.limits.cadences_count)

    @cached_property
    def heartbeat_age(self) -> float | None:
        return observed(self.look.heartbeat_age_seconds)

    @cached_property
    def heartbeat_stale(self) -> bool:
        return self.heartbeat_age is not None and self.heartbeat_age > self.heartbeat_limit_seconds

    @cached_property
    def rates(self) -> tuple[float, ...]:
        """Steps per second between ticks, the newest last."""
        rate = rate_now(self.before, self.look, self.box, self.now)
        return self.before.rates if rate is None else (*self.before.rates, rate)

    @cached_property
    def steps_go_on(self) -> bool:
        """Whether its counter is beyond the newest one in memory, of the same attempt."""
        progress, steps = observed(self.look.progress), self.before.steps
        current = progress.current if progress else None
        return bool(steps) and current is not None and current > steps[-1][1]

    @cached_property
    def losses(self) -> tuple[float, ...]:
        """At the ticks, the newest last."""
        return losses_now(self.before, self.look, self.now)

    @cached_property
    def gpu_percents(self) -> tuple[int, ...]:
        """Of the busiest GPU at the last ticks, this one last; () where it was not seen now."""
        return () if self.gpu_percent is None else (*self.before.gpu_percents, self.gpu_percent)

    def found(self, detector: str) -> str | None:
        """What the box's own detector of that name proves; "": it finds nothing; None: it did not look."""
        told = self.look.detected
        if isinstance(told, Absent | Unseen):
            return None
        return next((one.proof for one in told if one.detector == detector), "")

    @cached_property
    def loss_is_lost(self) -> bool:
        progress = observed(self.look.progress)
        loss = progress.loss if progress else None
        if isinstance(loss, str):
            return loss.strip().lower().lstrip("+-") in ("nan", "inf", "infinity")
        return loss is not None and not math.isfinite(loss)

    @cached_property
    def stop_reached(self) -> str:
        """Which part of `stop_at` is reached, in words; "" for none. What was not seen reaches nothing."""
        stop, progress = self.look.stop_at, observed(self.look.progress)
        if stop is None:
            return ""
        current, loss = (progress.current, progress.loss) if progress else (None, None)
        if stop.step is not None and current is not None and current >= stop.step:
            return f"step {current:.12g} of {stop.step:.12g}"
        if stop.loss is not None and isinstance(loss, int | float) and loss <= stop.loss:
            return f"loss {loss:.4g}, wanted {stop.loss:.4g}"
        if stop.at is not None and self.now >= stop.at:
            return "its time has come"
        return ""

    @cached_property
    def repeated(self) -> Repeated:
        """How often the newest end came, this one included: by the run's own journal, or by what earlier ticks saw."""
        return max(self._repeated_in_memory, self._repeated_in_journal, key=lambda one: one.times)

    @property
    def _repeated_in_memory(self) -> Repeated:
        if self.failure is None or not self.failure.signature:
            return Repeated(0)
        own = attempt_id(self.look)
        others = {attempt for signature, attempt in self.before.signatures if signature == self.failure.signature}
        return Repeated(len(others | {own}))

    @property
    def _repeated_in_journal(self) -> Repeated:
        ends, attempt = self.look.ends, observed(self.look.attempt)
        stage = observed(self.look.stage) or ""
        told = any((end.stage, end.attempt) == (stage, attempt) for end in ends[-1:])
        if told or not self.gone or not self.look.managed or self.outcome is not None:
            return repeated(ends, self.look.same_step)
        progress = observed(self.look.progress)  # killed together with its runner: nobody wrote this end down yet
        last = AttemptEnd(stage, attempt, step=progress.current if progress else None)
        return repeated((*ends, last), self.look.same_step)

    @cached_property
    def fast_finish(self) -> Timed | None:
        """Of what has finished much sooner than expected, the one that did so the most."""
        share = self.limits.fast_finish_percent / 100
        fast = [one for one in self._finished if one.seconds < share * one.expected]
        return min(fast, key=lambda one: one.seconds / one.expected, default=None)

    @cached_property
    def overdue(self) -> Timed | None:
        """What takes much longer than declared: the current stage, or the whole run."""
        first = observed(self.look.stage_first_began_age_seconds)
        ages = (
            (self._what, first if first is not None else self.attempt_age_seconds, self.look.expected_seconds),
            ("the whole run", observed(self.look.began_age_seconds), self.look.whole_expected_seconds),
        )
        timed = [Timed(what, age, limit) for what, age, one in ages if age is not None and (limit := observed(one))]
        factor = self.limits.overdue_percent / 100
        return next((one for one in timed if one.seconds > factor * one.expected), None)

    @property
    def _what(self) -> str:
        return f"stage {observed(self.look.stage)}" if observed(self.look.stage) else "it"

    @cached_property
    def _finished(self) -> list[Timed]:
        """What has finished and is expected to take some time, by declaration or by its own history."""
        look = self.look
        found = [(f"stage {one.stage}", one.stage, one.seconds, one.expected_seconds) for one in look.finished]
        ended = observed(look.ended_age_seconds)
        if observed(look.done) is not None and ended is not None:
            began = self.attempt_age_seconds
            if not look.managed and began is not None:
                found.append(("it", "", began - ended, observed(look.expected_seconds)))
            whole = whole_seconds(look.stage_results, look.stages_total, look.took_seconds)
            if whole is not None and (expected := observed(look.whole_expected_seconds)):
                found.append(("the whole run", "", whole, expected))
        timed = [(what, took, declared or self._usual_seconds(stage)) for what, stage, took, declared in found]
        return [Timed(what, max(0.0, took), expected) for what, took, expected in timed if expected]

    def _usual_seconds(self, stage: str) -> float | None:
        """The median of earlier runs; None for what is over in no time: that varies by itself."""
        own = observed(self.look.run_id) or ""
        keys = [(key.partition("@"), took) for key, took in self.before_all.durations]
        past = sorted(took for (name, _, run_id), took in keys if name == stage and run_id != own)
        return past[len(past) // 2] if past and past[len(past) // 2] >= SHORT_SECONDS else None

    @cached_property
    def was_ill(self) -> list[bool]:
        """Whether the last ticks' rules spoke of something ill, oldest first."""
        return [rule in self.ill_rules for rule in self.before.rules]


class Timed(NamedTuple):
    """How long something took, or has taken so far, and how long it should."""

    what: str
    seconds: float
    expected: float
