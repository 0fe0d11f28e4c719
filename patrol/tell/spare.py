"""Room that was taken while there was some: what must be kept is written into it in place, on a full disk, too.

Two halves, written in turn and each with its checksum: whoever is killed in between leaves the other one whole.
"""

from __future__ import annotations

import errno
import os
import zlib
from typing import TYPE_CHECKING

from onbox.system.files import StateNotWritten, open_own, pwrite_all, read_file, replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence

HALF_BYTES = 128 << 10
HEAD_BYTES = 64


class Spare:
    """A file of two halves."""

    def __init__(self, path: str) -> None:
        self.path = path

    def reserve(self) -> None:
        """Take the room, all of it, where that was not done yet. Raises StateNotWritten."""
        if not os.path.exists(self.path):
            replace_file(self.path, b" " * (2 * HALF_BYTES))

    def read(self) -> bytes | None:
        """What was written last; None where there is nothing whole. Raises OSError."""
        return max(self._halves(), default=(0, None))[1]

    def write(self, data: bytes) -> None:
        """Raises StateNotWritten, also where no room was taken in time."""
        number = max((number for number, _ in self._halves()), default=0) + 1
        head = f"{number} {len(data)} {zlib.crc32(data):08x}\n".encode().ljust(HEAD_BYTES)
        try:
            if len(data) > HALF_BYTES - HEAD_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
            fd = open_own(self.path, os.O_WRONLY)
            try:
                pwrite_all(fd, head + data, (number % 2) * HALF_BYTES)
                os.fsync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            raise StateNotWritten(self.path, error) from error

    def _halves(self) -> Sequence[tuple[int, bytes]]:
        text = read_file(self.path, 2 * HALF_BYTES) or b""
        found = (_parse(text[at : at + HALF_BYTES]) for at in (0, HALF_BYTES))
        return [one for one in found if one is not None]


def _parse(half: bytes) -> tuple[int, bytes] | None:
    words = half[:HEAD_BYTES].split()
    if len(words) != 3 or not words[0].isdigit() or not words[1].isdigit():
        return None
    data = half[HEAD_BYTES : HEAD_BYTES + int(words[1])]
    whole = len(data) == int(words[1]) and f"{zlib.crc32(data):08x}".encode() == words[2]
    return (int(words[0]), data) if whole else None
