"""Bars that are drawn one after the other, each with a name of its own, in the steps of a bar around them. Pure.

`datasets: 2/6` around `cifar seeds: 5/5`, `svhn seeds: 5/5`: each is begun once only, so none of them shows alone that
it is inside.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onbox.logs.counter import Counter

STEPS = 2  # of the bar around


def as_one(counters: list[Counter]) -> list[Counter]:
    """The counters, where such bars are one that has begun again each time."""
    bars = sorted((one for one in counters if one.rule == "tqdm" and one.kind != "outer"), key=lambda one: one.first)
    outer = next((bar for bar in bars if _is_around(bar, _behind(bar, bars))), None)
    if outer is None:
        return counters
    inside = _behind(outer, bars)
    times = len(inside) - 1
    one = inside[-1]._replace(first=inside[0].first, kind=outer.kind, resets=times, begun=times, repeats=times)
    return [*(counter for counter in counters if counter not in inside), one]


def _behind(bar: Counter, bars: list[Counter]) -> list[Counter]:
    return [other for other in bars if other.first > bar.first]


def _is_around(bar: Counter, inside: list[Counter]) -> bool:
    """Whether the bar has gone on once for each of those that are over."""
    if bar.maximum is None or bar.resets or bar.advances < STEPS or len(inside) - bar.advances not in (0, 1):
        return False
    over = inside[: bar.advances]
    in_turn = all(one.last < following.first for one, following in pairwise(inside))
    complete = all(one.maximum is not None and one.current == one.maximum and not one.resets for one in over)
    return in_turn and complete and over[-1].last <= bar.changed
