"""A place in a log that grows, to go on from: only new bytes are read, and a file that was replaced or cut is
noticed."""

from __future__ import annotations

import os

from onbox.logs.skim import FIRST, Budget, skim
from onbox.named_tuple import NamedTuple
from onbox.system.files import open_plain
from onbox.system.places import Places, Stretch

BEFORE_BYTES = 256


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
    """What a look brought. stretches: of the new bytes those that are to be read, in their order; between two of them
    there may be a gap, as there may before the first one, which is known by where they start. event: `first`, `same`
    (nothing new), `grown`, `rotated` (another file), `truncated` (shorter than it was), `rewritten` (as long or longer,
    but other bytes before the offset: copied away, cut and grown again). After the last three, the stretches are of the
    file from its beginning.
    """

    cursor: Cursor
    stretches: tuple[Stretch, ...]
    event: str

    @property
    def is_fresh(self) -> bool:
        """Whether what was known of the file before no longer holds."""
        return self.event not in ("same", "grown")


def look_on(path: str, cursor: Cursor | None, budget: Budget = FIRST) -> NewBytes | None:
    """What is new in a file behind the cursor (None: all of it); None if there is no such file. Raises OSError."""
    try:
        file = open_plain(path)
    except FileNotFoundError:
        return None
    with file:
        fd = file.fileno()
        seen = os.fstat(fd)
        event = _event(fd, seen, cursor)
        start = cursor.offset if cursor is not None and event in ("same", "grown") else 0
        stretches = tuple(skim(Places(fd, seen.st_size), start, budget))
        end = stretches[-1].end if stretches else start
        if event == "grown" and end == start:
            event = "same"
        return NewBytes(Cursor(seen.st_dev, seen.st_ino, end, _before(fd, end)), stretches, event)


def _event(fd: int, seen: os.stat_result, cursor: Cursor | None) -> str:
    if cursor is None:
        return "first"
    if (seen.st_dev, seen.st_ino) != (cursor.device, cursor.inode):
        return "rotated"
    if seen.st_size < cursor.offset:
        return "truncated"
    return "grown" if _before(fd, cursor.offset) == cursor.before else "rewritten"


def _before(fd: int, offset: int) -> str:
    return Places(fd, offset).read(max(0, offset - BEFORE_BYTES), offset).hex()
