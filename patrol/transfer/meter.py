"""How far a transfer is: bytes, rate and time left, on a terminal one line that renews itself; and how fast
it may go.
"""

from __future__ import annotations

import shutil
import sys
from collections import deque
from typing import TYPE_CHECKING

from onbox.model.units import format_duration, format_size
from onbox.outside import safe_line
from onbox.system.clock import monotonic, pause

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

RENEW_SECONDS = 0.2
RATE_SECONDS = 10.0  # the rate is that of so long
BURST_SECONDS = 0.25  # of a limited rate


class Meter:
    """total_bytes: of all that is to come; done_bytes: of it, what was there before. limit: bytes per second, or None.
    tell: is told of progress now and then, for who looks from elsewhere.
    """

    def __init__(
        self,
        name: str,
        total_bytes: int,
        *,
        limit: float | None = None,
        stream: TextIO | None = None,
        tell: Callable[[int], None] | None = None,
    ) -> None:
        self.name, self.total_bytes, self.done_bytes = name, total_bytes, 0
        self._limit, self._tell = limit, tell
        self._stream = stream if stream is not None else sys.stderr
        self._shows = self._stream.isatty()
        self._shown_at = 0.0
        self._credit, self._credit_at = 0.0, monotonic()
        self._past: deque[tuple[float, int]] = deque(maxlen=int(RATE_SECONDS / RENEW_SECONDS))

    def add(self, count: int, file: str) -> None:
        """So many bytes came. Waits where they came faster than the limit allows."""
        self.done_bytes += count
        if self._limit is not None:
            self._slow_down(count)
        now = monotonic()
        if now - self._shown_at >= RENEW_SECONDS:
            self._shown_at = now
            self._past.append((now, self.done_bytes))
            if self._tell is not None:
                self._tell(self.done_bytes)
            if self._shows:
                self._show(file)

    def end(self) -> None:
        """Take the line away."""
        if self._shows:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _slow_down(self, count: int) -> None:
        assert self._limit is not None
        now = monotonic()
        room = self._limit * BURST_SECONDS
        self._credit = min(room, self._credit + (now - self._credit_at) * self._limit) - count
        self._credit_at = now
        if self._credit < 0:
            pause(-self._credit / self._limit)

    def _show(self, file: str) -> None:
        line = progress_line(self.name, self.done_bytes, self.total_bytes, self._rate(), file)
        width = shutil.get_terminal_size().columns
        self._stream.write(f"\r{line[: width - 1]}\x1b[K")
        self._stream.flush()

    def _rate(self) -> float | None:
        (first, before), (last, now) = self._past[0], self._past[-1]
        return (now - before) / (last - first) if last > first else None


def progress_line(name: str, done: int, total: int, rate: float | None, file: str) -> str:
    """`gpu1/digits  1.2 GB of 4.4 GB  27%  85 MB/s  eta 38s  ckpt/best.pt`. Pure."""
    percent = f"{100 * done // total}%" if total else "100%"
    words = [name, f"{format_size(done)} of {format_size(total)}", percent]
    if rate:
        words += [f"{format_size(int(rate))}/s", f"eta {format_duration(max(0.0, (total - done) / rate))}"]
    return "  ".join([*words, safe_line(file, 80)])
