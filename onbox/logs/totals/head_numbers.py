"""The whole numbers of a log's head, each with the words around it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.line.read import read_line
from onbox.logs.totals.head import headings
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS = 3  # on either side of a number
NUMBERS_MAX = 60  # of a head
LINE_LETTERS = 500
_TOKEN = lazy(
    r"(?P<count>\d{1,3}(?:[,_]\d{3}){1,4}(?![,_]?\d)|\d{1,15})(?=(?P<more>[\w%]|[.,:/-]\d)?)|(?P<word>[^\W\d_]+)|(?P<sign>[^\s\w]|_)"
)
_HUMP = lazy(r"(?<=[a-z])(?=[A-Z])")  # of `maxEpochs`
_BREAKS = frozenset(",;|()[]{}")  # between two clauses
_JOINS = frozenset("_-.'\"")  # inside of names
COUNTING = ("train", "val")  # kinds of counters that one line is enough to know
OTHER = "#"  # where another number stands in the way


class HeadNumber(NamedTuple):
    """A whole number. left, right: the words beside it in its clause, the nearest first, in small letters; `#` where
    a number stands. clause: those to the left behind such numbers, too. before, after: the signs that touch it, but for
    what joins names; "" for a blank or the line's end. line: its place among the head's lines, from 0.
    """

    value: int
    left: tuple[str, ...]
    right: tuple[str, ...]
    clause: tuple[str, ...]
    before: str
    after: str
    line: int


class _Token(NamedTuple):
    kind: str
    text: str
    whole: bool


def numbers_of_head(beginning: bytes) -> list[HeadNumber]:
    """Those of the lines before the loop begins, but for lines that count themselves. beginning: the log's first
    bytes.
    """
    lines = [line[:LINE_LETTERS] for line in headings(beginning)]
    found = [number for at, line in enumerate(lines) for number in _of_line(line, at) if not _counts(line)]
    return found[:NUMBERS_MAX]


def _counts(line: str) -> bool:
    return any(sight.kind in COUNTING for sight in read_line(line).sights)


def _of_line(line: str, place: int) -> list[HeadNumber]:
    tokens = _tokens(line)
    found = []
    for at, token in enumerate(tokens):
        if token.kind == "count" and token.whole:
            before, after = tokens[:at][::-1], tokens[at + 1 :]
            value, left, right = int(token.text.replace(",", "").replace("_", "")), _words(before), _words(after)
            found.append(HeadNumber(value, left, right, _clause(before), _sign(before), _sign(after), place))
    return found


def _tokens(line: str) -> list[_Token]:
    text = _HUMP.sub(" ", line)
    tokens: list[_Token] = []
    end = 0
    for hit in _TOKEN.finditer(text):
        kind = hit.lastgroup or ""
        kind = "count" if hit["count"] else kind
        glued = kind == "count" and hit.start() == end and bool(tokens) and _is_glued(tokens)
        tokens.append(_Token(kind, hit[0].lower(), not glued and hit["more"] is None))
        end = hit.end()
    return tokens


def _is_glued(tokens: Sequence[_Token]) -> bool:
    """Whether what touches a number from the left makes it a part of something: `v2`, `0.9`, `1/8`, `2024-11`."""
    last = tokens[-1]
    if last.kind == "word":
        return True
    behind_number = len(tokens) > 1 and tokens[-2].kind == "count"
    return last.text == "." or (last.text in "/:-," and behind_number)


def _words(tokens: Sequence[_Token]) -> tuple[str, ...]:
    found: list[str] = []
    for token in tokens:
        if len(found) == WORDS or (token.kind == "sign" and token.text in _BREAKS):
            break
        if token.kind != "sign":
            found.append(token.text if token.kind == "word" else OTHER)
            if token.kind == "count":
                break
    return tuple(found)


def _clause(tokens: Sequence[_Token]) -> tuple[str, ...]:
    ends = next((at for at, token in enumerate(tokens) if token.text in _BREAKS), len(tokens))
    return tuple(token.text for token in tokens[:ends] if token.kind == "word")


def _sign(tokens: Sequence[_Token]) -> str:
    token = next((token for token in tokens if token.text not in _JOINS), None)
    return token.text if token is not None and token.kind == "sign" else ""
