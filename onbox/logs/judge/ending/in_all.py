"""How many there were in all, as the lines behind a loop tell it: `14 epochs took 141.2 s`. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.ending.closing_line import said
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_BEFORE_ITS_TIME = lazy(
    r"(?i)\b(?:early[ _-]?(?:stop|terminat)\w*|\w{3,12}(?:ed|ing) early|converg\w*|stopp(?:ed|ing)|patience|toleran\w*"
    r"|limit|budget|no improv\w*|plateau|target|killed|interrupt\w*|abort\w*|reached|solved|optimal)\b"
)
_IN_ALL = lazy(
    r"(?i)(?:^\W*|\b(?:for|all|finished|completed|trained|ran|did|done|over|in)\s(?:all )?)(?<![\w.,/-])"
    r"(\d{1,3}(?:,\d{3}){1,3}|\d{1,9}) ([a-z]{3,14}s)(?! of\b|/|-)\b"
)


def tells_a_reason(lines: Sequence[str]) -> bool:
    """Whether one of the lines tells why a loop may have ended before its time."""
    return any(map(_BEFORE_ITS_TIME.search, lines))


def in_all(lines: Sequence[str], words: Collection[str]) -> int | None:
    """The only number that the lines tell of such things. words: for what was counted."""
    told = [found for line in lines for found in _IN_ALL.finditer(said(line)) if found[2].lower() in words]
    numbers = {int(found[1].replace(",", "")) for found in told}
    return numbers.pop() if len(numbers) == 1 else None
