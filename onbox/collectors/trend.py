"""When something runs out, if it goes on as it did lately. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WINDOW_SECONDS = 3600.0
MIN_SPAN_SECONDS = 60.0
MIN_POINTS = 3
HORIZON_SECONDS = 7 * 86400.0
FORESIGHT_SPANS = 48  # times what was looked at: two minutes foretell an hour and a half, an hour two days
LONE_STEP_SHARE = 0.7  # of the whole fall, in one step: something was written once, which foretells nothing


def seconds_until_empty(
    points: Sequence[tuple[float, float]], *, window_seconds: float = WINDOW_SECONDS
) -> float | None:
    """Seconds until a free amount reaches 0, from the straight line through the last hour (least squares).

    points: (at_seconds, free), in order of time. window_seconds: how far to look back. None: it does not shrink, too
    little was seen (fewer than 3 points or less than a minute), it wanders more than it falls, it comes back to where
    it was (checkpoints written and pruned), it fell in one lone step (a file was copied), or it is more than a week
    away, or too far for the short time that was looked at.
    """
    if not points:
        return None
    at, free = points[-1]
    recent = [point for point in points if point[0] >= at - window_seconds]
    if len(recent) < MIN_POINTS or at - recent[0][0] < MIN_SPAN_SECONDS:
        return None
    slope, scatter = _line(recent)
    if slope >= 0 or not _sinks(recent) or _is_lone_step(recent) or -slope * (at - recent[0][0]) < 2 * scatter:
        return None
    left = free / -slope
    return left if left <= min(HORIZON_SECONDS, FORESIGHT_SPANS * (at - recent[0][0])) else None


def _sinks(points: Sequence[tuple[float, float]]) -> bool:
    """Whether both the highest and the lowest of the later half are below those of the earlier half."""
    middle = (points[0][0] + points[-1][0]) / 2
    early = [free for at, free in points if at < middle]
    late = [free for at, free in points if at >= middle]
    return bool(early) and max(late) < max(early) and min(late) < min(early)


def _is_lone_step(points: Sequence[tuple[float, float]]) -> bool:
    falls = [before[1] - after[1] for before, after in pairwise(points)]
    return max(falls) > LONE_STEP_SHARE * sum(fall for fall in falls if fall > 0)


def _line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Slope per second of the best line, and the mean distance of the points from it."""
    count = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
    scatter = sum(abs(y - mean_y - slope * (x - mean_x)) for x, y in points) / count
    return slope, scatter
