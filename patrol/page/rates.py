"""How fast a counter moved between the looks at it. Pure."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

STILL = 3.0  # so often the usual time between two moves a counter may stand
Counted = tuple[int, "float | None"]  # at, the counter


def rates_of(points: Sequence[Counted]) -> list[float | None]:
    """Counts per second since the counter moved last. Looks may come faster than it moves: then the rate is still that
    of its last move, until it has not moved for much longer than it usually takes. None where it began anew or was
    not seen.
    """
    moves = _moves(points)
    usual = median([seconds for _, seconds in moves if seconds]) if any(seconds for _, seconds in moves) else 0.0
    rates: list[float | None] = []
    moved_at, rate = None, None
    for (at, current), (steps, seconds) in zip(points, moves, strict=True):
        if current is None or steps is None:
            rate, moved_at = None, at
        elif seconds:
            rate, moved_at = steps / seconds, at
        elif moved_at is not None and at - moved_at > STILL * usual:
            rate = 0.0
        rates.append(rate)
    return rates


def _moves(points: Sequence[Counted]) -> list[tuple[float | None, float]]:
    """Of each point: by how much the counter is ahead of where it was (None: it began anew, or is not known), and since
    how many seconds; 0 seconds: it stands.
    """
    found: list[tuple[float | None, float]] = []
    last: tuple[float, int] | None = None  # where the counter was, and since when
    for at, current in points:
        if current is None or last is None or current < last[0]:
            found.append((None, 0.0))
            last = (current, at) if current is not None else None
        elif current > last[0] and at > last[1]:
            found.append((current - last[0], float(at - last[1])))
            last = (current, at)
        else:
            found.append((0.0, 0.0))
    return found
