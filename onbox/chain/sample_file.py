"""samples.jsonl: appended to, not flushed, bounded in size. Grown too long, its past gets coarser, not lost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.contract.samples import parse_samples, render_sample
from onbox.system.files import StateNotWritten, read_file, replace_file, write_all

if TYPE_CHECKING:
    from onbox.contract.samples import Sample

LIMIT_BYTES = 2 << 20  # at two samples a minute and 600 bytes each: a day at full resolution
FINE_SHARE = 4  # the newest quarter is never thinned


class SampleFile:
    """The file at `path`. `missed`: samples that could not be written (a full disk); the run does not need them."""

    def __init__(self, path: str, limit_bytes: int = LIMIT_BYTES) -> None:
        self.path, self.limit_bytes, self.missed = path, limit_bytes, 0

    def append(self, sample: Sample) -> None:
        """One line more. Opened anew each time, so that who truncates, moves or removes the file does no harm."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                size = os.fstat(fd).st_size
                torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
                write_all(fd, (b"\n" if torn else b"") + render_sample(sample))
            finally:
                os.close(fd)
            if size > self.limit_bytes:
                self._thin()
        except (OSError, StateNotWritten):
            self.missed += 1

    def _thin(self) -> None:
        lines = (read_file(self.path) or b"").splitlines(keepends=True)
        kept = thin(lines)
        while sum(map(len, kept)) > self.limit_bytes * 3 // 4 and len(kept) > FINE_SHARE:
            kept = thin(kept)
        replace_file(self.path, b"".join(kept), durable=False)


def thin(lines: list[bytes]) -> list[bytes]:
    """Every second line of all but the newest quarter. Pure."""
    fine = len(lines) - len(lines) // FINE_SHARE
    return lines[:fine:2] + lines[fine:]


def read_samples(path: str) -> list[Sample]:
    """Every sample there is; empty if there is no file. Raises OSError."""
    return parse_samples((read_file(path) or b"").splitlines())
