"""Slower than it was. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.series.detectors.course import Detection, at_step, median, over

if TYPE_CHECKING:
    from onbox.series.detectors.course import Course
    from onbox.series.point import Point

LEAST_LAPS = 10  # that tell how fast it usually is
CALM = 3  # laps in a row at its usual speed end an episode


def slow(course: Course, before: Detection | None) -> Detection | None:
    """The last readings, but for one among them, are below the attempt's own median speed: a pause for a checkpoint or
    an evaluation makes one slow reading, not several.
    """
    limits, laps = course.limits, _laps(course)
    last, earlier = laps[-limits.slow_readings - 1 :], laps[: -limits.slow_readings - 1]
    baseline = before.baseline if before else None
    if baseline is None:
        if len(earlier) < LEAST_LAPS:
            return None
        baseline = median(_pace(lap) for lap in earlier)
    floor = baseline * (1 - limits.slow_percent / 100)
    if before is not None:
        return None if len(laps) >= CALM and all(_pace(lap) >= floor for lap in laps[-CALM:]) else before
    low = [lap for lap in last if _pace(lap) < floor]
    if len(low) < limits.slow_readings:
        return None
    now = median(_pace(lap) for lap in low)
    less = 100 * (1 - now / baseline)
    span = over(len(low), low[0].at, low[-1].at)
    proof = f"{now:.3g} steps/s, {less:.0f}% below its own median of {baseline:.3g}, {span}{at_step(low[0])}"
    return Detection(proof, low[0].at, low[0].step, baseline)


def _laps(course: Course) -> list[Point]:
    """Those points of the attempt in which its counter moved."""
    unit = course.newest.unit
    return [point for point in course.attempt if point.steps_per_second and point.unit == unit]


def _pace(point: Point) -> float:
    return point.steps_per_second or 0.0
