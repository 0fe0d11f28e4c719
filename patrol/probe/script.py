"""One script out of the sections that a box is asked for, as small as it goes. Pure.

Values travel beside it as positional arguments, never inside it. All names of ours begin with `p_` in the sources, so
that they can be shortened, and cannot meet a variable of the account's environment.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from patrol.probe import frames
from patrol.probe.sections import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HUNG_SECONDS = 2  # for a section that touches files, once another one was late; a beat may come at once
_OURS = re.compile(r"\bp_[a-z_]+\b")


class Call(NamedTuple):
    """A section to ask for. label: the section's name, with `.NUMBER` where it is asked more than once. spare: only
    where a section before it was late.
    """

    label: str
    values: tuple[str, ...] = ()
    spare: bool = False

    @property
    def section(self) -> str:
        return self.label.partition(".")[0]


def build(calls: Sequence[Call], nonce: str, total_seconds: int) -> tuple[str, tuple[str, ...]]:
    """The script and its positional values."""
    texts = tuple(dict.fromkeys(text for call in calls for text in BY_NAME[call.section].texts))
    lines, values = [], [nonce, str(total_seconds)]
    for call in calls:
        section = BY_NAME[call.section]
        places = range(len(values) + 1, len(values) + 1 + len(call.values))
        words = " ".join(f'"${{{place}}}"' for place in places)
        seconds = f"$((p_calm?{section.seconds}:{HUNG_SECONDS}))" if section.files else str(section.seconds)
        only = "[ $p_calm = 1 ] || " if call.spare else ""
        lines.append(f"{only}p_section {call.label} {seconds} {section.function} {words}")
        values += call.values
    small = minify((frames.SHELL, *texts, frames.BEGIN), frames.END)
    return "\n".join(("{", small.head, small.shorten("\n".join(lines)), small.tail, "} 2>/dev/null")), tuple(values)


class Small(NamedTuple):
    """What stands before and behind the calls of the sections, and the short names in it."""

    head: str
    tail: str
    names: dict[str, str]

    def shorten(self, text: str) -> str:
        return _OURS.sub(lambda found: self.names[found[0]], text)


@lru_cache(maxsize=8)  # most boxes of a tick are asked the same
def minify(head: tuple[str, ...], tail: str = "") -> Small:
    """Without comments, indentation and empty lines, and with short names for ours."""
    texts = []
    for text in ("\n".join(head), tail):
        lines = [line.strip() for line in text.split("\n")]
        texts.append("\n".join(line for line in lines if line and not line.startswith("#")))
    names = [name for name, _ in Counter(_OURS.findall("\n".join(texts))).most_common()]
    small = Small("", "", dict(zip(names, _short_names(), strict=False)))
    return small._replace(head=small.shorten(texts[0]), tail=small.shorten(texts[1]))


def _short_names() -> Iterator[str]:
    """Names that no command has: one capital letter, then a letter and a digit."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    yield from letters.upper()
    for digit in "0123456789":
        yield from (letter + digit for letter in letters)
