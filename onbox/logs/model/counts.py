"""The numbers on a line that count up while a loop goes on: steps, epochs, `3/10`, a bar's percentage. Pure.

A quick reading: it says that something moved, not how far the run is (for that, see `onbox.logs.line.read`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNITS = (
    r"(?:global_?)?(?:step|epoch|iter(?:ation)?|it|batch|episode|update|nupdates|trial|round|task|shard|sample|file"
    r"|chunk|part|prompt|example|doc|game|frame|tree|fold|generation|gen|token|record|job|row|item|image|video|clip|page"
    r"|query|question|(?<=\")(?:done|processed|completed|handled|offset)(?=\")|tick|timestep|seen|draw|sweep|cycle|line|block|request|minibatch|case|molecule|file|time|t)"
)
_LABELLED = lazy(rf"(?<![A-Za-z])({_UNITS})s?\]?['\"]?[\s:=#\[('\"]{{1,6}}(\d[\d,]{{0,20}})(?![\w.:%-])", re.IGNORECASE)
_FRACTION = lazy(
    r"(?<![\w./:-])(\d[\d,]{0,20})\s{0,3}(?:/|of)\s{0,3}(\d[\d,]{0,20})"
    r"(?![\w./:-]|\s\d\d:\d\d)"  # `[12/23 19:20:54`: a date
)
_BEFORE = lazy(rf"(?<![\w.,/:-])(\d[\d,]{{0,20}}) ({_UNITS})s?\b(?!\s?/|\sof\b)", re.IGNORECASE)
_PERCENT = lazy(r"(?<![\w.])(\d{1,3}(?:\.\d{1,3})?)\s?%(?:\||\s|$)")
_ROW = lazy(r"^\s{0,8}\[?(\d{1,12})\]?[\s|:,]{1,8}[-+\w.]")

_WHOLE = lazy(r"(?<![\w.:/-])[A-Za-z]{0,6}(\d{1,18})(?![\w.:/-])")  # of `ep007`, too


class Count(NamedTuple):
    """unit: what is counted, "/N" of a fraction, "%" or "row". value: how far. maximum: None if none is shown."""

    unit: str
    value: float
    maximum: int | None = None

    @property
    def at_end(self) -> bool:
        return self.maximum is not None and self.value >= self.maximum


@lru_cache(4)  # each step is held against the one before
def counts_of(text: str) -> tuple[Count, ...]:
    """The counters on a line, the outer ones first as programs print them; of a unit, the first."""
    found: dict[str, Count] = {}
    fractions = {hit.start(1): int(_plain(hit[2])) for hit in _FRACTION.finditer(text)}
    for hit in _LABELLED.finditer(text):
        unit = hit[1].lower()
        if unit not in found:
            found[unit] = Count(unit, float(_plain(hit[2])), fractions.get(hit.start(2)))
    for hit in _FRACTION.finditer(text):
        unit, value, most = f"/{hit[2]}", float(_plain(hit[1])), int(_plain(hit[2]))
        if value <= most and unit not in found and not any(count.maximum == most for count in found.values()):
            found[unit] = Count(unit, value, most)
    for hit in _BEFORE.finditer(text):
        unit = hit[2].lower()
        if unit not in found:
            found[unit] = Count(unit, float(_plain(hit[1])))
    if not found:
        percent = _PERCENT.search(text)
        row = None if percent else _ROW.match(text)
        if percent:
            found["%"] = Count("%", float(percent[1]), 100)
        elif row:
            found["row"] = Count("row", float(row[1]))
    return tuple(found.values())


def rises(texts: Sequence[str]) -> bool:
    """Whether lines of one form differ in a whole number that rises from each to the next, besides their clock."""
    rows = [_WHOLE.findall(message(text).text) for text in texts]
    return len({len(row) for row in rows}) == 1 and any(
        all(int(one) < int(next_) for one, next_ in pairwise(column)) for column in zip(*rows, strict=True)
    )


def _plain(number: str) -> str:
    return number.replace(",", "")
