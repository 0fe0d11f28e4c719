"""Which number of a log's head is likely the end of what is counted, where no rule tells it.

Rules know phrases; there are more ways to write a head than phrases (`MCTS eval, 100 games vs baseline`, `ES: pop=64
gens=1500`). How strongly each word beside a number, and how it relates to the count, speaks for it or against it, was
learned from labelled logs: `weights.txt`, which `scripts/learn_totals.py` writes. An end that is made up is worse than
none, so one is taken only if it is clearly likely, and clearly more so than any other.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from onbox.logs.learned import read_weights
from onbox.logs.totals.features import features_of, is_count_itself, is_of_something_else
from onbox.logs.totals.head_numbers import numbers_of_head

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.logs.totals.features import Counted
    from onbox.logs.totals.head_numbers import HeadNumber

BIAS = "=bias"
WEIGHTS = os.path.join(os.path.dirname(__file__), "weights.txt")
# Log-odds: of the end itself, and how far the next one must be behind it.
CLEAR, APART = 1.5, 1.0


def likely_end(beginning: bytes, counted: Counted) -> int | None:
    """The number that is; None if none is clearly. beginning: the log's first bytes."""
    return clear_end(rank(numbers_of_head(beginning), counted, weights()))


def clear_end(ranked: Sequence[tuple[int, float]]) -> int | None:
    """The likeliest of them; None if it is not clearly likely. ranked: as `rank` gives them."""
    if not ranked or ranked[0][1] < CLEAR:
        return None
    return ranked[0][0] if len(ranked) == 1 or ranked[0][1] - ranked[1][1] >= APART else None


def rank(numbers: Sequence[HeadNumber], counted: Counted, table: Mapping[str, float]) -> list[tuple[int, float]]:
    """The numbers that can be the end, each once, with their log-odds, the likeliest first."""
    odds: dict[int, float] = {}
    for number in numbers:
        if can_be_end(number, counted) and not is_of_something_else(number, counted):
            told = table[BIAS] + sum(table.get(name, 0.0) for name in features_of(number, counted, numbers))
            odds[number.value] = max(told, odds.get(number.value, told))
    return sorted(odds.items(), key=lambda one: -one[1])


def can_be_end(number: HeadNumber, counted: Counted) -> bool:
    """Whether it is neither below the count nor the count itself."""
    return number.value >= max(2, counted.value) and not is_count_itself(number, counted)


@cache
def weights() -> dict[str, float]:
    """What speaks for an end, with its weight in log-odds."""
    return read_weights(WEIGHTS)
