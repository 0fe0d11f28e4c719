"""series.jsonl: read it, and keep as many points as are wanted of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.series.point import Point, parse_points
from onbox.system.files import read_tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LIMIT_BYTES = 256 << 10  # about 1,200 points: the newest hours at full resolution, a month at one point in 40 minutes
READ_LIMIT_BYTES = 4 << 20  # of a file that somebody else blew up, only the end is read


def read_points(path: str, stage: str | None = None) -> list[Point]:
    """The points of a run's series, oldest first: of one stage, or of all. Empty where there is no file.

    path: `RunPaths.series`. Raises OSError.
    """
    return points_of(read_tail(path, READ_LIMIT_BYTES) or b"", stage)


def points_of(text: bytes, stage: str | None = None) -> list[Point]:
    """The points in a series' bytes, wherever they were brought from."""
    return [point for point in parse_points(text.splitlines()) if stage is None or point.stage == stage]


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """At most so many of the points, spread over the whole span; first and last stay. For tables and plots."""
    if len(points) <= most or most < 2:
        return list(points[-most:] if most < 2 else points)
    step = (len(points) - 1) / (most - 1)
    return [points[round(index * step)] for index in range(most)]


def stages_of(points: Iterable[Point]) -> list[str]:
    """The stages that have points, in the order of their first."""
    return list(dict.fromkeys(point.stage for point in points))
