"""On which line of onbox.toml a key stands, for the errors of a file. Pure; tomllib tells no places."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_PATH = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_PATH})\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(rf"\s*({_PATH})\s*=(.*)$", re.DOTALL)
# What opens or closes a value that goes on over lines; strings and comments are one piece each.
_PIECES = re.compile(
    r"""\"{3}.*?\"{3}|'{3}.*?'{3}|(\"{3}|'{3})|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|\#[^\n]*|([\[{])|([\]}])""", re.DOTALL
)


def line_of(text: str, path: str) -> int | None:
    """The line (from 1) of the key at this path, such as `stages.train.timeout` or `triage[0].class`; where it does not
    stand by itself (an inline table, a missing key) that of what holds it; None: of none of it.
    """
    lines = dict(reversed(list(_places(text))))  # the first place of each path
    while path and path not in lines:
        path = re.sub(r"(\[\d+\]|\.?[^.\[\]]+)$", "", path)
    return lines.get(path)


def _places(text: str) -> Iterator[tuple[str, int]]:
    """Each path that a table's head or a key of its own line names, with its line."""
    table, counts = "", dict[str, int]()
    held, begun = "", 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if held:
            held += line
            held = held if _is_open(held) else ""
            continue
        if head := _HEADER.match(line):
            table = _plain(head[2])
            if head[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                yield table, number
            table = _counted(table, counts)
            yield table, number
        elif key := _KEY.match(line):
            yield f"{table}.{_plain(key[1])}".lstrip("."), number
            held, begun = (key[2], number) if _is_open(key[2]) else ("", begun)


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


def _is_open(value: str) -> bool:
    """Whether a value goes on after these lines."""
    depth = 0
    for piece in _PIECES.finditer(value):
        if piece[1]:
            return True
        depth += bool(piece[2]) - bool(piece[3])
    return depth > 0
