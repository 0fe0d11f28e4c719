"""Lines for a terminal of 80 columns: what is most important is whole, what is least important is cut. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from onbox.model.fence_signs import CLOSE, close_fence, is_open

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 80
SEPARATOR = " · "
LABEL_WIDTH = 8
_COMMAND = re.compile("`[^`]*`")
_INNER_BLANK = "\0"
LINES = 4  # of one label: more is for --wide and --json


def columns(text: str) -> int:
    """How many columns a terminal gives to it: two to a wide letter, none to a mark upon one."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(one) else 1 + (unicodedata.east_asian_width(one) in "WF") for one in text)


def clip(text: str, width: int) -> str:
    """At most so many columns; a cut is shown."""
    if columns(text) <= width:
        return text
    kept, used = [], 0
    for one in text:
        used += columns(one)
        if used > width - 1:
            break
        kept.append(one)
    return close_fence("".join(kept).rstrip() + "…")


def joined(parts: Sequence[str], width: int = WIDTH) -> str:
    """The parts that are not empty, as many as there is room for; the first is the most important one. The first that
    does not fit is cut where a word or two of it are left, and the others are not said.
    """
    line = ""
    for part in filter(None, parts):
        longer = f"{line}{SEPARATOR}{part}" if line else part
        if columns(longer) <= width:
            line = longer
            continue
        return clip(longer, width) if width - columns(line) - len(SEPARATOR) >= LABEL_WIDTH else line
    return line


def labelled(label: str, text: str, *, width: int | None = WIDTH, lines: int = LINES) -> list[str]:
    """`  label    text`, folded between words below itself; what is beyond so many lines is cut.

    width: None: one line, whatever its length.
    """
    head = f"  {label:<{LABEL_WIDTH}} "
    if width is None:
        return [(head + text).rstrip()]
    shown = folded(text, width - len(head), lines)
    return [(head if number == 0 else " " * len(head)) + part for number, part in enumerate(shown)]


def folded(text: str, width: int, lines: int) -> list[str]:
    """The text between words on lines of so many columns; what is beyond so many lines is cut."""
    rest = text.strip()
    shown: list[str] = []
    while rest and len(shown) < lines - 1 and columns(rest) > width:
        at = _break_at(rest, width)
        shown.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    last = clip(rest, width)
    return [*shown, last if last == rest or not is_open("".join([*shown, last])) else last[:-2] + "…" + CLOSE]


def hanging(head: str, text: str, indent: int = 6, width: int = WIDTH) -> list[str]:
    """Head and text on one line; what is beyond it is folded below, so far to the right, and is never cut. A word that
    is longer than a line stays whole, and so does a command between backquotes: they are to be copied.
    """
    line, shown = head, []
    for number, word in enumerate(_words(text)):
        longer = f"{line} {word}" if number else f"{line}{word}"
        has_more_room = number > 0 or columns(head) > indent
        if word and has_more_room and columns(longer) > width:
            shown.append(line.rstrip())
            longer = " " * indent + word
        line = longer
    return [*shown, line.rstrip()]


def _words(text: str) -> list[str]:
    kept = _COMMAND.sub(lambda found: found[0].replace(" ", _INNER_BLANK), text)
    return [word.replace(_INNER_BLANK, " ") for word in kept.split(" ")]


def whole(label: str, text: str) -> list[str]:
    """`  label    text` on one line, never cut: a command or a path is copied as it stands."""
    return labelled(label, text, width=None)


def _break_at(text: str, room: int) -> int:
    """Behind the last blank that fits, and before a command between backquotes that does not; a word that is longer
    than the line is cut.
    """
    fits = len(clip(text, room + 1)) - 1 or 1
    blank = text.rfind(" ", 0, fits + 1)
    command = next((one.start() for one in _COMMAND.finditer(text) if one.start() < blank < one.end()), 0)
    return command or (blank if blank > 0 else fits)
