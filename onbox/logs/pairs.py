"""The loss of each step that a log shows, for comparing two attempts of the same stage. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.line.read import read_line
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_PIECES = lazy(rb"[\r\n]+")
_WHOLE = lazy(rb"(?<![\d.])\d{1,15}(?![\d.])")

Counters = tuple[float, ...]


def losses_by_step(data: bytes, steps: Collection[bytes] | None = None) -> Iterator[tuple[Counters, float]]:
    """Each whole line with a training loss and a counter: all counters on it, and the loss.

    steps: lines without one of these numbers are passed over unread; None: all are read.
    """
    for line in _PIECES.split(data)[:-1]:
        if b"oss" not in line or len(line) > 1000:
            continue
        if steps is not None and not any(number in steps for number in _WHOLE.findall(line)):
            continue
        seen = read_line(line.decode("utf-8", "replace"))
        counters = tuple(float(one.current) for one in seen.sights if one.kind != "val")
        if counters and isinstance(seen.loss, float | int):
            yield counters, float(seen.loss)


def numbers_of(counters: Collection[Counters]) -> frozenset[bytes]:
    """The counters as they stand in a log."""
    return frozenset(b"%d" % value for one in counters for value in one if value.is_integer())
