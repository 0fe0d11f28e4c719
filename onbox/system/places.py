"""A large log, read at a few places: whole lines of any part, a search in both directions, a count of lines.

Reads by offset in small blocks, so memory does not grow with the log.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK_BYTES = 1 << 18


class Stretch(NamedTuple):
    """Part of a log. start, end: where it lies in the file. data: its bytes."""

    start: int
    data: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.data)


class Places:
    """The open file `fd` of `size` bytes; what is written to it meanwhile is not looked at.

    gone: between these offsets nothing can be read any more.
    """

    def __init__(self, fd: int, size: int) -> None:
        self.fd, self.size = fd, size
        self.gone = (0, 0)

    def read(self, start: int, end: int) -> bytes:
        """Fewer bytes than asked for only where the file has become shorter."""
        parts: list[bytes] = []
        while start < end and (part := os.pread(self.fd, end - start, start)):
            parts.append(part)
            start += len(part)
        return b"".join(parts)

    def lines(self, start: int, end: int) -> Stretch:
        """The whole lines between two offsets; `\\r` separates lines too. Without any break: all of it."""
        start, end = max(0, start), min(end, self.size)
        data = self.read(start, end)
        first = 0 if start == 0 else first_break(data) + 1
        last = len(data) if end >= self.size else last_break(data) + 1
        if first >= last:
            return Stretch(start, data)
        return Stretch(start + first, data[first:last])

    def line_at(self, offset: int, limit: int) -> bytes:
        """The line in which an offset lies, up to `limit` bytes on either side of it."""
        start = max(0, offset - limit)
        data = self.read(start, min(self.size, offset + limit))
        at = offset - start
        first = last_break(data[:at]) + 1
        rest = data[at:]
        return data[first : at + (first_break(rest) if first_break(rest) >= 0 else len(rest))]

    def backwards(self, words: tuple[bytes, ...], start: int, end: int) -> Iterator[int]:
        """Offsets of the words between two offsets, the last one first."""
        overlap = max(map(len, words)) - 1
        while start < end:
            begin = max(start, end - BLOCK_BYTES)
            block = self.read(begin, end + overlap)
            yield from sorted((begin + at for word in words for at in _all_in(block, word)), reverse=True)
            end = begin

    def forwards(self, word: bytes, start: int, end: int) -> int | None:
        """The offset of the first `word` between two offsets."""
        for begin in range(start, end, BLOCK_BYTES):
            at = self.read(begin, min(end, begin + BLOCK_BYTES) + len(word) - 1).find(word)
            if at >= 0:
                return begin + at
        return None

    def count_lines(self, start: int, end: int) -> int:
        """How many lines end between two offsets."""
        return sum(
            self.read(begin, min(end, begin + BLOCK_BYTES)).count(b"\n") for begin in range(start, end, BLOCK_BYTES)
        )


def spread(count: int, start: int, end: int, length: int) -> list[tuple[int, int]]:
    """So many stretches of `length` bytes, evenly between two offsets."""
    step = (end - start) // (count + 1)
    return [(start + at * step, min(end, start + at * step + length)) for at in range(1, count + 1)]


def apart(places: list[Stretch]) -> list[Stretch]:
    """Places in the order of the file; of two that overlap, the second without what the first has."""
    kept: list[Stretch] = []
    for place in sorted(places):
        done = kept[-1].end if kept else 0
        if place.start >= done:
            kept.append(place)
        elif place.end > done:
            kept.append(Stretch(done, place.data[done - place.start :]))
    return kept


def first_break(data: bytes) -> int:
    """Where the first line ends; -1: nowhere."""
    found = [at for at in (data.find(b"\n"), data.find(b"\r")) if at >= 0]
    return min(found) if found else -1


def last_break(data: bytes) -> int:
    """Where the last whole line ends; -1: nowhere."""
    return max(data.rfind(b"\n"), data.rfind(b"\r"))


def _all_in(block: bytes, word: bytes) -> Iterator[int]:
    at = block.rfind(word)
    while at >= 0:
        yield at
        at = block.rfind(word, 0, at)
