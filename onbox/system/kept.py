"""What passed through a pipe, kept as far as a reading from both ends needs it: the beginning and the end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from typing import TYPE_CHECKING

from onbox.system.places import Places

if TYPE_CHECKING:
    from typing import BinaryIO

HEAD_BYTES = 1 << 20
TAIL_BYTES = (1 << 23) + (1 << 16)  # the most that `onbox.logs.large` reads of an end, and somewhat more
PIPE_BYTES = 1 << 20
F_SETPIPE_SZ = 1031  # Linux; Python names it from 3.10 on, but not on every system


class Kept(Places):
    """A stream that has ended. Between the beginning and the end it reads as nothing.

    head: the beginning. ring: of `passed` bytes behind it the last ones, each at its offset modulo the ring's length.
    breaks: how many lines ended in those `passed` bytes.
    """

    def __init__(self, head: bytes, ring: bytearray, passed: int, breaks: int) -> None:
        super().__init__(-1, len(head) + passed)
        self.head, self.ring, self.passed = head, ring, passed
        self.gone = (len(head), len(head) + max(0, passed - len(ring)))
        self.gone_lines = breaks - super().count_lines(self.gone[1], self.size)

    def read(self, start: int, end: int) -> bytes:
        if start >= len(self.head):
            return self._behind(start - len(self.head), end - len(self.head))
        joined = self.passed <= len(self.ring) and end > len(self.head)
        return self.head[start:end] + (self._behind(0, end - len(self.head)) if joined else b"")

    def count_lines(self, start: int, end: int) -> int:
        """Those of the part that is gone are counted with its last byte."""
        first, after = self.gone
        if not start < after <= end:
            return super().count_lines(start, end)
        return super().count_lines(start, first) + self.gone_lines + super().count_lines(after, end)

    def _behind(self, start: int, end: int) -> bytes:
        """What came behind the head, by its offset from there."""
        end, length = min(end, self.passed), len(self.ring)
        if start >= end or start < self.passed - length:
            return b""
        at, until = start % length, (end - 1) % length + 1
        return bytes(self.ring[at:until]) if at < until else bytes(self.ring[at:]) + bytes(self.ring[:until])


def places_of(stream: BinaryIO) -> Places:
    """The whole stream: a file is read where it lies; a pipe, and a file that tells no size (as in /proc), is read to
    its end.
    """
    fd = stream.fileno()
    seen = os.fstat(fd)
    if stat.S_ISREG(seen.st_mode) and seen.st_size and os.lseek(fd, 0, os.SEEK_CUR) == 0:
        return Places(fd, seen.st_size)
    with contextlib.suppress(OSError):  # a terminal, or a pipe that may not grow: slower, no more
        fcntl.fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES)
    return _keep(fd)


def _keep(fd: int) -> Kept:
    """Read into the same memory again and again: most of a large stream is only passed by."""
    head = bytearray()
    while len(head) < HEAD_BYTES and (part := os.read(fd, HEAD_BYTES - len(head))):
        head += part
    ring = bytearray(TAIL_BYTES if len(head) == HEAD_BYTES else 0)
    view, passed, breaks, at = memoryview(ring), 0, 0, 0
    while ring and (count := os.readv(fd, [view[at:]])):
        breaks += ring.count(b"\n", at, at + count)
        passed += count
        at = passed % TAIL_BYTES
    return Kept(bytes(head), ring, passed, breaks)
