"""How far a simulated time is, where the log's head tells at what time it ends. Pure.

`t_end=40` first, and then `n=1650  t=16.5`.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.judge.unnamed.columns import LINES, ROWS, Whole
from onbox.logs.wrote import line_form
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = r"(\d{1,9}(?:\.\d{1,12})?)(?![\w.]{0,12}\d)"
_END = lazy(
    rf"(?i)(?<![\w.])(?:t_?(?:end|max|final|stop)|(?:end|final|stop|max)[ _]?time)\s?[=:]?\s{{0,20}}{_NUMBER}"
    rf"|(?<![a-z])(?:to|until|till) (?:t|time) ?= ?{_NUMBER}"
    rf"|(?<![\w.])t(?:ime)? ?(?:[:=]|from) ?0(?:\.0{{1,6}})? ?(?:to|->|\.\.) ?{_NUMBER}"  # `t from 0 to 50`
    rf"|(?<![a-z])(?:duration|run[ _]length)\W{{1,3}}{_NUMBER} ?(?:s|sec|seconds|min|h|hours?|d|days?)(?![a-z])"
    rf"|(?<![\w.,]){_NUMBER} ?(?:s|h|days?) simulated(?![a-z])"
)
_NOW = lazy(rf"(?<![\w.])(?:t|[Tt]ime|sim_?time)\s?[=:]\s{{0,20}}{_NUMBER}")


def until(lines: Sequence[str], head: Sequence[str]) -> Whole | None:
    """The time that rises in the last lines, and the one that the head's lines set as its end; None without both."""
    ends = {float(next(filter(None, found.groups()))) for line in head for found in _END.finditer(line)}
    if len(ends) != 1:
        return None
    most = ends.pop()
    last = lines[-LINES:]
    told = [(at, float(found[1]), line) for at, line in enumerate(last, 1) if (found := _NOW.search(line))]
    told = told if told and told[-1][1] == most else _of_rows(told)
    rises = all(before[1] < after[1] for before, after in pairwise(told[-ROWS:]))
    if len(told) < ROWS or not rises or not told[-1][1] <= most or not most.is_integer():
        return None
    at, value, _ = told[-1]
    return Whole(value, int(most), len(lines) - len(last) + at)


def _of_rows(told: list[tuple[int, float, str]]) -> list[tuple[int, float, str]]:
    """Those that rows of one form tell, up to the newest of them: `NaN in field T at t = 70.1` is where something
    happened, `next output at t = 80` where it will.
    """
    times = Counter(line_form(line) for _, _, line in told)
    return [one for one in told if times[line_form(one[2])] >= ROWS] or told
