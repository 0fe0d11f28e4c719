"""Time: the wall clock for people and files, the monotonic clock for durations."""

from __future__ import annotations

import time

monotonic = time.monotonic
wall = time.time
pause = time.sleep  # only where no event tells that it is time to look again


def utc_text(seconds: float) -> str:
    """Seconds since the epoch as `2026-11-21T05:10:24.123Z`. Plain `time`: `datetime` would cost the runner 2 ms."""
    whole = int(seconds // 1)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{int((seconds - whole) * 1000):03d}Z"


def local_text(seconds: float) -> str:
    """Seconds since the epoch as `2026-11-21 06:10:24`, by this machine's clock and zone: for people."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def parse_utc(text: str) -> float | None:
    """The inverse of `utc_text`; None if `text` is no such time."""
    import calendar  # noqa: PLC0415 - only viewers and judges of old attempts need it

    try:
        whole, _, milliseconds = text.rstrip("Z").partition(".")
        seconds = calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S"))
        return seconds + (int(milliseconds[:3].ljust(3, "0")) / 1000 if milliseconds else 0.0)
    except ValueError:
        return None
