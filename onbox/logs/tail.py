"""The last line of a log, and a search through one that is bounded in memory."""

from __future__ import annotations

import os
import re
from collections import deque
from contextlib import closing
from typing import TYPE_CHECKING

from onbox.logs.farewell import is_farewell
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.clock import monotonic
from onbox.system.files import open_plain, read_tail
from onbox.system.time_limit import TooLong, time_limit

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

TAIL_BYTES = 4096
LINE_LIMIT = 300
BLOCK_BYTES = 1 << 20
OVERLAP_BYTES = 1 << 16
SEARCH_SECONDS = 4.0  # of matching, reading aside, and one more for every so many bytes
SEARCH_BYTES_PER_SECOND = 10_000_000  # what the slowest expression that anybody means to write still does


class LogTail(NamedTuple):
    """A log as it is now. last_line: the last line with anything printable in it, redacted, None if there is none
    (or, in a log without line breaks, none within the last 4 KiB). size_bytes, mtime_seconds: of the file.
    """

    size_bytes: int
    mtime_seconds: float
    last_line: str | None


def look_at_log(path: str) -> LogTail | None:
    """Look at a log's end; None if there is no such file. Raises OSError."""
    try:
        seen = os.stat(path)
    except FileNotFoundError:
        return None
    return LogTail(seen.st_size, seen.st_mtime, last_line(read_tail(path, TAIL_BYTES) or b""))


def last_line(tail: bytes) -> str | None:
    """The last printable line of a log's end. A progress bar's carriage returns separate lines too."""
    for raw in reversed(re.split(rb"[\r\n]+", tail)):
        text = safe_line(raw.decode("utf-8", "replace").strip(), LINE_LIMIT).strip()
        if text:
            return text
    return None


def last_words(tail: bytes) -> str | None:
    """The last line of the program's own: trackers and frameworks say goodbye after it. The last line, where that end
    holds no other.
    """
    lines = [text for raw in re.split(rb"[\r\n]+", tail) if (text := last_line(raw))]
    return next((text for text in reversed(lines) if not is_farewell(text)), lines[-1] if lines else None)


def find_in_log(path: str, regex: str, start: int = 0) -> int | None:
    """The offset just behind the first match in the lines that begin at or after the byte `start`; None if there is
    none (or no file). Raises TooLong where the expression backtracks for ever.
    """
    with closing(_matches(path, regex, start)) as found:
        return next(found, None)


def find_last_in_log(path: str, regex: str, start: int = 0) -> int | None:
    """As `find_in_log`, of the last match."""
    last = deque(_matches(path, regex, start), maxlen=1)
    return last[0] if last else None


def _matches(path: str, regex: str, start: int) -> Generator[int, None, None]:
    """Offsets just behind each line's first match.

    Reads block by block and searches whole lines only, so memory does not grow with the log and `^` and `$` mean lines.
    A line of over 64 KiB is searched in parts.
    """
    search = _Search(regex)
    try:
        file = open_plain(path)
    except FileNotFoundError:
        return
    with file:
        if start > 0:
            file.seek(start - 1)
            file.readline()  # the rest of a line that began before `start`
        offset, text, seen = file.tell(), b"", 0  # `seen`: bytes before the text proper, kept so that `^` means a line
        while block := file.read(BLOCK_BYTES):
            text += block
            whole = text.rfind(b"\n") + 1
            if not whole and len(text) <= OVERLAP_BYTES:
                continue
            for end in search.ends(text, seen, whole or len(text)):
                if whole or end < len(text):
                    yield offset + end
            kept = whole or len(text) - OVERLAP_BYTES - 1
            offset, text, seen = offset + kept, text[kept:], 0 if whole else 1
        for end in search.ends(text, seen, len(text)) if text else ():
            yield offset + end


def line_before(path: str, offset: int) -> str:
    """The line in which the byte before `offset` lies, for people to read, bounded. Raises OSError."""
    with open_plain(path) as file:
        start = max(0, offset - TAIL_BYTES)
        file.seek(start)
        text = file.read(offset - start + LINE_LIMIT)
    at = max(0, offset - start - 1)
    line = text[text.rfind(b"\n", 0, at) + 1 :].split(b"\n", 1)[0]
    return last_line(line) or ""


class _Search:
    """A regular expression with a limit on the time that all of its searches take together."""

    def __init__(self, regex: str) -> None:
        self._pattern = re.compile(regex.encode("utf-8", "surrogateescape"), re.MULTILINE)
        self._left = SEARCH_SECONDS

    def ends(self, text: bytes, start: int, end: int) -> Iterator[int]:
        """Where each line's first match ends."""
        while start < end and (found := self(text, start, end)):
            yield found.end()
            line_end = text.find(b"\n", found.end(), end)
            start = end if line_end < 0 else line_end + 1

    def __call__(self, text: bytes, start: int, end: int) -> re.Match[bytes] | None:
        if self._left <= 0:
            raise TooLong
        began = monotonic()
        self._left += (end - start) / SEARCH_BYTES_PER_SECOND
        with time_limit(self._left):
            found = self._pattern.search(text, start, end)
        self._left -= monotonic() - began
        return found
