"""How much work there is, by how the numbers of the last lines go on beside each other, whatever their words are. Pure.

`48 files done, 12 to go`: one rises by what the other falls, so both together are the whole. `part 30, 62.5%`: of one
whole number only are 30 parts that share. `Эпоха 3 из 40`: one rises to another that stands still behind it.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.line.words import GATHERS
from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS = 3  # of one form, one after another or with others between
LINES = 40  # of the log's end
LINES_BEHIND = 16  # behind the last row
COLUMNS = 12
MOST = 1_000_000_000  # a larger number is a time
_NUMBER = lazy(r"(?<![A-Za-z0-9_.:/-])[-+]?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?(?![\d]|[:.]\d)")
_ANY_NUMBER = lazy(r"\b(?=[0-9a-f]{0,40}[a-f])(?=[a-f]{0,40}\d)[0-9a-f]{6,40}\b|\d+(?:[.,]\d+)*")  # checksums as well
_PERCENT = lazy(r"\s?%")
_CLOCK_WORDS = r"\s?(?:s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?|ms)(?![a-z])"
_CLOCK = lazy(_CLOCK_WORDS, re.IGNORECASE)
_OF_ANOTHER = lazy(rf"/|{_CLOCK_WORDS}", re.IGNORECASE)  # `to-chk=3/10`
# Between a count and the whole: no Latin letter or figure, but a letter of another script (`第3轮/共40轮`, `3 из 40`).
_OF_IN_ANY_SCRIPT = lazy(r"[^A-Za-z0-9|,;:()\[\]]{1,12}")
_LETTER = lazy(r"[^\W\d_]")
_NAMED_TOTAL = lazy(  # `"done": 10, "todo": 400`: what stands still beside what rises
    r"(?i)[\"'\s,;|]{1,4}(?:todo|to_do|total|planned|target|goal|expected|requested|scheduled|all|of)[\"']?\s?[:=]\s?"
)
_NAMED_LIMIT = lazy(
    r"(?i)[\"'\s,;|]{1,4}(?:limit|max|maximum|end|last|until|up_?to|stop_at|budget)[\"']?\s?[:=]\s?"
    r"|,? budget |(?: [a-z_]{2,20}){1,4}(?: ?[,;|(] ?(?:limit|max|maximum|budget)[ :=]{1,2}"
    r"| of (?:a |the )?budget(?: of)?[ :=]{1,2})"
)  # `used=80 budget=150`, `180 evaluations told, budget 200`
_NO_WORK = lazy(  # `mem 49, budget 4096`
    r"(?i)(?<![a-z])(?:v?ram|mem(?:ory)?|rss|heap|cache|power|temp(?:erature)?|price|load|lag|gpu|cpu)(?![a-z])"
)
_DONE = lazy(r"(?i)(?<![a-z])(?:done|completed|processed|finished)[\"']?\s?[=:]\s?$")
_ALL_THINGS = lazy(  # `done=61 dupes=213 shards=96`
    r"(?<![A-Za-z])(?!(?:worker|thread|gpu|core|node|rank|process|replica|host|error|retrie|fail)\w{0,16}s)[a-z_]{3,20}s[\"']?[=:]\s?$"
)
# What says that one counts what is there no more, or the other what is still to come: `48 done, 12 to go`.
_GOES_ON_TO = lazy(
    r"(?i)(?<![a-z])(?:left|remain\w*|rest|restant\w*|to go|to do|todo|pending|queued?|backlog|outstanding|open|waiting"
    r"|missing|still|unread|unvisited|undone|done|completed?|processed|finished|noch|übrig|quedan|restan|faltan"
    r"|осталось|готово)(?![a-z])|剩|残|待"
)
_LATIN_OF = lazy(r"(?i)\s(?:von|sur|de|di|van|av|af|из|з|od|z)\s(?:the )?")


class Whole(NamedTuple):
    """value, most: where it stands, and the whole. lines: how many of them there are up to the one that tells it."""

    value: float
    most: int
    lines: int


class _Column(NamedTuple):
    """The numbers at one place of the rows, oldest first. at: which number of its row. behind: what follows each."""

    at: int
    values: tuple[float, ...]
    is_whole: bool
    decimals: int
    behind: str
    between: str  # it and the number before it, or the line's beginning

    @property
    def steps(self) -> list[float]:
        return [round(after - before, 9) for before, after in pairwise(self.values)]

    @property
    def rises(self) -> bool:
        return self.is_whole and all(step > 0 for step in self.steps) and self.values[0] >= 0

    @property
    def is_even(self) -> bool:
        """Whether it goes on by the same each time, but for the last, as memory that fills up to a limit does not."""
        steps = self.steps
        return self.rises and len(steps) >= ROWS and len(set(steps[:-1])) == 1 and steps[-1] <= steps[0]

    @property
    def falls(self) -> bool:
        return self.is_whole and all(step < 0 for step in self.steps) and self.values[-1] >= 0

    @property
    def stands(self) -> bool:
        return self.is_whole and not any(self.steps)


def whole(lines: Sequence[str], known: frozenset[int] = frozenset()) -> Whole | None:
    """The count in the last lines of one form that they tell the whole of; None if they tell of none. known: numbers
    that the log's head tells: one of them may be the whole where the shares beside the count leave it open.
    """
    last = lines[-LINES:]
    forms = [" ".join(_ANY_NUMBER.sub("0", line).split()) for line in last]  # numbers are padded
    asked: set[str] = set()
    for at in range(len(last) - 1, max(-1, len(last) - 1 - LINES_BEHIND), -1):
        if forms[at] in asked or "%|" in forms[at]:  # a bar has been read
            continue
        asked.add(forms[at])
        if GATHERS.search(forms[at]):
            continue
        rows = [line for line, form in zip(last[: at + 1], forms, strict=False) if form == forms[at]]
        found = _of_rows(_columns(rows), known) if len(rows) >= ROWS else None
        if found is not None:
            return Whole(*found, len(lines) - len(last) + at + 1)
    return None


def _of_rows(columns: list[_Column], known: frozenset[int]) -> tuple[int, int] | None:
    known |= {int(one.values[-1]) for one in columns if one.stands}
    for one in columns:
        if not one.rises or one.values[-1] >= MOST or _CLOCK.match(one.behind):
            continue
        value = int(one.values[-1])
        for other in columns:
            most = _beside(one, other, known)
            if most is not None and most >= value and most > 1:
                return value, most
    return None


def _beside(one: _Column, other: _Column, known: frozenset[int]) -> int | None:
    """The whole of which a rising column counts, as another one tells it; None if that one tells nothing."""
    if other.falls and [-step for step in other.steps] == one.steps and not _OF_ANOTHER.match(other.behind):
        around = (one.between, one.behind, other.between, other.behind)
        if not any(map(_GOES_ON_TO.search, around)):
            return None  # `epoch 3 temperature 87`
        return int(one.values[-1] + other.values[-1])
    if _PERCENT.match(other.behind):
        return _of_share(one, other, known)
    if other.stands and other.at == one.at + 1 and _is_of(one, other.between):
        return int(other.values[-1])
    if other.stands and _DONE.search(one.between) and _ALL_THINGS.search(other.between):
        return int(other.values[-1])
    return None


def _is_of(one: _Column, between: str) -> bool:
    """Whether what stands between a count and a number that stands still says that it is of so many."""
    if one.is_even and _NAMED_LIMIT.fullmatch(between):
        return _NO_WORK.search(one.between) is None
    foreign = _OF_IN_ANY_SCRIPT.fullmatch(between) and _LETTER.search(between)
    return bool(foreign or _LATIN_OF.fullmatch(between) or _NAMED_TOTAL.fullmatch(between))


def _of_share(one: _Column, share: _Column, known: frozenset[int]) -> int | None:
    """The only whole of which every row's count is the share that stands beside it, as exactly as that is written; of
    several the one that is known.
    """
    if not all(step >= 0 for step in share.steps) or share.values[-1] <= share.values[0] or share.values[-1] > 100:
        return None
    if one.values == share.values:
        return None
    digit = 10**-share.decimals
    rounded, cut_off = _wholes(one, share, digit / 2, digit / 2), _wholes(one, share, 0.0, digit)
    told = [number for number in known if number in rounded or number in cut_off]
    if len(told) == 1:
        return told[0]
    if rounded and cut_off and rounded[0] not in cut_off:
        return None
    found = rounded or cut_off
    return found[0] if len(found) == 1 else None


def _wholes(one: _Column, share: _Column, below: float, above: float) -> range:
    """The wholes of which every count is the share beside it, where that may be so much too large or too small: as a
    number that was rounded is, or one that was cut off.
    """
    least, most = 0.0, float(MOST)
    for count, percent in zip(one.values, share.values, strict=True):
        high, low = min(100.0, percent + above + 1e-9), percent - below - 1e-9
        least = max(least, 100 * count / high)
        most = min(most, 100 * count / low) if low > 0 else most
    return range(math.ceil(least), math.floor(most) + 1)


def _columns(rows: Sequence[str]) -> list[_Column]:
    cells = [[(hit, text) for hit in _NUMBER.finditer(text)] for text in map(_spelt, rows)]
    width = len(cells[-1])
    cells = [row for row in cells if len(row) == width]  # a checksum may be one more
    if len(cells) < ROWS:
        return []
    return [_column(at, [row[at] for row in cells], cells[-1]) for at in range(min(width, COLUMNS))]


def _spelt(row: str) -> str:
    """What a row says; a number that stands right behind its name, as in JSON, set apart from it: it is no clock."""
    return message(row).text.replace('":', '": ')


def _column(at: int, hits: list[tuple[re.Match[str], str]], last: list[tuple[re.Match[str], str]]) -> _Column:
    texts = [hit[0].replace(",", "") for hit, _ in hits]
    hit, text = hits[-1]
    between = text[last[at - 1][0].end() if at else 0 : hit.start()]
    return _Column(
        at,
        tuple(map(float, texts)),
        all(one.isdigit() for one in texts),
        max(len(one.partition(".")[2]) for one in texts),
        text[hit.end() : hit.end() + 12],
        between,
    )
