"""When a crontab schedule is due: the last time before now, and the next one. Pure but for the local time zone.

As crontab(5): five fields; a day matches by day of month or day of week when both are restricted.
"""

from __future__ import annotations

import time
from itertools import pairwise

from onbox.named_tuple import NamedTuple

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAYS = "sun mon tue wed thu fri sat".split()
# name, lowest, highest, names
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, ("", *_MONTHS)),
    ("day of week", 0, 7, (*_DAYS, "sun")),
)
_LIMIT_DAYS = 366 * 8  # 29 February comes at the latest then


class BadSchedule(ValueError):
    """Not a schedule; the text says which field."""


class Schedule(NamedTuple):
    """The values at which each field matches. any_day, any_weekday: the field begins with `*`."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def has_day(self, at: time.struct_time) -> bool:
        if at.tm_mon not in self.months:
            return False
        day, weekday = at.tm_mday in self.days, (at.tm_wday + 1) % 7 in self.weekdays
        return (day and weekday) if self.any_day or self.any_weekday else (day or weekday)


def parse_schedule(text: str) -> Schedule:
    """Raises BadSchedule."""
    words = text.lower().split()
    if len(words) != len(_FIELDS):
        raise BadSchedule(f"{text!r}: wanted five fields as in a crontab")
    fields = (_parse_field(word, *field) for word, field in zip(words, _FIELDS, strict=True))
    minutes, hours, days, months, weekdays = fields
    any_day, any_weekday = words[2].startswith("*"), words[4].startswith("*")
    return Schedule(minutes, hours, days, months, frozenset(day % 7 for day in weekdays), any_day, any_weekday)


def _parse_field(text: str, name: str, low: int, high: int, names: tuple[str, ...]) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step_text = part.partition("/")
        first_text, dash, last_text = span.partition("-")
        if span == "*":
            first, last = low, high
        else:
            first = _number(first_text, name, names)
            last = _number(last_text, name, names) if dash else (high if slash else first)
        step = _number(step_text, name, ()) if slash else 1
        if not low <= first <= last <= high or step < 1:
            raise BadSchedule(f"{name}: {part!r} is not within {low}-{high}")
        found.update(range(first, last + 1, step))
    return frozenset(found)


def _number(text: str, name: str, names: tuple[str, ...]) -> int:
    if text and text in names:
        return names.index(text)
    if not (text.isascii() and text.isdigit() and len(text) < 4):
        raise BadSchedule(f"{name}: {text!r} is not a number")
    return int(text)


def next_due(schedule: Schedule, after: float) -> float | None:
    """The first minute later than `after` at which it is due, in seconds since the epoch; None: never."""
    return _seek(schedule, after, 1)


def last_due(schedule: Schedule, before: float) -> float | None:
    """The last minute not later than `before` at which it was due; None: never."""
    return _seek(schedule, before, -1)


def _seek(schedule: Schedule, start: float, direction: int) -> float | None:
    minute = int(start // 60) * 60 + (60 if direction > 0 else 0)
    for _ in range(_LIMIT_DAYS):
        day = time.localtime(minute)
        if schedule.has_day(day):
            found = _seek_in_day(schedule, minute, direction)
            if found is not None:
                return found
        minute = _beside(minute, direction)
    return None


def _seek_in_day(schedule: Schedule, minute: int, direction: int) -> float | None:
    """Minute by minute in real time, so that a change of the clock within the day is met as cron meets it."""
    day = time.localtime(minute).tm_yday
    while (at := time.localtime(minute)).tm_yday == day:
        if at.tm_hour in schedule.hours and at.tm_min in schedule.minutes:
            return float(minute)
        minute += 60 * direction
    return None


def _beside(minute: int, direction: int) -> int:
    """The first minute of the next day, or the last one of the day before."""
    at = time.localtime(minute)
    if direction > 0:
        return int(time.mktime((at.tm_year, at.tm_mon, at.tm_mday + 1, 0, 0, 0, 0, 0, -1)))
    return int(time.mktime((at.tm_year, at.tm_mon, at.tm_mday, 0, 0, 0, 0, 0, -1))) - 60


def cadence_seconds(schedule: Schedule, now: float) -> float:
    """The longest pause between two of the next few times that it is due; a day if that cannot be told."""
    times = [now]
    for _ in range(5):
        due = next_due(schedule, times[-1])
        if due is None:
            return 86400.0
        times.append(due)
    return max(later - sooner for sooner, later in pairwise(times[1:]))
