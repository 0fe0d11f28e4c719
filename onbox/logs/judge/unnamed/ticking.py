"""A time that leads each of the last lines and goes on evenly: `[ 7s ] eps: 638.46  lat: 41.10`. Pure.

Tools that measure for a while report after each second or so, and show nothing else that counts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.judge.unnamed.rising import LINES, LINES_BEHIND
from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

TICKS = 4
FEW_TICKS = 3  # while they go on
_TICK = lazy(
    r"(?:\[ {0,6}|(?:progress|elapsed|time|after|t)[:=]? {1,6})(?P<now>\d{1,7}(?:\.\d{1,3})?) ?(?:s|secs?|seconds)"
    r"(?: ?\])?(?P<sign>[,:;|\s])(?P<rest>.*)",
)
_FIGURES = lazy(r"\d+(?:\.\d+)?")
FIGURES = 2  # that are measured beside it


class _Tick(NamedTuple):
    """at: how many lines there are up to it. figures: the numbers behind its time."""

    at: int
    now: float
    figures: tuple[str, ...]


def ticking(lines: Sequence[str]) -> float | None:
    """The seconds that the newest report tells; None where the last lines are no such reports."""
    told = [tick for at in range(max(0, len(lines) - LINES), len(lines)) if (tick := _tick(at + 1, lines[at]))]
    told = told[-2 * TICKS :]
    goes_on = bool(told) and told[-1].at == len(lines)
    if len(told) < (FEW_TICKS if goes_on else TICKS) or len(lines) - told[-1].at > 2 * LINES_BEHIND:
        return None
    steps = {round(after.now - before.now, 3) for before, after in pairwise(told)}
    stride = steps.pop()
    if steps or stride <= 0 or len({tick.figures for tick in told}) < len(told):
        return None
    return told[-1].now


def _tick(at: int, line: str) -> _Tick | None:
    found = _TICK.match(message(line).text)
    figures = tuple(_FIGURES.findall(found["rest"])) if found else ()
    return _Tick(at, float(found["now"]), figures) if found and len(figures) >= FIGURES else None
