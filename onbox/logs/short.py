"""Whether a log that is over stops short of its work, by its own numbers: a part of it, or none. Pure.

It is no proof of a failure: a loop may be meant to stop there, and there may be nothing to do. It is told, as nobody
looks at a run that ended well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message, readable
from onbox.logs.outcome import Outcome, outcome_in
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.progress import Progress

NEARLY = 0.9  # of the maximum: the last display of a loop may be that of a step before its end
PERCENT_NEARLY = 100 * NEARLY
LINES = 40  # among which a loop's lines are told from one that is said once
_BREAKS = lazy(rb"[\r\n]+")
_PART = lazy(r"(?<![\w.,/:-])(\d{1,9}) ?(?:/|of|out of) ?(\d{1,9})(?![\w./:%-]|,\d)", re.IGNORECASE)
_BEFORE = lazy(r"(?:^|[:;,(])\W{0,3}(?:only )?$|\b(?:\w{2,14}ed|wrote|built|sent|made)\b(?: only)? $", re.IGNORECASE)
_BEHIND = lazy(r" (?:[a-z][\w-]{0,24} ){0,3}[a-z][\w-]{1,24}\b", re.IGNORECASE)
_NUMBERS = lazy(r"\d+")


def stops_short(progress: Progress) -> bool:
    """Whether the counter stands clearly before its exact maximum, and the log tells of no end of its own."""
    current, most = progress.current, progress.exact_max
    if not progress.finished and current is None and progress.percent is not None:
        return progress.percent < PERCENT_NEARLY
    if progress.finished or current is None or most is None:
        return False
    return current < NEARLY * most and current + 1 < most  # 5 is the last of 6 from 0 on


def last_lines(tail: bytes) -> list[str]:
    """What the last lines of a log say. tail: its last bytes."""
    return [line for raw in _BREAKS.split(tail)[-LINES:] if (line := message(readable(raw[:500]).strip()).text)]


def counts_a_part(lines: Sequence[str]) -> str | None:
    """The last line, where it says once that only a part was done: `merged 3 of 6 parts`. lines: as of `last_lines`."""
    last = lines[-1] if lines else ""
    found = _PART.search(last)
    if found is None or int(found[1]) >= NEARLY * int(found[2]) or not _tells_of_done(last, found):
        return None
    return None if _NUMBERS.sub("0", last) in {_NUMBERS.sub("0", line) for line in lines[:-1]} else last


def _tells_of_done(line: str, found: re.Match[str]) -> bool:
    """Whether the count is that of what was done: by the word right before it, or by one of the few behind it."""
    before, behind = line[: found.start()], _BEHIND.match(line[found.end() :])
    led = _BEFORE.search(before)
    if led is None:
        return False
    own = led[0] + (behind[0] if behind else "")  # without the count: of a part, nobody says that it is made
    return outcome_in(own.strip(" :;,(")) is Outcome.MADE
