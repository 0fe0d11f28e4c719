"""What the last lines count down, and nothing else: `40 jobs left`, `39 jobs left`. Pure.

How many there were is what the head tells of such things, else what the first of these lines told: a line that says how
many are left, and not that one is done, stands before the work.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.judge.told.announced import announced
from onbox.logs.judge.unnamed.columns import LINES, LINES_BEHIND, Whole
from onbox.logs.model.lines import message, readable
from onbox.logs.wrote import line_form
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS = 4  # until a number that falls is known to be counted down
_NUMBER = r"(\d{1,9})(?![\w./%,])"
_THINGS = (  # that are worked through; nodes, samples, players and days may become fewer without any work
    r"((?:job|task|file|item|page|image|document|doc|chunk|batch|url|link|cell|step|epoch|iteration|trial|run|experiment"
    r"|frame|tile|game|episode|config|configuration|candidate|test|piece|part|shard|package|target|scan|query|fold"
    r"|message|video|song|track|clip|picture|photo|folder|subject|patient|simulation|molecule|ligand|problem|question"
    r"|prompt)(?:e?s|ies))"
)
_LEFT = lazy(
    rf"(?i)(?<![\w.,/:-]){_NUMBER} {_THINGS}(?:\(s\))? (?:are |is |still )?(?:left|remaining|to go|pending)(?![a-z])"
    rf"|(?<![a-z]){_THINGS} (?:left|remaining|to go|pending)\s?[:=]?\s?{_NUMBER}"
    rf"|^\W{{0,8}}(?:left|remaining|to go)\s?[:=]\s?{_NUMBER}"
)
_CHOSEN = lazy(r"(?i)(?<![a-z])(?:filter|prun|drop|remov|dedup|clean|skip|after)")  # what is left of them is kept
_DONE = lazy(r"(?i)(?<![a-z])(?:done|finished|complete[d]?|processed|[a-z]{3,14}ed)(?![a-z])")


class _Left(NamedTuple):
    """number: of them, noun: what they are; "" where the line names nothing. at: how many lines there are up to it."""

    number: int
    noun: str
    at: int


def falling(lines: Sequence[str], beginning: bytes) -> Whole | None:
    """How many are done of those that were to be done; None where the last lines count nothing down."""
    told = _told(lines[-LINES:], len(lines) - len(lines[-LINES:]))
    falls = all(before.number > after.number for before, after in pairwise(told))
    if len(told) < ROWS or not falls or len(lines) - told[-1].at > LINES_BEHIND:
        return None
    most = announced(beginning, told[-1].noun, told[0].number) if told[-1].noun else None
    most = most or _first(beginning, told[0])
    return None if most is None else Whole(most - told[-1].number, most, told[-1].at)


def _told(lines: Sequence[str], before: int) -> list[_Left]:
    """What the lines tell that have the form of the newest of them; each number once."""
    told: list[_Left] = []
    form = 0
    for at in range(len(lines), 0, -1):
        left = _left_in(lines[at - 1], before + at)
        if left is None or _CHOSEN.search(lines[at - 1]) or (told and line_form(lines[at - 1]) != form):
            continue
        form = form or line_form(lines[at - 1])
        if not told or told[-1].number != left.number:
            told.append(left)
    return told[::-1]


def _left_in(line: str, at: int) -> _Left | None:
    found = _LEFT.search(message(line).text)
    if found is None:
        return None
    return _Left(int(found[1] or found[4] or found[5]), (found[2] or found[3] or "").lower(), at)


def _first(beginning: bytes, seen: _Left) -> int | None:
    """What the first of such lines told."""
    for at, line in enumerate(map(readable, beginning.splitlines()), 1):
        left = _left_in(line, at)
        if left is not None and left.noun == seen.noun and not _DONE.search(line):
            return left.number if left.number >= seen.number else None
    return None
