"""The last line of a log, and a search through one that is bounded in memory."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from onbox.redact import printable, redact
from onbox.system.files import read_tail

TAIL_BYTES = 4096
LINE_LIMIT = 300
BLOCK_BYTES = 1 << 20
OVERLAP_BYTES = 1 << 16


class LogLook(NamedTuple):
    """A log as it is now. last_line: the last line with anything printable in it, redacted, None if there is none
    (or, in a log without line breaks, none within the last 4 KiB). size_bytes, mtime_seconds: of the file.
    """

    size_bytes: int
    mtime_seconds: float
    last_line: str | None


def look_at_log(path: str) -> LogLook | None:
    """Look at a log's end; None if there is no such file. Raises OSError."""
    try:
        seen = os.stat(path)
    except FileNotFoundError:
        return None
    return LogLook(seen.st_size, seen.st_mtime, last_line(read_tail(path, TAIL_BYTES) or b""))


def last_line(tail: bytes) -> str | None:
    """The last printable line of a log's end. A progress bar's carriage returns separate lines too."""
    for raw in reversed(re.split(rb"[\r\n]+", tail)):
        text = printable(raw.decode("utf-8", "replace")).strip()
        if text:
            return redact(text)[:LINE_LIMIT]
    return None


def find_in_log(path: str, regex: str, start: int = 0) -> int | None:
    """The offset just behind the first match at or after the byte `start`; None if there is none (or no file).

    Reads block by block, so memory does not grow with the log; a match longer than 64 KiB may be missed.
    """
    pattern = re.compile(regex.encode("utf-8", "surrogateescape"), re.MULTILINE)
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed by the with below
    except FileNotFoundError:
        return None
    with file:
        file.seek(start)
        kept, offset = b"", start
        while block := file.read(BLOCK_BYTES):
            text = kept + block
            if found := pattern.search(text):
                return offset - len(kept) + found.end()
            offset += len(block)
            kept = text[-OVERLAP_BYTES:]
    return None
