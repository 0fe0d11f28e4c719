"""One script out of the sections that a box is asked for. Pure.

Values travel beside it as positional arguments, never inside it. All names of ours begin with `p_`, so that they cannot
meet a variable of the account's environment.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from patrol.probe import frames
from patrol.probe.sections import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

HUNG_SECONDS = 2  # for a section that touches files, once another one was late; a beat may come at once


class SectionCall(NamedTuple):
    """A section to ask for. label: the section's name, with `.NUMBER` where it is asked more than once. spare: only
    where a section before it was late.
    """

    label: str
    values: tuple[str, ...] = ()
    spare: bool = False

    @property
    def section(self) -> str:
        return self.label.partition(".")[0]


def build(calls: Sequence[SectionCall], nonce: str, total_seconds: int) -> tuple[str, tuple[str, ...]]:
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
    parts = ("{", *map(stripped, (frames.SHELL, *texts, frames.BEGIN)), *lines, stripped(frames.END), "} 2>/dev/null")
    return "\n".join(parts), tuple(values)


@lru_cache(maxsize=128)  # most boxes of a tick are asked the same
def stripped(text: str) -> str:
    """Without comments, indentation and empty lines."""
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line and not line.startswith("#"))
