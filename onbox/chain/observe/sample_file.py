"""samples.jsonl and series.jsonl: appended to, not flushed, bounded in size. Grown too long, their past gets coarser,
not lost.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.contract.samples import parse_samples, render_sample
from onbox.system.clock import parse_utc
from onbox.system.files import StateNotWritten, open_own, read_file, read_tail, replace_file, write_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onbox.contract.samples import Sample

LIMIT_BYTES = 2 << 20  # at two samples a minute and 600 bytes each: a day at full resolution
READ_LIMIT_BYTES = 1 << 26  # of a file that somebody else blew up, only the end is kept
FINE_SHARE = 4  # the newest quarter is never thinned


class SampleFile:
    """The file at `path`. `missed`: samples that could not be written (a full disk); the run does not need them.

    dear: of lines that hold one of these, as few as can be are dropped.
    """

    def __init__(self, path: str, limit_bytes: int = LIMIT_BYTES, dear: tuple[bytes, ...] = ()) -> None:
        self.path, self.limit_bytes, self.missed, self.dear = path, limit_bytes, 0, dear

    def append(self, sample: Sample) -> None:
        """One line more. Opened anew each time, so that who truncates, moves or removes the file does no harm."""
        try:
            fd = open_own(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            try:
                size = os.fstat(fd).st_size
                torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
                line = (b"\n" if torn else b"") + render_sample(sample)
                write_all(fd, line)
            finally:
                os.close(fd)
        except OSError:
            self.missed += 1
            return
        if size + len(line) > self.limit_bytes:
            with suppress(OSError, StateNotWritten):  # the next one tries again
                self._thin()

    def _thin(self) -> None:
        lines = (read_tail(self.path, READ_LIMIT_BYTES) or b"").splitlines(keepends=True)
        kept = thin(list(_timed(lines)), self.dear)
        while sum(len(line) for _, line in kept) > self.limit_bytes * 3 // 4 and len(kept) > FINE_SHARE:
            kept = thin(kept, self.dear)
        replace_file(self.path, b"".join(line for _, line in kept), durable=False)


def _timed(lines: Iterable[bytes]) -> Iterator[tuple[float, bytes]]:
    """The samples among the lines, each with its time: junk must not push them out."""
    at = 0.0
    for line in lines:
        for sample in parse_samples([line]):
            at = parse_utc(sample["at"]) or at
            yield at, line


def thin(lines: list[tuple[float, bytes]], dear: tuple[bytes, ...] = ()) -> list[tuple[float, bytes]]:
    """A quarter less of all but the newest quarter, taken from where the lines are densest in time: repeated, it keeps
    the whole span at one distance. First and last stay. lines: (at_seconds, line). dear: lines that hold one of these
    go last. Pure.
    """
    coarse = len(lines) - max(1, len(lines) // FINE_SHARE)
    rank = {
        index: (any(word in lines[index][1] for word in dear), abs(lines[index + 1][0] - lines[index - 1][0]))
        for index in range(1, coarse, 2)
    }
    densest = sorted(rank, key=lambda index: rank[index])
    dropped = set(densest[: (len(densest) + 1) // 2])
    return [line for index, line in enumerate(lines) if index not in dropped]


def read_samples(path: str) -> list[Sample]:
    """Every sample there is; empty if there is no file. Raises OSError."""
    return parse_samples((read_file(path) or b"").splitlines())
