"""Lines of a log as they may leave the process: without secrets, none of them endless; all else stays. Pure."""

from __future__ import annotations

import re

from onbox.redact import redact

WIDTH = 4096  # characters of a line
_EDGE = 512  # beside a cut, where half a secret may stand
_UNDER_WAY = 1 << 16  # so much of a line without end is held
_BREAK = re.compile(rb"[\r\n]")


def shown_lines(data: bytes) -> bytes:
    """Whole lines of a log. Of one that is too wide the beginning and the end, and how much is left out between."""
    text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    shown = redact(text) if all(len(line) <= WIDTH for line in lines) else "\n".join(map(_shown, lines))
    return shown.encode("utf-8", "surrogateescape")


def _shown(line: str) -> str:
    if len(line) <= WIDTH:
        return redact(line)
    half = WIDTH // 2
    left_out = f" ... {len(line) - 2 * half} characters left out ... "
    return redact(line[: half + _EDGE])[:half] + left_out + redact(line[-half - _EDGE :])[-half:]


class GrowingLines:
    """A log that grows: a line is shown once it has ended, or stands still."""

    def __init__(self) -> None:
        self._begun = b""

    def take(self, data: bytes) -> bytes:
        """What can be shown now."""
        text = self._begun + data
        ends = [found.end() for found in _BREAK.finditer(text)]
        at = ends[-1] if ends else 0
        self._begun = text[at:]
        return shown_lines(text[:at]) + (self.rest() if len(self._begun) > _UNDER_WAY else b"")

    def rest(self) -> bytes:
        """The line that has begun, as far as it has come."""
        begun, self._begun = self._begun, b""
        return shown_lines(begun)
