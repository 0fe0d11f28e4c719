"""What the last lines go through one by one, led by a word (or its first letter) and a number, where the log's head
tells how many of such there are. Pure.

`200 evaluations`, and then `eval 10: 0.63`, `eval 63: new best`; `12 subjects`, and then `S07: acc=0.69`; `48 files`,
and then `48/48 verified`. That the head knows the things is what makes a counter of them: they need not go on evenly.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.judge.told.announced import announced, announced_by_letter, announced_by_verb, numbers_of
from onbox.logs.judge.unnamed.columns import LINES, LINES_BEHIND, ROWS, Whole
from onbox.logs.judge.unnamed.rising import OF_A_LIST
from onbox.logs.line.words import NOT_PROGRESS, UNITS
from onbox.logs.model.lines import message
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

LAST = 4  # lines, among which one may tell of all
# `game  12: W`, `window 9-16 fit ok`, `S07: acc=0.69`
_LED = lazy(
    r"\W{0,8}(?:(?P<word>[A-Za-z]{3,20})(?:\s{1,8}#?|#|\[)|(?P<letter>[A-Za-z])(?=\d))(?:\d{1,9}-(?=\d))?(?P<at>\d{1,9})"
    r"(?![\w/%]|[.,]\d)"
)
# `rendered frame_0071.png in 1.2s`, `patient_012: dice 0.9`: the number in a name
_IN_A_NAME = lazy(
    r"(?<![A-Za-z])(?P<word>[A-Za-z]{3,20})(?:[_-]?(?P<at>\d{1,9})(?:\.[a-z]\w{1,4}(?![\w/])|(?=: )))(?P<letter>)"
)
# `60 checked, 1 broken`, `resized 500`
_MADE = lazy(r"\W{0,8}(?:(\d{1,9}) ([a-z]{3,14})ed(?![a-z])|([a-z]{3,14})ed (\d{1,9})(?![\w/%]|[.,]\d))", re.IGNORECASE)
_ALL = lazy(
    r"\W{0,8}(\d{1,9}) ?(?:/|of) ?\1 (?:[a-z]{3,14} )?(?:verified|checked|processed|converted|done|completed?|finished"
    r"|copied|written|rendered|hashed|validated|ok|OK)\b"
)


def led(lines: Sequence[str], beginning: bytes) -> Whole | None:
    """Where the newest of such counts stands; None if there is none."""
    if not beginning:
        return None
    last = [_LED.match(message(line).text) or _IN_A_NAME.search(line) for line in lines[-LINES:]]
    asked: set[str] = set()
    for at in range(len(last) - 1, max(-1, len(last) - 1 - LINES_BEHIND), -1):
        found = last[at]
        name = "" if found is None else found["word"] or found["letter"]
        if not name or name in asked or NOT_PROGRESS.search(name) or OF_A_LIST.match(name):
            continue
        asked.add(name)
        values = [int(one["at"]) for one in last[: at + 1] if one and name in (one["word"], one["letter"])]
        most = _most(name, values, beginning)
        if most is not None:
            return Whole(values[-1], most, len(lines) - len(last) + at + 1)
    return _made(lines, beginning) or _all_of_them(lines, beginning)


def _made(lines: Sequence[str], beginning: bytes) -> Whole | None:
    """How many of the things were treated, which the head says that it treats."""
    found = [(at, hit) for at, text in enumerate(lines[-LINES:]) if (hit := _MADE.match(message(text).text))]
    if len(found) < ROWS:
        return None
    told = [(at, int(hit[1] or hit[4]), (hit[2] or hit[3]).lower()) for at, hit in found]
    last_at, last, stem = told[-1]
    values = [value for _, value, one in told if one == stem]
    behind = len(lines[-LINES:]) - last_at - 1
    if len(set(values)) < ROWS or values != sorted(values) or behind > LINES_BEHIND:
        return None
    most = announced_by_verb(beginning, stem, last)
    return None if most is None else Whole(last, most, len(lines) - behind)


def _most(name: str, values: list[int], beginning: bytes) -> int | None:
    rises = all(before <= after for before, after in pairwise(values))
    if len(set(values)) < ROWS or not rises:
        return None
    if len(name) == 1:
        return announced_by_letter(beginning, name, values[-1])
    word = name.lower()
    return announced(beginning, word, values[-1]) or announced(beginning, UNITS.get(word, word), values[-1])  # `img_7`


def _all_of_them(lines: Sequence[str], beginning: bytes) -> Whole | None:
    """`48/48 verified`, of so many as the head tells."""
    for at in range(len(lines) - 1, max(-1, len(lines) - 1 - LAST), -1):
        found = _ALL.match(message(lines[at]).text)
        if found:
            return Whole(int(found[1]), int(found[1]), at + 1) if int(found[1]) in numbers_of(beginning) else None
    return None
