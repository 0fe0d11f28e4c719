"""The page's Markdown. What a box says can form none of it: it comes into a line only through the functions here, and
the page takes no line that was made in another way. `box_words`, `box_name` and `box_path` fence it. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.fence import fence, fence_name

if TYPE_CHECKING:
    from collections.abc import Iterable


class Markdown(str):
    """Text whose marks are ours. To be made by the functions here only."""

    __slots__ = ()


def md(template: str, *values: object) -> Markdown:
    """Our own words, with a value in the place of each `{}`: Markdown as it is, everything else as `prose`."""
    return Markdown(template.format(*map(_marked, values)))


def joined(separator: str, parts: Iterable[object]) -> Markdown:
    return Markdown(separator.join(map(_marked, parts)))


def _marked(value: object) -> Markdown:
    return value if isinstance(value, Markdown) else prose(str(value))


def prose(text: str) -> Markdown:
    """One line, that can form no code, no emphasis, no link, no HTML, no heading and no table."""
    return Markdown(_EDGE.sub(lambda found: r"\_" * len(found[0]), text.translate(_PROSE)))


def box_words(text: str) -> Markdown:
    """Words that a box wrote, in the fence that they have everywhere."""
    return prose(fence(text))


def box_name(text: str) -> Markdown:
    """A name of a box, in a fence where it is more than one word."""
    return prose(fence_name(text))


def box_path(text: str) -> Markdown:
    """A path of a box as code, in a fence where it is more than one word."""
    return code(fence_name(text))


def code(text: str) -> Markdown:
    """Inline code, whatever backticks it holds; one line."""
    text = text.translate(_BREAKS)
    if "`" not in text:
        return Markdown(f"`{text}`")
    fence = "`" * (max(map(len, re.findall("`+", text))) + 1)
    return Markdown(f"{fence} {text} {fence}")


def page_of(lines: Iterable[Markdown]) -> str:
    """The lines as one text. Raises TypeError for one that was not made here."""
    lines = list(lines)
    strange = next((line for line in lines if not isinstance(line, Markdown)), None)
    if strange is not None:
        raise TypeError(f"a line of the page was not made of Markdown: {strange!r}")
    return "\n".join(lines)


_BREAKS = str.maketrans({"\n": "⏎", "\r": " ", "\t": " "})
_PROSE = _BREAKS | str.maketrans({"`": "'", "*": "·", "<": "(", ">": ")", "[": "(", "]": ")", "#": "♯", "|": "¦"})
_EDGE = re.compile(r"(?<![A-Za-z0-9])_+|__+|_+(?![A-Za-z0-9])")  # within a word an underscore emphasises nothing
