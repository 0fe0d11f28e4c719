"""A log's head: what it says before its loop begins. Pure."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile

from onbox.logs.model.lines import message, readable
from onbox.regex import lazy

BEGINNING_BYTES = 1024
LINES = 20  # of a beginning
_BREAKS = lazy(rb"[\r\n]+")
_DRAWN_OVER = lazy(rb"\r[^\n]")
_NO_FORM = lazy(rb"[\d.\s]+")
_DIGIT = lazy(rb"\d")
# What went wrong stands in the head where stderr was written above stdout: its numbers tell where, not how many.
_FAILS = lazy(
    r"(?i)^\W{0,8}(?:[\w.]{0,60}(?:error|exception|interrupt|exit|warning)(?::(?!\s{0,4}\d)| (?:at|in|on|while) )"
    r"|traceback|fatal|abort(?:ed|ing)|panic|killed)|\b(?:diverged|unstable|nearly singular|nan in|nans in)\b"
)


def beginning_of(so_far: bytes, more: bytes) -> bytes:
    """The first bytes of a log, up to what is drawn over, wherever its pieces were cut."""
    known = so_far + more[: BEGINNING_BYTES - len(so_far)]
    drawn = _DRAWN_OVER.search(known)
    return known[: drawn.end()] if drawn else known


def headings(beginning: bytes) -> list[str]:
    """The first lines, up to one with a number whose form comes again: there the loop begins."""
    lines = _BREAKS.split(beginning)
    if len(beginning) >= BEGINNING_BYTES:
        del lines[-1]  # it may be cut
    forms = Counter(_NO_FORM.sub(b"", line) for line in lines)
    before = takewhile(lambda line: forms[_NO_FORM.sub(b"", line)] == 1 or not _DIGIT.search(line), lines)
    once = [line for line in before if forms[_NO_FORM.sub(b"", line)] == 1]
    told = [message(readable(line)).text for line in once[:LINES]]
    return [text for text in told if not _FAILS.search(text)]
