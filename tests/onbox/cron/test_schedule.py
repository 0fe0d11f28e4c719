"""When a tick was due and when it is due next, as cron would have it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from onbox.cron.schedule import BadSchedule, cadence_seconds, last_due, next_due, parse_schedule

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(text: str) -> float:
    return time.mktime(time.strptime(text, "%Y-%m-%d %H:%M"))


CASES = [
    ("3,33 * * * *", "2026-11-21 11:48", "2026-11-21 12:03", "2026-11-21 11:33"),
    ("3,33 * * * *", "2026-11-21 11:33", "2026-11-21 12:03", "2026-11-21 11:33"),
    ("3,33 * * * *", "2026-12-31 23:40", "2027-01-01 00:03", "2026-12-31 23:33"),
    ("*/15 8-9 * * *", "2026-11-21 09:50", "2026-11-22 08:00", "2026-11-21 09:45"),
    ("0 4 1 * mon", "2026-11-21 12:00", "2026-11-23 04:00", "2026-11-16 04:00"),
    ("0 4 * * 7", "2026-11-21 12:00", "2026-11-22 04:00", "2026-11-15 04:00"),
    ("0 0 29 feb *", "2026-11-21 12:00", "2028-02-29 00:00", "2024-02-29 00:00"),
    ("30 2 * * *", "2026-03-28 12:00", "2026-03-30 02:30", "2026-03-28 02:30"),  # no 02:30 on the 29th
]


@pytest.mark.parametrize(("schedule", "now", "later", "sooner"), CASES)
def test_the_times_beside_now(schedule: str, now: str, later: str, sooner: str) -> None:
    parsed = parse_schedule(schedule)
    assert next_due(parsed, at(now)) == at(later)
    assert last_due(parsed, at(now)) == at(sooner)


def test_a_day_that_never_comes() -> None:
    assert next_due(parse_schedule("0 0 31 2 *"), at("2026-11-21 11:48")) is None


@pytest.mark.parametrize(
    ("schedule", "seconds"), [("3,33 * * * *", 1800.0), ("0 8 * * *", 86400.0), ("0,10 * * * *", 3000.0)]
)
def test_the_cadence_is_the_longest_pause(schedule: str, seconds: float) -> None:
    assert cadence_seconds(parse_schedule(schedule), at("2026-11-21 11:48")) == seconds


@pytest.mark.parametrize("schedule", ["* * * *", "60 * * * *", "5-1 * * * *", "*/0 * * * *", "x * * * *", "1, * * * *"])
def test_a_bad_schedule_is_refused(schedule: str) -> None:
    with pytest.raises(BadSchedule):
        parse_schedule(schedule)
