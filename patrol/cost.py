"""What a rented box costs: spent so far, and what it costs while nothing runs there. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Maybe, Unseen, observed
from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.model.boxes import Billing
    from patrol.snapshot import BoxLook, RunLook

ENDED = ("chain_done", "chain_failed", "chain_stopped", "chain_interrupted", "gate_refused")


class Cost(NamedTuple):
    """spent: since the box was rented; Absent: nobody has said since when. idle_seconds: since its last run ended;
    Absent: something runs there, or nothing ever did; Unseen: it could not be looked at. All amounts in
    `billing.price.currency`.
    """

    billing: Billing
    spent: Maybe[float]
    idle_seconds: Maybe[float]

    @property
    def idle(self) -> Maybe[float]:
        """What the time since its last run cost."""
        seconds = self.idle_seconds
        return seconds if isinstance(seconds, Absent | Unseen) else self.billing.price.of(seconds)

    @property
    def over_budget(self) -> bool:
        spent, limit = observed(self.spent), self.billing.budget
        return spent is not None and limit is not None and spent >= limit

    @property
    def idle_over_budget(self) -> bool:
        idle, limit = observed(self.idle), self.billing.idle_budget
        return idle is not None and limit is not None and idle >= limit


def cost_of(box: BoxLook, now: float) -> Cost | None:
    """None: no price is known. now: local time."""
    if box.billing is None:
        return None
    started = box.billing.started_at
    spent: Maybe[float] = Absent("nobody has said since when it is rented")
    if started is not None:
        spent = box.billing.price.of(max(0.0, now - started))
    return Cost(box.billing, spent, idle_seconds_of(box.runs))


def idle_seconds_of(runs: Maybe[tuple[RunLook, ...]]) -> Maybe[float]:
    """Since the last of its runs ended. A run of which that is not known makes the whole not known."""
    if isinstance(runs, Absent | Unseen):
        return Unseen(runs.why)
    if not runs:
        return Absent("no run was ever seen there")
    ages = [_ended_age(run) for run in runs]
    unclear = next((age for age in ages if isinstance(age, Absent | Unseen)), None)
    return unclear if unclear is not None else min(age for age in ages if isinstance(age, float))


def _ended_age(run: RunLook) -> Maybe[float]:
    alive = [run.runner_alive, run.stage_alive]
    if True in alive:
        return Absent(f"{run.run} runs")
    if any(isinstance(one, Unseen) for one in alive):
        return Unseen(f"whether {run.run} lives could not be seen")
    age = observed(run.ended_age_seconds)
    if age is not None:
        return age
    log = observed(run.log)
    over = isinstance(run.done, str) or run.outcome in ENDED or not run.managed
    if log is not None and over:
        return log.written_age_seconds
    return Absent(f"when {run.run} ended is not known")


def cost_words(cost: Cost) -> str:
    """`61.30 USD · idle for 3h10m: 6.65 USD`; "" where neither is known."""
    spent = observed(cost.spent)
    words = [f"{spent:.2f} {cost.billing.price.currency}"] if spent is not None else []
    return " · ".join(filter(None, (*words, idle_words(cost))))


def idle_words(cost: Cost) -> str:
    """`idle for 3h10m: 6.65 USD`; "" where something runs, or that is not known."""
    idle, seconds = observed(cost.idle), observed(cost.idle_seconds)
    if idle is None or seconds is None:
        return ""
    return f"idle for {format_duration(seconds)}: {idle:.2f} {cost.billing.price.currency}"
