"""The time that a run still needs: by its runner's pace, else by that of our ticks, else as its log tells it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import observed
from onbox.model.pace import with_eta
from patrol.liveness import Presence, presence_of
from patrol.memory.update_history import attempt_id

if TYPE_CHECKING:
    from onbox.contract.progress import Progress
    from onbox.contract.readings import Maybe
    from patrol.memory.history import Before
    from patrol.snapshot import RunLook

TICKS = 5  # of the newest steps in memory: what it does now, not what it did yesterday
LEAST_SECONDS = 20.0  # looks that a person makes one after the other say nothing: a log grows in pieces


def with_time_left(look: RunLook, before: Before, now: float) -> RunLook:
    """The look with the time that its progress needs to its end; none for what is dead or done."""
    progress = observed(look.progress)
    if progress is None:
        return look
    moves = presence_of(look) is not Presence.GONE and observed(look.outcome) is None and observed(look.done) is None
    if observed(look.cells) is not None:  # its runner knows how many cells run at once: one number, wherever it is read
        return look if moves else look._replace(progress=progress._replace(eta_seconds=None))
    pace = observed(look.steps_per_second) or _pace_of_ticks(before, look, progress, now)
    age = observed(look.stage_began_age_seconds)
    told: Maybe[Progress] = with_eta(progress, pace, moves=moves, attempt_seconds=age)
    return look._replace(progress=told)


def _pace_of_ticks(before: Before, look: RunLook, progress: Progress, now: float) -> float | None:
    """Of this very attempt: nothing is subtracted across attempts and stages."""
    if progress.current is None or not before.steps or before.attempt != attempt_id(look):
        return None
    at, current = before.steps[-TICKS:][0]
    seconds, steps = now - at, progress.current - current
    return steps / seconds if seconds >= LEAST_SECONDS and steps > 0 else None
