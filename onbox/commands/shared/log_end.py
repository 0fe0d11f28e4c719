"""The last lines of a log, whatever its size."""

from __future__ import annotations

import os

from onbox.system.files import open_plain

BLOCK_BYTES = 1 << 16
END_LIMIT_BYTES = 1 << 22  # of lines without end, this much is shown


def read_end(path: str, lines: int) -> bytes:
    """The last `lines` lines of a file, read backwards in blocks: the cost is that of the lines, not of the file."""
    with open_plain(path) as file:
        at = file.seek(0, os.SEEK_END)
        blocks: list[bytes] = []
        breaks = size = 0
        while at > 0 and breaks <= lines and size < END_LIMIT_BYTES:
            step = min(BLOCK_BYTES, at)
            at -= step
            file.seek(at)
            blocks.append(file.read(step))
            breaks, size = breaks + blocks[-1].count(b"\n"), size + step
    return b"".join(b"".join(reversed(blocks)).splitlines(keepends=True)[-lines:]) if lines else b""
