"""The append-only file behind a run: whole lines, flushed to the disk, a torn end cut off on opening."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.system.files import StateNotWritten, lines_of, open_own, open_plain, pwrite_all, sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterator


class Journal:
    """An open journal. Only the holder of the run's lock may have one."""

    def __init__(self, path: str) -> None:
        """Open for appending; creates the file. A last line without newline, left by a crash, is cut off."""
        self.path = path
        try:
            new = not os.path.exists(path)
            self._fd = open_own(path, os.O_RDWR | os.O_CREAT)
            self._size = self._cut_torn_end()
            if new:
                sync_folder(os.path.dirname(path))
        except OSError as error:
            raise StateNotWritten(path, error) from error

    @property
    def size(self) -> int:
        """Bytes of whole lines."""
        return self._size

    def _cut_torn_end(self) -> int:
        size = os.fstat(self._fd).st_size
        while size:
            start = max(0, size - 65536)
            block = os.pread(self._fd, size - start, start)
            whole = block.rfind(b"\n") + 1
            if whole:
                size = start + whole
                break
            size = start
        os.ftruncate(self._fd, size)
        return size

    def append(self, lines: bytes, *, sync: bool = True) -> None:
        """Append whole lines. On failure nothing of them stays. Raises StateNotWritten."""
        try:
            pwrite_all(self._fd, lines, self._size)
            if sync:
                os.fdatasync(self._fd)
            self._size += len(lines)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._fd, self._size)
            raise StateNotWritten(self.path, error) from error

    def sync(self) -> None:
        """Flush what `append(sync=False)` wrote. Raises StateNotWritten."""
        try:
            os.fdatasync(self._fd)
        except OSError as error:
            raise StateNotWritten(self.path, error) from error

    def close(self) -> None:
        os.close(self._fd)


def read_lines(path: str) -> Iterator[bytes]:
    """The journal's lines, each with its newline but perhaps the last. No lines when there is no file."""
    try:
        file = open_plain(path)
    except FileNotFoundError:
        return
    with file:
        yield from lines_of(file)
