"""A line so small that it fits into a cell of the overview: an SVG path of at most so many points. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT, MARGIN = 96.0, 24.0, 2.0
POINTS = 48


class Sparkline(NamedTuple):
    """path: of an SVG of WIDTH by HEIGHT. end: of the line, for a dot."""

    path: str
    end: tuple[float, float]


def sparkline(values: Sequence[float | None]) -> Sparkline | None:
    """The finite numbers in their order; logarithmic where they fall by more than tenfold, as losses do. None: fewer
    than two are known.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    if len(known) < 2:
        return None
    step = max(1.0, (len(known) - 1) / (POINTS - 1))
    picked = [known[round(number * step)] for number in range(min(POINTS, len(known)))]
    low, high = min(picked), max(picked)
    if low > 0 and high > 10 * low:
        picked = [math.log(value) for value in picked]
        low, high = min(picked), max(picked)
    span = (high - low) or 1.0
    places = [
        (
            round(MARGIN + number / (len(picked) - 1) * (WIDTH - 2 * MARGIN), 1),
            round(HEIGHT - MARGIN - (value - low) / span * (HEIGHT - 2 * MARGIN), 1),
        )
        for number, value in enumerate(picked)
    ]
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in places)
    return Sparkline(path, places[-1])
