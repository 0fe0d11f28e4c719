"""How long a patrol may be silent by its own schedule. Pure."""

from __future__ import annotations

FALLBACK_SECONDS = 1800.0
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MINUTES_OF_WEEK = 7 * 24 * 60


def cadence_of(schedule: str) -> float:
    """The longest gap between two firings within a week, in seconds; 1800 where the schedule cannot be read.

    Minute, hour and day of week count; a schedule that also leaves out days of the month, or months, is taken as if it
    did not.
    """
    fields = schedule.split()
    if len(fields) != 5:
        return FALLBACK_SECONDS
    try:
        minutes, hours, days = _values(fields[0], 0, 59), _values(fields[1], 0, 23), _days(fields[4])
    except ValueError:
        return FALLBACK_SECONDS
    firings = [(day * 24 + hour) * 60 + minute for day in days for hour in hours for minute in minutes]
    if not firings:
        return FALLBACK_SECONDS
    following = [*firings[1:], firings[0] + _MINUTES_OF_WEEK]
    return 60.0 * max(later - earlier for earlier, later in zip(firings, following, strict=True))


def _values(field: str, low: int, high: int) -> list[int]:
    """The values of one field, in order: `*`, `3,33`, `9-17`, `*/10`. Raises ValueError where it is something else."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        if dash and not last:
            raise ValueError(field)
        start = low if span == "*" else int(first)
        end = high if span == "*" or (step and not last) else int(last or first)
        found.update(range(start, end + 1, int(step or 1)))
    return sorted(value for value in found if low <= value <= high)


def _days(field: str) -> list[int]:
    lower = field.lower()
    for number, name in enumerate(_DAYS):
        lower = lower.replace(name, str(number))
    return sorted({day % 7 for day in _values(lower, 0, 7)})
