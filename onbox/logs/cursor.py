"""A place in a log that grows, to go on from: only new bytes are read, and a file that was replaced or cut is
noticed."""

from __future__ import annotations

import os

from onbox.named_tuple import NamedTuple
from onbox.system.files import open_plain

BEFORE_BYTES = 256
HEAD_BYTES = 1 << 18  # of a log that is too long to read whole, its beginning: maxima stand there
LOOK_LIMIT_BYTES = 1 << 26


class Cursor(NamedTuple):
    """How far a file has been read. before: by what the up to 256 bytes before the offset are known again: here these
    bytes as hex digits (a hash would load OpenSSL: 4 MiB of the runner's memory); whoever keeps a cursor in a file may
    keep a hash of them.
    """

    device: int
    inode: int
    offset: int
    before: str


class NewBytes(NamedTuple):
    """What a look brought. pieces: the new bytes; between two of them, bytes were skipped. event: `first`, `same`
    (nothing new), `grown`, `rotated` (another file), `truncated` (shorter than it was), `rewritten` (as long or longer,
    but other bytes before the offset: copied away, cut and grown again). After the last three, the pieces are the file
    from its beginning. skipped_bytes: how many new bytes were left out to stay within the limit.
    """

    cursor: Cursor
    pieces: tuple[bytes, ...]
    event: str
    skipped_bytes: int

    @property
    def is_fresh(self) -> bool:
        """Whether what was known of the file before no longer holds."""
        return self.event not in ("same", "grown")


def look_on(path: str, cursor: Cursor | None, limit_bytes: int = LOOK_LIMIT_BYTES) -> NewBytes | None:
    """The bytes of a file behind the cursor (None: all of them); None if there is no such file. Raises OSError."""
    try:
        file = open_plain(path)
    except FileNotFoundError:
        return None
    with file:
        fd = file.fileno()
        seen = os.fstat(fd)
        event = _event(fd, seen, cursor)
        start = cursor.offset if cursor is not None and event in ("same", "grown") else 0
        pieces, end, skipped = _read(fd, start, seen.st_size, limit_bytes)
        if event == "grown" and end == start:
            event = "same"
        return NewBytes(Cursor(seen.st_dev, seen.st_ino, end, _before(fd, end)), pieces, event, skipped)


def _event(fd: int, seen: os.stat_result, cursor: Cursor | None) -> str:
    if cursor is None:
        return "first"
    if (seen.st_dev, seen.st_ino) != (cursor.device, cursor.inode):
        return "rotated"
    if seen.st_size < cursor.offset:
        return "truncated"
    return "grown" if _before(fd, cursor.offset) == cursor.before else "rewritten"


def _before(fd: int, offset: int) -> str:
    start = max(0, offset - BEFORE_BYTES)
    return _pread(fd, start, offset - start).hex()


def _read(fd: int, start: int, size: int, limit: int) -> tuple[tuple[bytes, ...], int, int]:
    """The pieces, where they end, and how many bytes were skipped: the beginning of a file and its end are kept."""
    new = size - start
    if new <= limit:
        data = _pread(fd, start, new)
        return ((data,) if data else ()), start + len(data), 0
    head = min(HEAD_BYTES, limit // 4) if start == 0 else 0
    tail = limit - head
    first = _pread(fd, start, head)
    last = _pread(fd, size - tail, tail)
    pieces = tuple(piece for piece in (first, last) if piece)
    return pieces, size - tail + len(last), new - head - tail


def _pread(fd: int, start: int, count: int) -> bytes:
    """Up to `count` bytes; fewer only where the file ends."""
    parts: list[bytes] = []
    while count > 0 and (part := os.pread(fd, count, start)):
        parts.append(part)
        start, count = start + len(part), count - len(part)
    return b"".join(parts)
