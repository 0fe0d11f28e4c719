"""A column of a series as one line of small bars. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 40


def sparkline(values: Sequence[float], width: int = WIDTH) -> str:
    """The finite values from left to right, several in one bar as their mean; all bars low where they are all equal."""
    means = [sum(part) / len(part) for part in _parts(values, width)]
    if not means:
        return ""
    low, high = min(means), max(means)
    steps = (high - low) / (len(BARS) - 1)
    return "".join(BARS[round((mean - low) / steps) if steps else 0] for mean in means)


def _parts(values: Sequence[float], width: int) -> list[Sequence[float]]:
    count = min(width, len(values))
    edges = [index * len(values) // count for index in range(count + 1)] if count else [0]
    return [values[begin:end] for begin, end in pairwise(edges)]
