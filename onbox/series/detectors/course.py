"""What a detector looks at, and what it says. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple
from onbox.series.point import finite

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onbox.model.detect import DetectSettings
    from onbox.series.point import Point

BASELINE = 20  # readings that a value is compared with
SPREAD_OF_MAD = 1.4826  # the standard deviation of what is normally distributed, from its median deviation


class LossPair(NamedTuple):
    """The loss of one step of the log, in the attempt before and in this one."""

    step: float
    before: float
    now: float


class Detection(NamedTuple):
    """proof: figures, steps and times, for people. at, step: of the point that shows it first. baseline: what was
    compared with, so that an episode that lasts is not taken for the usual; None: nothing.
    """

    proof: str
    at: float
    step: float | None = None
    baseline: float | None = None


class Course(NamedTuple):
    """points: of one stage, oldest first, the newest of them now: of this attempt and, where it goes on from what the
    attempts before left (resumed), of those too. pairs: of the steps that both this attempt and the one before showed.
    """

    points: Sequence[Point]
    limits: DetectSettings
    pairs: Sequence[LossPair] = ()
    resumed: bool = False

    @property
    def newest(self) -> Point:
        return self.points[-1]

    @property
    def attempt(self) -> list[Point]:
        """The points of the newest attempt."""
        number = self.newest.attempt
        return [point for point in self.points if point.attempt == number]


class SeriesReading(NamedTuple):
    """One value that the log showed, and where."""

    at: float
    step: float | None
    value: float


def readings(points: Sequence[Point], name: str) -> list[SeriesReading]:
    """The finite values of a column."""
    return [
        SeriesReading(point.at, point.step, value)
        for point in points
        if (value := finite(getattr(point, name))) is not None
    ]


def median(values: Iterable[float]) -> float:
    """The middle one. Own lines, as `statistics` would cost the runner two megabytes."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def usual(values: Sequence[float]) -> tuple[float, float]:
    """Median, and how far values are spread about it (as a standard deviation)."""
    middle = median(values)
    return middle, SPREAD_OF_MAD * median(abs(value - middle) for value in values)


def at_step(reading: SeriesReading | Point) -> str:
    """` at step 4600`; "" where the log shows none."""
    return "" if reading.step is None else f" at step {reading.step:.12g}"


def over(count: int, first_at: float, last_at: float) -> str:
    """`for 10 readings (4m30s)`."""
    return f"for {count} readings ({format_duration(max(0.0, last_at - first_at))})"
