"""Since when a verdict holds: when it happened, by what the run itself shows; else when a look saw it first. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onbox.contract.readings import observed
from onbox.contract.states import RunState
from onbox.named_tuple import NamedTuple
from patrol.memory.history import Before

if TYPE_CHECKING:
    from patrol.decide.box_scene import LinkScene
    from patrol.decide.run_scene import RunScene
    from patrol.memory.history import BoxBefore

ENDED = (RunState.DONE, RunState.FAILED, RunState.STOPPED, RunState.INTERRUPTED)


class Since(NamedTuple):
    """at: local time. happened: whether it is when it happened; False: when it was first seen."""

    at: float
    happened: bool = False


def since_of_run(scene: RunScene, state: RunState | None, rule: str) -> Since:
    """By the end that is on record, else by the last sign of life, where the state is an end or a standstill."""
    age = _age(scene, state)
    return first_seen(scene.before, rule, scene.now) if age is None else Since(scene.now - age, happened=True)


def since_of_link(scene: LinkScene, rule: str) -> Since:
    """Of a box that does not answer, the first look that it did not answer; also of a run that was ill before."""
    first = scene.box_before.first_failure_at
    if rule == "unreachable":
        return Since(min(first, scene.now) if first is not None and scene.box_before.failures else scene.now)
    return first_seen(scene.before if scene.run else scene.box_before, rule, scene.now)


def first_seen(before: Before | BoxBefore, rule: str, now: float) -> Since:
    """When the rule began to hold. Looks that saw nothing of the run in between do not begin it anew. A time of the
    future is of a clock that was wrong.
    """
    if before.rule == rule and before.since is not None:
        return Since(min(before.since, now))
    if isinstance(before, Before) and before.known_rule == rule and before.known_since is not None:
        return Since(min(before.known_since, now))
    return Since(now)


def _age(scene: RunScene, state: RunState | None) -> float | None:
    look = scene.look
    ended = observed(look.ended_age_seconds) if state in ENDED else None
    if ended is not None and math.isfinite(ended) and ended >= 0:
        return ended
    stands_still = state is RunState.STALLED or state in ENDED or (state is RunState.UNKNOWN and scene.gone)
    if not stands_still or scene.unseen_signals:
        return None
    ages = list(scene.signal_ages.values())
    if scene.gone and scene.heartbeat_age is not None and math.isfinite(scene.heartbeat_age):
        ages.append(max(0.0, scene.heartbeat_age))
    return min(ages, default=None)
