"""A counter that no word names: in lines of one form, a number that goes on evenly beside others that do not. Pure.

`17  -9732.25  +0.0004`, `Merged: freq=59 merges=800`: rows of iterations look so in every program. It is asked where
the log shows no other counter.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROWS = 5  # so many lines, one after another
ROWS_LOOKED_AT = 12
COLUMNS = 10
_NAMED_BY = ("=", ":")
MOST = 1_000_000_000  # a larger number is a time
_NUMBER = lazy(r"[-+]?(?:\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|nan|inf)(?![\w.])", re.IGNORECASE)
_FREE = lazy(r"(?:^|[\s=(\[|,;#:])$")  # before a count
_NAMES = lazy(r"(?i)(?:time|date|day|hour|min|sec|seq|pid|port|id|rank|gpu|device|node|worker|line|year|month)\W{0,3}$")
_RESULT = lazy(r"(?i)(?<![a-z])(?:scores?|results?|test|eval\w*|valid\w*|accuracy|psnr|ssim)(?![a-z])")


class _Cell(NamedTuple):
    """A number in a line. whole: written without a point or a sign."""

    value: float
    whole: bool


def rising(lines: Sequence[str]) -> int | None:
    """Where the count stands that goes on in the last lines of one form; None if none does."""
    for end in range(len(lines), ROWS - 1, -1):
        rows = [_cells(line) for line in lines[max(0, end - ROWS_LOOKED_AT) : end]]
        if rows[-1].keys() & rows[-2].keys():
            return None if _RESULT.search(lines[end - 1]) else _count(rows)
    return None


def _count(rows: Sequence[dict[str, _Cell]]) -> int | None:
    for name in rows[-1]:
        alike = _alike(rows, name)
        if len(alike) < ROWS or _NAMES.search(name) or not _is_even([row[name] for row in alike]):
            continue
        if any(_is_measure(other, alike) for other in alike[-2] if other != name):
            return int(rows[-1][name].value)
    return None


def _alike(rows: Sequence[dict[str, _Cell]], name: str) -> Sequence[dict[str, _Cell]]:
    """The last rows, as far as each has the column."""
    at = len(rows)
    while at and name in rows[at - 1]:
        at -= 1
    return rows[at:]


def _is_even(column: Sequence[_Cell]) -> bool:
    """Whether it goes on by the same each time, or to the same multiple."""
    if not all(cell.whole and 0 <= cell.value < MOST for cell in column):
        return False
    values = [cell.value for cell in column]
    pairs = list(pairwise(values))
    if any(after <= before for before, after in pairs):
        return False
    return _same(after - before for before, after in pairs) or (
        values[0] > 0 and _same(after / before for before, after in pairs)
    )


def _same(values: Iterable[float]) -> bool:
    return len(set(values)) == 1


def _is_measure(name: str, rows: Sequence[dict[str, _Cell]]) -> bool:
    """Whether a column moves as what is measured does: not by the same each time. One that has a name may stand."""
    column = [row[name] for row in rows if name in row]
    broken, named = not all(cell.whole for cell in column), name[-1:] in _NAMED_BY
    if len(column) < ROWS - 1 or not (broken or named):
        return False
    steps = [round(after.value - before.value, 9) for before, after in pairwise(column)]
    return (broken and named) or len(set(steps)) > len(steps) // 2


def _cells(line: str) -> dict[str, _Cell]:
    """The numbers of a line, by what stands before each: numbers in it as 0."""
    text = message(line).text
    found: dict[str, _Cell] = {}
    before, at = "", 0
    for number in _NUMBER.finditer(text):
        before += text[at : number.start()]
        if _FREE.search(before) and len(found) < COLUMNS:
            plain = number[0].replace(",", "")
            found[" ".join(before.split())] = _Cell(float(plain), plain.isdigit())
        before, at = before + "0", number.end()
    return found
