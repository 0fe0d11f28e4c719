"""On which line of onbox.toml a key stands, for the errors of a file. Pure; tomllib tells no places."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_PATH = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_PATH})\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(rf"\s*({_PATH})\s*=(.*)$", re.DOTALL)
# What opens or closes a value that goes on over lines; closed strings and comments are one piece each.
_PIECES = re.compile(r"""\"{3}|'{3}|\"(?:[^\"\\\n]|\\.)*\"?|'[^'\n]*'?|\#[^\n]*|(?P<opens>[\[{])|(?P<closes>[\]}])""")
_ENDS = {'"""': re.compile(r'(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL), "'''": re.compile(r"(?:[^']|'(?!''))*'{3,5}")}


class _Open(NamedTuple):
    """How far a value is open: brackets that are not closed, and the sign that ends a text over lines ("": none)."""

    depth: int
    quote: str


_CLOSED = _Open(0, "")


def lines_of(text: str) -> dict[str, int]:
    """The line (from 1) of each key that stands by itself, by its path, such as `stages.train.timeout`."""
    return dict(reversed(list(_places(text))))  # the first place of each path


def line_of(lines: Mapping[str, int], path: str) -> int | None:
    """The line of the key at this path; where it does not stand by itself (an inline table, a missing key) that of what
    holds it; None: of none of it.
    """
    while path not in lines:
        above = re.sub(r"(\[\d+\]|\.?[^.\[\]]+)$", "", path)
        if above in ("", path):
            return None
        path = above
    return lines[path]


# By how the parser's word begins: what is most often the cause.
_HINTS = (
    ("Invalid value", "; is a text in quotes?"),
    ("Illegal character '\\n'", "; is a quote not closed?"),
    ("Unclosed array", "; a ] is missing"),
)


def syntax_error(said: str, text: str) -> str:
    """What the parser said, with the line in front, and that line's key or table: never a value, it may be a secret."""
    place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", said)
    if place is None:
        return said
    lines = text.rstrip().splitlines() or [""]
    number = min(int(place[1] or len(lines)), len(lines))
    seen = re.match(r"\s*([\w\[][\w\[\]. -]{0,60}?)\s*(?:=|$)", lines[number - 1])
    what = said[: place.start()]
    hint = next((hint for begin, hint in _HINTS if what.startswith(begin)), "")
    return f"line {number}{f', at {seen[1]}' if seen else ''}: {what}{hint}"


def _places(text: str) -> Iterator[tuple[str, int]]:
    """Each path that a table's head or a key of its own line names, with its line."""
    table, counts = "", dict[str, int]()
    value = _CLOSED
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if value != _CLOSED:
            value = _after(value, line)
        elif head := _HEADER.match(line):
            table = _plain(head[2])
            if head[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                yield table, number
            table = _counted(table, counts)
            yield table, number
        elif key := _KEY.match(line):
            yield f"{table}.{_plain(key[1])}".lstrip("."), number
            value = _after(_CLOSED, key[2])


def _plain(path: str) -> str:
    """The path as errors write it: without blanks, and quoted only where it must be."""
    parts = re.findall(_PART, path)
    return ".".join(part[1:-1] if re.fullmatch(r"[\"'][A-Za-z0-9_-]+[\"']", part) else part for part in parts)


def _counted(table: str, counts: dict[str, int]) -> str:
    """`boxes.a.watch.stop_at` below the second [[boxes.a.watch]] is `boxes.a.watch[1].stop_at`."""
    parts = table.split(".")
    for end in range(len(parts), 0, -1):
        above = ".".join(parts[:end])
        if above in counts:
            rest = table[len(above) :]
            return f"{above}[{counts[above]}]{rest}"
    return table


def _after(value: _Open, line: str) -> _Open:
    """What is open after one more line."""
    depth, quote = value
    at = 0
    while at < len(line):
        if quote:
            end = _ENDS[quote].match(line, at)
            if end is None:
                return _Open(depth, quote)
            at, quote = end.end(), ""
        piece = _PIECES.search(line, at)
        if piece is None:
            break
        at = piece.end()
        quote = piece[0] if piece[0] in _ENDS else ""
        depth = max(0, depth + bool(piece["opens"]) - bool(piece["closes"]))
    return _Open(depth, quote)
