"""Time: the wall clock for people and files, the monotonic clock for durations."""

from __future__ import annotations

import re
import time

monotonic = time.monotonic
wall = time.time
cpu_seconds = time.process_time  # of this process
pause = time.sleep  # only where no event tells that it is time to look again

_UTC = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})T(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d+))?Z?", re.ASCII)


def utc_text(seconds: float) -> str:
    """Seconds since the epoch as `2026-11-21T05:10:24.123Z`. Plain `time`: `datetime` would cost the runner 2 ms."""
    whole = int(seconds // 1)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{int((seconds - whole) * 1000):03d}Z"


def local_text(seconds: float) -> str:
    """Seconds since the epoch as `2026-11-21 06:10:24`, by this machine's clock and zone: for people."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def parse_utc(text: str) -> float | None:
    """The inverse of `utc_text`; None if `text` is not such a time. `strptime` would load four modules for it, and the
    runner asks for every stage.
    """
    found = _UTC.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = fields = tuple(map(int, found.groups()[:6]))
    seconds = utc_seconds(year, month, day, hour, minute, second)
    if time.gmtime(seconds)[:6] != fields:  # the 30th of February, 25 o'clock
        return None
    return seconds + int((found[7] or "0")[:3].ljust(3, "0")) / 1000


def utc_seconds(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int:
    """Seconds since the epoch, also of a time that does not exist. `calendar.timegm` would load datetime and locale: a
    megabyte in a runner for weeks.
    """
    return _days_since_1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second


def _days_since_1970(year: int, month: int, day: int) -> int:
    """By the Gregorian calendar. The year is taken to begin in March, so that a leap day is its last."""
    before_march = month < 3
    year, month = year - before_march, month + 12 * before_march - 3
    return day + (153 * month + 2) // 5 + 365 * year + year // 4 - year // 100 + year // 400 - 719469
