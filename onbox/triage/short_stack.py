"""A traceback or a stack with fewer lines: those next to the fault, and the frame of the user's own code. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.model.units import counted
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN_LINES, SHOWN_WIDTH = 14, 160  # of a traceback, and so many letters of each
PYTHON_HEADLINE = "Traceback (most recent call last):"
_LEFT_OUT = lazy(r"^ {2}\.\.\. (\d{1,9}) lines? left out$")
_UNDERLINES = lazy(r"^\s+[\^~]+$")  # the part of the line above that failed: the first to go
_NEXT_FRAME = lazy(r'^\s*File "')


def shortened(lines: Sequence[str], most: int, own: int | None = None) -> tuple[str, ...]:
    """At most `most` of the lines, with what is left out told: of Python, whose innermost frame stands last, the last
    ones, of others the first. own: index of the innermost frame of the user's own code, which is always among them.
    """
    if len(lines) <= most:
        return tuple(lines)
    told = [at for at, line in enumerate(lines) if not _UNDERLINES.match(line)]
    lines, own = [lines[at] for at in told], None if own is None else told.index(own)
    if len(lines) <= most:
        return tuple(lines)
    if lines[0] != PYTHON_HEADLINE and not is_left_out(lines[0]):
        kept = set(range(most if own is None or own < most else most - 1))
        kept |= set() if own is None else {own}
    else:
        frame = set() if own is None else {own, *_code_of(lines, own)}
        first = len(lines) - most
        kept = set(range(first if not frame or min(frame) >= first else first + len(frame), len(lines))) | frame
    return _told(lines, kept)


def left_out(many: int) -> tuple[str, ...]:
    """The line that tells of lines that are not shown; none of none."""
    return (f"  ... {counted(many, 'line')} left out",) if many else ()


def is_left_out(line: str) -> bool:
    """Whether it only tells of lines that are not shown."""
    return _LEFT_OUT.match(line) is not None


def own_frame(lines: Sequence[str], where: str) -> int | None:
    """The index of a Python frame by its "file:line", None if it is not among the lines."""
    file, _, line = where.rpartition(":")
    told = f'File "{file}", line {line}'
    found = [at for at, text in enumerate(lines) if told in text and not text.partition(told)[2][:1].isdecimal()]
    return found[-1] if found else None


def _code_of(lines: Sequence[str], frame: int) -> tuple[int, ...]:
    """The index of the code of a frame, if it is told."""
    below = frame + 1
    has_code = below < len(lines) - 1 and not _NEXT_FRAME.match(lines[below]) and not _LEFT_OUT.match(lines[below])
    return (below,) if has_code else ()


def _told(lines: Sequence[str], kept: set[int]) -> tuple[str, ...]:
    """The lines that are kept, and between two of them how many are not. What was left out before counts, too."""
    told: list[str] = []
    missing = 0
    for at, line in enumerate(lines):
        before = _LEFT_OUT.match(line)
        if at in kept and not before:
            told += [*left_out(missing), line]
            missing = 0
        else:
            missing += int(before[1]) if before else 1
    return (*told, *left_out(missing))
