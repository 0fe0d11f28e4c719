"""Whether a log's last line is a result: a number with its name, and nothing else. Pure."""

from __future__ import annotations

from onbox.logs.farewell import is_farewell
from onbox.regex import lazy

LIMIT = 40

# `acc 0.967`, `val/f1: 91.2%`
_METRIC = lazy(
    r"[A-Za-z][\w@/.-]{0,28}(?: [A-Za-z][\w@/.-]{0,28}){0,3}(?: ?[:=] ?| )[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?\s?%?"
)


def metric_in(line: str) -> str:
    """The line itself; "" where it is not a result."""
    text = " ".join(line[: LIMIT + 1].split())
    return text if len(text) <= LIMIT and _METRIC.fullmatch(text) and not is_farewell(text) else ""
