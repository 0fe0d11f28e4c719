"""A figure that grows without bound: by orders of magnitude in each row, or from what was measured first. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.reading.record import LOGGED, Fault
from onbox.triage.rules.rows import DIVERGED, RuleRow

if TYPE_CHECKING:
    from onbox.triage.reading.record import LogAttempt, SeenLine

NEAR_THE_END = 12  # lines
BLOWN_ROWS = 4
BLOWN_BY = 10.0  # each time
BEYOND_ALL = 1e15
GROWS_FOR, GROWS_BY, LARGE = 7, 5.0, 1e9  # rows, times each time: so long and steadily, it need not be beyond all
MEASURED = 1e6
FAR_ABOVE = 1e5  # times the first one: no figure that is trained or simulated gets there and is well
NEWEST = 3  # rows
_IMPOSSIBLE = 1e60
LARGE_ENOUGH = 1e4  # below that, a figure may come a long way from nothing
LEAST = 1e-3  # a first figure below that may have been about nothing
STEADY = 1.8  # times the mean growth: what grows so evenly is a count or a clock

BLOWN_UP = RuleRow("figure-blown-up", "divergence", DIVERGED, "", "(?!)", "a figure that grows without bound", "")

# A setting that is tried in steps of its own.
_TRIED = lazy(r"(?i)\b(?:lr|learning[_ ]rate|alpha|lambda|penalty|bound|tol\w*|scale)\s?[=:]\s?[\d.]+e\+")
_FLOATS = lazy(r"(?<![\w.])[-+]?\d{1,400}(?:\.\d{0,20})?(?:e[-+]?\d{1,3})?(?![\w.])", re.IGNORECASE)
# Larger is better there, or it only counts.
_MAY_GROW = lazy(
    r"(?i)(?<![a-z])(?:(?:mean|avg|ep)?_?(?:reward|return|score|rew|ret)\w{0,6}|profit|gain|objective|elbo|\w{0,8}likelihood"
    r"|speed|rate|throughput|fps|\w{0,3}flops|tokens?|samples?|rows|items|seen|total|sum|count|num|size|bytes|mem\w{0,8}"
    r"|time|sec\w{0,6}|elapsed|eta|n|t|step\w{0,4}|iter\w{0,8}|temperature|s)$"
)
_OF_A_SCALE = lazy(r"(?i)\b(?:loss|grad|amp)[ _]?scal\w{1,4}\b|\bscal(?:e|er|ing)\b")  # of mixed precision: it doubles
_NAME_BEFORE = lazy(r"([A-Za-z][\w/.-]{0,40})['\"]?\W{0,12}$")


class _Row(NamedTuple):
    """figures: without their signs."""

    number: int
    text: str
    figures: list[float]


def blown_up(told: list[tuple[int, str]], tail: tuple[SeenLine, ...], attempt: LogAttempt) -> Fault | None:
    """Where a figure grew beyond all that is measured, or far above what it was first; None if none did. told: the
    first and the newest lines of progress, as (number, line). tail: the last lines of the log.
    """
    return _explodes(tail, attempt) or _left_its_range(told, attempt) or _beyond_all(tail, attempt)


def _beyond_all(tail: tuple[SeenLine, ...], attempt: LogAttempt) -> Fault | None:
    """The last line of all, where it shows a figure that nothing in the world has, and the first lines show none."""
    shown = [line for line in tail if any(_IMPOSSIBLE < abs(float(one)) < inf for one in _FLOATS.findall(line.text))]
    if not shown or len(tail) < BLOWN_ROWS or shown[0].number < tail[2].number or shown[-1] != tail[-1]:
        return None
    return Fault(BLOWN_UP, *shown[0], LOGGED, attempt.progress)


def _left_its_range(told: list[tuple[int, str]], attempt: LogAttempt) -> Fault | None:
    """The first of the lines of one form in which a figure is far above the first one, as it is in all the newest."""
    forms: dict[tuple[str, int], list[_Row]] = {}
    for number, text in told:
        row = _Row(number, text, [abs(float(one)) for one in _FLOATS.findall(text)])
        forms.setdefault((_form(text), len(row.figures)), []).append(row)
    for rows in forms.values():
        if len(rows) > NEWEST and rows[-1].number >= told[-NEAR_THE_END:][0][0]:
            left = next((at for at in range(len(rows[0].figures)) if _has_left(rows, at)), None)
            if left is not None:
                limit = FAR_ABOVE * max(rows[0].figures[left], LEAST)
                first = next(row for row in rows if row.figures[left] > limit)
                return Fault(BLOWN_UP, first.number, first.text, LOGGED, attempt.progress)
    return None


def _has_left(rows: list[_Row], at: int) -> bool:
    column = [row.figures[at] for row in rows]
    limit = max(FAR_ABOVE * max(column[0], LEAST), LARGE_ENOUGH)
    if min(column[-NEWEST:]) <= limit or _may_grow(rows[0].text, at):
        return False
    return not _is_steady([row.number for row in rows], column)


def _form(text: str) -> str:
    """The words of a line whose figures stand in columns of a fixed width or not."""
    return " ".join(_words(text).split())


def _may_grow(text: str, at: int) -> bool:
    """Whether a figure of a line is a count, or one of which more is better."""
    found = list(_FLOATS.finditer(text))[at]
    name = _NAME_BEFORE.search(text[: found.start()])
    if _OF_A_SCALE.search(text):
        return True
    return "." not in found[0] or (name is not None and _MAY_GROW.search(name[1]) is not None)


def _is_steady(numbers: list[int], column: list[float]) -> bool:
    """Whether it grows as the lines go by: at the middle row it stands about half way."""
    middle = len(column) // 2
    lines = (numbers[middle] - numbers[0]) / max(1, numbers[-1] - numbers[0])
    grown = (column[middle] - column[0]) / max(column[-1] - column[0], LEAST)
    return column == sorted(column) and lines / STEADY < grown < lines * STEADY


def _explodes(tail: tuple[SeenLine, ...], attempt: LogAttempt) -> Fault | None:
    """A figure that leaves all that is measured in the last rows of one form: it grows by orders of magnitude in each,
    or was small in those before.
    """
    newest = tail[-NEAR_THE_END:]
    wide = {_words(line.text) for line in newest if "e+" in line.text.lower() and not _TRIED.search(line.text)}
    rows: dict[str, list[tuple[SeenLine, list[float]]]] = {}
    for line in tail if wide else ():
        words = _words(line.text)
        if words in wide:
            rows.setdefault(words, []).append((line, [float(one) for one in _FLOATS.findall(line.text)]))
    for found in rows.values():
        columns = list(zip(*(figures for _, figures in found), strict=False))
        if len(found) >= BLOWN_ROWS and any(map(_blows_up, columns)):
            largest = max(abs(figure) for _, figures in found for figure in figures)
            limit = min(BEYOND_ALL, largest / BLOWN_BY)
            first = next(line for line, figures in found if any(abs(figure) > limit for figure in figures))
            return Fault(BLOWN_UP, *first, LOGGED, attempt.progress)
    return None


def _words(text: str) -> str:
    return _FLOATS.sub("#", text)


def _blows_up(column: tuple[float, ...]) -> bool:
    if column[-1] <= BEYOND_ALL:
        newest = column[-GROWS_FOR:]
        steadily = all(after > GROWS_BY * before > 0 for before, after in pairwise(newest))
        return len(newest) == GROWS_FOR and column[-1] > LARGE and steadily
    grows = all(after > BLOWN_BY * before > 0 for before, after in pairwise(column[-BLOWN_ROWS:]))
    small = [abs(value) < MEASURED for value in column]
    return grows or small.count(True) >= BLOWN_ROWS
