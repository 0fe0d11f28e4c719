"""How fast a counter moves, and when it will be at its end: by readings of our own, not by a log's word. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.progress import Progress

READINGS = 20
LEAST_SECONDS = 2.0  # a log grows in pieces: two readings that are closer say nothing of the pace
MUCH_TOO_SOON = 0.25  # of the time that the whole attempt's pace allows at best


class PaceReading(NamedTuple):
    """at: seconds of a clock that nobody sets. current: of the counter then."""

    at: float
    current: float


def with_reading(readings: Sequence[PaceReading], new: PaceReading) -> tuple[PaceReading, ...]:
    """The newest readings of one counter; one that went back is another counter, or begins anew."""
    if readings and new.current < readings[-1].current:
        readings = ()
    return (*readings[1 - READINGS :], new)


def pace_of(readings: Sequence[PaceReading]) -> float | None:
    """Steps per second over the readings; None where they do not tell it: fewer than two, too close, no step between.

    Counted from the first reading on: what a resumed program passes over before it is not its pace.
    """
    if len(readings) < 2:
        return None
    seconds, steps = readings[-1].at - readings[0].at, readings[-1].current - readings[0].current
    return steps / seconds if seconds >= LEAST_SECONDS and steps > 0 else None


def with_eta(progress: Progress, pace: float | None, *, moves: bool, attempt_seconds: float | None = None) -> Progress:
    """The progress with the time that is left: by our own pace; else as the log tells it, where that can be; none for
    what does not move any more, or is at its end.

    pace: steps per second of this very counter; None: not known yet. attempt_seconds: since the attempt began.
    """
    left = _left(progress)
    if not moves or progress.finished or (left is not None and left <= 0):
        return progress._replace(eta_seconds=None)
    if pace is not None and pace > 0 and left is not None:
        return progress._replace(eta_seconds=left / pace)
    if _is_sane(progress, left, attempt_seconds):
        return progress
    return progress._replace(eta_seconds=None)


def _left(progress: Progress) -> float | None:
    if progress.current is None or progress.exact_max is None or not math.isfinite(progress.current):
        return None
    return progress.exact_max - progress.current


def _is_sane(progress: Progress, left: float | None, attempt_seconds: float | None) -> bool:
    """A bar that went on at a high number takes the steps before it for its own: its eta is then far too short."""
    told = progress.eta_seconds
    if told is None or not math.isfinite(told) or told <= 0:
        return False
    if left is None or not progress.current or attempt_seconds is None or attempt_seconds <= 0:
        return True
    at_best = left * attempt_seconds / progress.current
    return told >= MUCH_TOO_SOON * at_best
