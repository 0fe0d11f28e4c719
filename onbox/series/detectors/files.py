"""Checkpoints that are not completed any more, too few of them, and a log that lags behind. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.model.units import counted, format_duration
from onbox.series.detectors.course import Detection, at_step, median

if TYPE_CHECKING:
    from onbox.series.detectors.course import Course
    from onbox.series.point import Point

LEAST_GAPS = 2  # between complete checkpoints, before one can be late
BLOCK_BYTES = 4096  # of a C library's or Python's buffer; larger ones are multiples
EMPTY_FACTOR = 3  # a program may say nothing at all


def checkpoints_late(course: Course, _: Detection | None) -> Detection | None:
    """No complete checkpoint for several of the run's own intervals, while its steps go on."""
    looked = _looked(course)
    if not looked:
        return None
    points = [point for point in course.attempt if point.at <= looked[-1].at]
    saved = _saved(course)
    gaps = [later.at - earlier.at for earlier, later in pairwise(saved) if earlier.attempt == later.attempt]
    if len(gaps) < LEAST_GAPS or not saved:
        return None
    last, interval = saved[-1], median(gaps)
    moved = [point for point in points if point.steps_per_second is not None]
    since = max(last.at, points[0].at)
    if not moved or moved[-1].at - since <= course.limits.checkpoint_intervals * interval:
        return None
    if not _has_made_the_steps(course, saved, moved[-1]):
        return None
    age = moved[-1].at - since
    proof = (
        f"no complete checkpoint for {format_duration(age)}, {age / interval:.1f} of its intervals of"
        f" {format_duration(interval)}; the newest complete one is of step {last.checkpoint_step},"
        f" the run is{at_step(moved[-1])}"
    )
    return Detection(proof, moved[-1].at, moved[-1].step)


def _looked(course: Course) -> list[Point]:
    """The points of the attempt with which checkpoints were looked at."""
    return [point for point in course.attempt if point.checkpoints is not None]


def _saved(course: Course) -> list[Point]:
    """The first point of each complete checkpoint, with the time at which it was written."""
    found: list[Point] = []
    for point in course.points:
        before = found[-1].checkpoint_step if found else None
        if point.checkpoint_at is not None and point.checkpoint_step not in (None, before):
            found.append(point._replace(at=point.checkpoint_at))
    return found


def _has_made_the_steps(course: Course, saved: list[Point], newest: Point) -> bool:
    """An evaluation of hours is no checkpoint that is late: the steps of several intervals must have been made."""
    steps = [
        later.step - earlier.step
        for earlier, later in pairwise(saved)
        if earlier.step is not None and later.step is not None and later.step > earlier.step
    ]
    start = max(saved[-1].step or 0.0, course.attempt[0].step or 0.0)
    if not steps or newest.step is None:
        return True
    return newest.step - start > (course.limits.checkpoint_intervals - 1) * median(steps)


def checkpoints_few(course: Course, _: Detection | None) -> Detection | None:
    """Fewer complete checkpoints are left than a rollback wants, though there were as many."""
    looked = _looked(course)
    wanted, left = course.limits.rollback_depth, looked[-1].checkpoints if looked else None
    most = max((point.checkpoints or 0 for point in course.points), default=0)
    if not wanted or left is None or left >= wanted or most < wanted:
        return None
    proof = (
        f"{counted(left, 'complete checkpoint')} left, where {wanted} are wanted for a rollback and {most} were there"
    )
    return Detection(proof, course.newest.at, course.newest.step)


def output_buffered(course: Course, _: Detection | None) -> Detection | None:
    """Artifacts are young and the log is old, and it ends where a buffer of the program was full."""
    newest, limit = course.newest, course.limits.buffered_after_seconds
    if newest.artifact_at is None or newest.log_at is None or newest.log_bytes is None:
        return None
    behind = newest.artifact_at - newest.log_at
    if newest.log_bytes % BLOCK_BYTES or behind <= limit * (1 if newest.log_bytes else EMPTY_FACTOR):
        return None
    where = f"ends at {newest.log_bytes} bytes, a full buffer" if newest.log_bytes else "is empty"
    proof = f"its artifacts were written {format_duration(behind)} after the last line of its log, which {where}"
    return Detection(proof, newest.at, newest.step)
