"""Times as files tell them."""

from __future__ import annotations

import pytest

from onbox.system.clock import parse_utc, utc_text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00.000Z", 0.0),
        ("2000-02-29T23:59:59.999Z", 951868799.999),
        ("2026-11-22T11:50:40.668Z", 1795348240.668),
        ("2024-12-31T00:00:00Z", 1735603200.0),
        ("2024-03-01T00:00:00", 1709251200.0),
        ("2026-11-22T11:50:40.5Z", 1795348240.5),
        ("2026-11-22T11:50:40.123456Z", 1795348240.123),
    ],
)
def test_a_time_is_read_to_the_millisecond(text: str, seconds: float) -> None:
    assert parse_utc(text) == seconds


def test_every_day_of_four_centuries_reads_back() -> None:
    for day in range(-200 * 365, 200 * 365):
        assert parse_utc(utc_text(day * 86400.0 + 0.25)) == day * 86400.0 + 0.25


@pytest.mark.parametrize(
    "text",
    ["", "Z", "today", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01", "99"],
)
def test_what_is_not_a_time_is_none(text: str) -> None:
    assert parse_utc(text) is None
