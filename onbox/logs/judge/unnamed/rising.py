"""A counter that no word names: in lines of one form, a number that goes on evenly beside others that do not. Pure.

`17  -9732.25  +0.0004`, `Merged: freq=59 merges=800`: rows of iterations look so in every program. It is asked where
the log shows no other counter.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.line.words import A_PIECE, AUXILIARY, LONE_WORDS, NOT_A_COUNTER, NOT_PROGRESS, UNIT_WORD
from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROWS = 5  # so many lines, one after another
LED_ROWS = 4  # if they begin with one word and the number
FEW_ROWS = 3  # if the log's head tells how many there are to be
ROWS_LOOKED_AT = 8
LINES = 40  # of the log's end, among which the rows may have others between
LINES_BEHIND = 16  # behind the last row
SELDOM = 5
_WORKED_ON = lazy(rf"(?i)(?<![a-z])(?:{UNIT_WORD}|event|[a-z]{{3,12}}ed|done|merges|tar: #)\W{{0,3}}$")
STRIDE = 100  # of a count that is told seldom: smaller ones may be those of settings that are tried
COLUMNS = 10
_NAMED_BY = ("=", ":", "(")
MOST = 1_000_000_000  # a larger number is a time
_NUMBER = lazy(
    r"([-+]?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[-+]?\d+)?|nan|inf))(?:(?:(?<=\.\d)|(?<=\.\d\d))(?:m?s|min))?(?![\w/]|\.(?!\s|$)|-\d)",
    re.IGNORECASE,
)
_OTHER_DIGITS = lazy(r"(?<![\d.:-])\d+(?:\.\d+)?(?=[A-Za-z/])")  # `1.54B/2.1B`
_ADDRESS = lazy(r"\b0x[0-9a-f]{4,16}\b|^\s{0,8}#?\d{1,4}: .{0,200}::|\] NCCL INFO ")  # of a frame of a stack, of a rank
_DIGITS = lazy(r"\d+")
_RANGE = lazy(r"(?<![\w.,:/-])\d{1,12}(?:\.\.|\u2013)(?=\d)")  # `rows 2001..3000`: the last one counts
_FREE = lazy(r"(?:^[A-Za-z]{0,2}|[\s=(\[<|,;#]|(?<!0):)$")  # before a count; `E037 L=0.24`, `Q12: right`
_NAMES = lazy(
    r"(?i)(?:time|date|(?<!^)(?<!\()(?<!^\[)day|(?<!^)hour|min|sec|seq|pid|port|id|rank|gpu|device|node|worker|line|year"
    r"|(?<!^)month)\W{0,3}$"
    r"|(?<![a-z])(?:pct|percent\w*)(?:[_ ]\w{1,12})?[\"']?\W{0,3}$"
    r"|(?<![a-z])(?:errors?|fail(?:ed|ures?)?|warnings?|retries|dropped|skipped|misses|lost)\W{0,3}$"
    r"|(?<![a-z])(?:scores?|results?|test|eval\w*|valid\w*|accuracy|psnr|ssim)(?![a-z])"
)  # before a number: it names something, or one of several results


_OF_A_SERVICE = lazy(
    r"(?i)(?<![a-z])(?:req|request|conn|connection|session|query|ticket|message|msg|packet)[ #_:=-]{0,3}$"
)  # as they come
_FOLD = lazy(r"(?i)(?<![a-z])fold\W{0,3}$")  # which are told of in all that is validated across them
_TOLD_OF_EACH = "feature|column|variable|attribute|dim|dimension|neuron|head|factor|axis|quantile|percentile|pc"
OF_A_LIST = lazy(  # of what came out for each
    rf"(?i)\W{{0,8}}(?:{_TOLD_OF_EACH}|class|cluster|topic|component|bin|label|layer|block|expert|channel|figure|chapter|level|record)"
)
_OF_THE_OUTCOME = lazy(
    rf"(?i)\W{{0,8}}(?:{_TOLD_OF_EACH}|class|cluster|topic|component|label|layer|bin|channel|expert)\W{{0,4}}$"
)  # `8 layers`, and one by one
_OF_RESULTS = lazy(  # each of which has some
    rf"(?i)\W{{0,8}}(?:{_TOLD_OF_EACH}|class|cluster|topic|component|label|bin|channel|eigenvalue|mode|rule|peak"
    r"|(?:n_?|num_?)?(?:threads?|users?|clients?|clusters?|neighbou?rs)|concurrency|seq_?len\w{0,4}|length|context(?:_len\w{0,4})?"
    r"|size|width|height|resolution|degree|lag|qps|rps|price)\W{0,4}$"
)
_LEADS = lazy(r"\W{0,8}[A-Za-z]{3,20}\W{0,3}$")
_IN_ORDER = lazy(r"\s{0,8}\d{1,4}[.)]\s{1,4}[A-Za-z]")  # `3. petal_width  0.21`: a place in a ranking
_ROW = lazy(r"\s*\d+:\s")
_NUMBERED = lazy(r"(?i)[ _](?:number|no|nr|num|index|idx)\W*$")  # `REPLICATE NUMBER 12`
_IN_BRACKETS = lazy(r"(?:^| - )\[$")  # behind a logger's place in the code: `dock:one - [1204] ligand`
_LAST_WORD = lazy(r"([A-Za-z]+)\W*$")
_DONE_OF_THEM = lazy(
    r"(?i)(?<![a-z])(?!status|progress|stats)([a-z]{3,20})s (?:done|complete[d]?|finished|processed)\W*$"
)  # `files done: 9`
_WORKED = lazy(
    r"(?:fetched|crawled|parsed|processed|converted|rendered|downloaded|uploaded|indexed|scanned|written|copied|encoded"
    r"|decoded|solved|evaluated|scored|labell?ed|translated|visited|handled|done)(?![a-z])"
)
_THINGS = lazy(r"0 ([A-Za-z]{3,20})s\b")
OF_A_MODULE = lazy(  # `(layer0): Conv2d(1, 2, kernel_size=(3, 3))`, `12  -1  1  1664  models.common.Conv  [64, 32]`
    r"\): [A-Z]\w{1,40}\(|\s(?:[a-z]\w{1,30}\.){1,5}[A-Z]\w{1,40}\s{2,60}\["
)
_SO_MANY_THINGS = lazy(r"(?<![\w.,])(\d[\d,]{0,14}) ([A-Za-z]{3,20})s\b(?! ?=)")
_IN_A_SHAPE = lazy(r"\[-?\d{0,6}, ?$|\[$")  # `[-1, 64, 32, 32]`: what doubles there is a size
_REQUEST = lazy(r"\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) /")


class _Cell(NamedTuple):
    """A number in a line. whole: written without a point or a sign, and no hour of `12:10`."""

    value: float
    whole: bool


class Rising(NamedTuple):
    """value: where it stands. lines: how many of the lines there are up to the one that tells it. noun: of what it
    counts; "" if none stands beside it. stride: how far it went between the last two lines.
    """

    value: int
    lines: int
    noun: str = ""
    stride: int = 0


def rising(lines: Sequence[str], *, alone: bool = False) -> Rising | None:
    """The count that goes on in the last lines of one form; None if none does. alone: with nothing measured beside it;
    such lines may be a list of anything.
    """
    return next(risings(lines, alone=alone), None)


def risings(lines: Sequence[str], *, alone: bool = False) -> Iterator[Rising]:
    """All such counts, from the newest line on and from left to right."""
    is_count = _goes_evenly if alone else _is_count
    lists = (_ADDRESS.search, OF_A_MODULE.search, _IN_ORDER.match)
    rows = [{} if any(found(line) for found in lists) else _cells(line) for line in lines[-LINES:]]
    asked: set[str] = set()
    for end in range(len(rows), max(FEW_ROWS, len(rows) - LINES_BEHIND) - 1, -1):
        for name in rows[end - 1]:
            if name in asked or _is_echo(name, rows[:end]):
                continue
            asked.add(name)
            alike = _moves([row for row in rows[:end] if name in row], name)
            if (
                len(alike) >= _rows_needed(name, alone=alone)
                and not _falls(name, alike)
                and is_count(name, alike[-ROWS_LOOKED_AT:])
            ):
                value, at = int(alike[-1][name].value), len(lines) - len(rows) + end
                stride = value - int(alike[-2][name].value)
                yield Rising(value, at, _noun(name, value, lines[at - 1]), stride)


def _is_echo(name: str, rows: Sequence[dict[str, _Cell]]) -> bool:
    """Whether a row is a number alone, and the one above tells it with more: `300 iterations were performed.`"""
    row, before = rows[-1], next((row for row in reversed(rows[:-1]) if name in row), {})
    return len(row) == 1 < len(before) and before[name] == row[name]


def _rows_needed(name: str, *, alone: bool) -> int:
    if NOT_PROGRESS.search(name) and not A_PIECE.search(name) and not (alone and _FOLD.search(name)):
        return ROWS
    if alone:
        return FEW_ROWS
    return LED_ROWS if _LEADS.match(name) and not OF_A_LIST.match(name) else ROWS


def _moves(rows: Sequence[dict[str, _Cell]], name: str) -> list[dict[str, _Cell]]:
    """The rows, those of one number as one: `config #3: C=1`, `config #3 finished: acc 0.31`."""
    told: list[dict[str, _Cell]] = []
    for row in rows:
        if told and told[-1][name] == row[name]:
            told[-1] = {**told[-1], **row}
        else:
            told.append(row)
    return told


def _noun(name: str, value: int, line: str) -> str:
    """The things behind the number, without their ending, else the word before it: `vector` of `added 5000 vectors`,
    `config` of `config #3`.
    """
    behind = (hit for hit in _SO_MANY_THINGS.finditer(line) if int(hit[1].replace(",", "")) == value)
    things = next(behind, None)
    if things:
        return things[2].lower()
    if _IN_BRACKETS.search(name):
        return ""
    word = _DONE_OF_THEM.search(name) or _LAST_WORD.search(_NUMBERED.sub("", name))
    return word[1].lower() if word else ""


def _falls(name: str, rows: Sequence[dict[str, _Cell]]) -> bool:
    """Whether it was there before, and began again: it numbers the rows of each part of a table."""
    return any(row[name].value >= rows[-1][name].value for row in rows[:-1])


def _goes_evenly(name: str, rows: Sequence[dict[str, _Cell]]) -> bool:
    listed = _names_something(name) or _OF_THE_OUTCOME.match(name)
    return not listed and _is_even([row[name] for row in rows], leads=True)


def _names_something(name: str) -> bool:
    return bool((_NAMES.search(name) and name != "line") or _REQUEST.search(name))


def _is_count(name: str, rows: Sequence[dict[str, _Cell]]) -> bool:
    if _names_something(name) or _OF_A_SERVICE.search(name) or _OF_RESULTS.match(name) or _is_refused(name):
        return False
    leads = "0" not in name or _IN_A_SHAPE.search(name) is not None
    if not _is_even([row[name] for row in rows], leads=leads):
        return False
    measured = any(_is_measure(other, rows) for other in rows[-2] if other != name)
    told_seldom = _is_report(name, rows) or _is_told_seldom(name, rows)
    return (
        measured or told_seldom or _is_done_with(name, rows[-1]) or _adds_up(name, rows) or _rises_with_more(name, rows)
    )


def _is_refused(name: str) -> bool:
    """`lr at epoch 30`: a word of work beside one that makes its number a setting."""
    words = name.lower().split()
    beside = [word for word in words[-3:-1] if word not in ("at", "of", "for", "in", "the")]
    return bool(words) and words[-1] in LONE_WORDS and beside[-1:] != [] and beside[-1] in NOT_A_COUNTER


def _is_told_seldom(name: str, rows: Sequence[dict[str, _Cell]]) -> bool:
    """`row 12000: checksum 8c67f`, `relaxed=15`: what is worked on, told after so many from the beginning on."""
    values = [row[name].value for row in rows]
    stride = values[-1] - values[-2]
    leads = stride >= STRIDE and _LEADS.match(name) is not None and not OF_A_LIST.match(name)
    leads = leads and all(len(row) > 1 for row in rows)  # `pair 250: w i -> freq 158`
    if not (leads or _WORKED_ON.search(name) or name == "line" or (not name and any(map(_THINGS.match, rows[-1])))):
        return False
    begins = values[0] >= stride or values[0] == 0
    return stride >= SELDOM and begins and all(value % stride == 0 for value in values)


def _is_done_with(name: str, row: dict[str, _Cell]) -> bool:
    """`page 199 fetched, queue 698`: one by one, with what was done to it."""
    return _LEADS.match(name) is not None and any(
        other.startswith(f"{name} 0 ") and _WORKED.match(other, len(name) + 3) for other in row
    )


def _adds_up(name: str, rows: Sequence[dict[str, _Cell]]) -> bool:
    """`inserted 500 rows (offset 2500)`: it goes on by what each line says was done."""
    stride = rows[-1][name].value - rows[-2][name].value
    if stride < SELDOM:
        return False
    others = {other for row in rows for other in row if other != name}
    return any(all(other in row and row[other].value == stride for row in rows) for other in others)


def _rises_with_more(name: str, rows: Sequence[dict[str, _Cell]]) -> bool:
    """`tar: 150: W: 1525760`: told after so many from the beginning on, beside the bytes of so many."""
    values = [row[name].value for row in rows]
    stride = values[-1] - values[-2]
    if "0" in name or stride < SELDOM or any(value % stride for value in values):
        return False
    others = {other for other in rows[-1] if other != name and all(other in row for row in rows)}
    return any(
        _is_even([row[other] for row in rows], leads=True) and rows[-1][other].value > values[-1] for other in others
    )


def _is_report(name: str, rows: Sequence[dict[str, _Cell]]) -> bool:
    """`Write checkpoint 4000`: told after each thousand or so, in words of work, with no other number beside it."""
    if name[-1:] in _NAMED_BY or not AUXILIARY.search(name) or any(len(row) > 1 for row in rows):
        return False
    stride = rows[-1][name].value - rows[-2][name].value
    return stride >= STRIDE and all(row[name].value % stride == 0 for row in rows)


def _is_even(column: Sequence[_Cell], *, leads: bool) -> bool:
    """Whether it goes on by the same each time, or to the same multiple. leads: it is the first number of its row:
    one that doubles there is a size, of which each row tells something.
    """
    if not all(cell.whole and 0 <= cell.value < MOST for cell in column):
        return False
    values = [cell.value for cell in column]
    pairs = list(pairwise(values))
    if any(after <= before for before, after in pairs):
        return False
    return _same(after - before for before, after in pairs) or (
        not leads and values[0] > 0 and _same(after / before for before, after in pairs)
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
    text = line if _ROW.match(line) else message(line).text  # ` 5: -3.1e+00` looks like what rank 5 has written
    text = _RANGE.sub("", text) if ".." in text or "\u2013" in text else text
    found: dict[str, _Cell] = {}
    before, at = "", 0
    for number in _NUMBER.finditer(text):
        between = text[at : number.start()]
        before += _OTHER_DIGITS.sub("0", between) if at else between
        if _FREE.search(before) and len(found) < COLUMNS:
            plain = number[1].replace(",", "")
            of_a_clock = text.startswith(":", number.end()) and text[number.end() + 1 : number.end() + 3].isdigit()
            found[_DIGITS.sub("0", " ".join(before.split()))] = _Cell(float(plain), plain.isdigit() and not of_a_clock)
        before, at = before + "0", number.end()
    return found
