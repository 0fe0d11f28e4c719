"""Bars that are one, whose end is estimated anew in each look. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onbox.logs.counter import Counter

ESTIMATES = 3  # ends of one bar that goes on
NO_END = 1 << 30  # a bar that is drawn with another end each time: none that is told elsewhere is its own


def estimated_anew(counters: list[Counter]) -> list[Counter]:
    """The counters, where several bars without a name are one whose end is estimated anew in each look: the newest of
    them, without an end.
    """
    bars = [one for one in counters if one.rule == "tqdm" and one.key == f"bar:{one.unit}/{one.maximum}"]
    bars.sort(key=lambda one: one.first)
    goes_on = all(
        one.current < next_.current and (one.elapsed or 0) <= (next_.elapsed or 0) for one, next_ in pairwise(bars)
    )
    apart = len(bars) > 1 and all(one.current < next_.minimum for one, next_ in pairwise(bars))  # none began at 0
    if (
        (len(bars) < ESTIMATES and not apart)
        or not goes_on
        or any(one.resets or one.current >= (one.maximum or 0) for one in bars)
    ):
        return counters
    bars += [
        one
        for one in counters
        if one.rule == "tqdm-open" and one.current < bars[0].current and one.last < bars[0].first
    ]
    bars.sort(key=lambda one: one.first)
    return [*(one for one in counters if one not in bars), bars[-1]._replace(maximum=None, stretched=NO_END)]
