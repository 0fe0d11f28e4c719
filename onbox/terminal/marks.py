"""Small pictures made of letters: a bar, a line of values. Pure."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HEIGHTS = "▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉"
WIDTH = 40
FULL, EMPTY = "█", "░"


def bar(share: float | None, width: int) -> str:
    """`██████▌░░░`. Full at 1 only, empty at 0 only; "" where the share is not known."""
    if share is None or not math.isfinite(share):
        return ""
    eighths = int(min(max(share, 0.0), 1.0) * width * 8)
    if share > 0 and eighths == 0:
        eighths = 1
    full, rest = divmod(eighths, 8)
    text = FULL * full + (EIGHTHS[rest] if rest else "")
    return text + EMPTY * (width - len(text))


def sparkline(values: Sequence[float | None], width: int = WIDTH) -> str:
    """The values from left to right in at most so many letters, each the mean of its share of them; a gap where none of
    them is known; all low where they are all equal.
    """
    if not any(value is not None and math.isfinite(value) for value in values):
        return ""
    count = min(width, len(values))
    edges = [number * len(values) // count for number in range(count + 1)]
    means = [_mean(values[start:end]) for start, end in pairwise(edges)]
    low = min(mean for mean in means if mean is not None)
    high = max(mean for mean in means if mean is not None)
    return "".join(_height(mean, low, high) for mean in means)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None and math.isfinite(value)]
    return math.fsum(known) / len(known) if known else None


def _height(mean: float | None, low: float, high: float) -> str:
    if mean is None:
        return " "
    share = (mean - low) / (high - low) if high > low else 0.0
    return HEIGHTS[round(share * (len(HEIGHTS) - 1))]
