"""Pieces of text as they may stand in a handbook: no secrets, no control characters, one line, bounded. Pure."""

from __future__ import annotations

import calendar
import time

from onbox.model.fence_signs import close_fence
from onbox.outside import safe_line, safe_words

TEXT_LIMIT = 400


def safe(value: object, limit: int = TEXT_LIMIT) -> str:
    """Any text from a box, a file or a person."""
    return close_fence(safe_words(value, limit))


def safe_path(value: object) -> str:
    """A path: nothing of it is folded together, so that it still names its file."""
    return safe_line(value)


def as_typed(value: object) -> str:
    """A command as it is; "" where it cannot be shown so: a command that was cleaned is another one."""
    return value if isinstance(value, str) and safe_line(value) == value else ""


def clock(seconds: float | None) -> str:
    """`2026-11-21 05:03 UTC`; `never` for None."""
    if seconds is None:
        return "never"
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(int(seconds)))


def clock_exact(seconds: float) -> str:
    """`2026-11-21 05:03:17 UTC`."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(int(seconds)))


def clock_seconds(text: str) -> float | None:
    """Back from `clock_exact`; None for anything else."""
    try:
        return float(calendar.timegm(time.strptime(text, "%Y-%m-%d %H:%M:%S UTC")))
    except ValueError:
        return None
