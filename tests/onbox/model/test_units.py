"""Durations and sizes as people write them."""

from __future__ import annotations

import pytest

from onbox.model.units import format_duration, format_size, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (90, 90.0),
        (0.25, 0.25),
        ("0", 0.0),
        ("90", 90.0),
        ("30s", 30.0),
        ("250ms", 0.25),
        ("30m", 1800.0),
        ("5min", 300.0),
        ("12h", 43200.0),
        ("1h30m", 5400.0),
        ("1.5h", 5400.0),
        (" 2 d 3 h ", 183600.0),
        ("1W", 604800.0),
    ],
)
def test_durations_become_seconds(text: str | float, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    ["", " ", "h", "12 parsecs", "1h foo", "-5s", -1, "1e3", "1:30", True, float("nan"), float("inf"), "9999999w"],
)
def test_what_is_no_duration_is_refused(text: str | float) -> None:
    with pytest.raises(ValueError, match="a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (0, 0),
        (512, 512),
        ("512", 512),
        ("512b", 512),
        ("5GB", 5 * 10**9),
        ("5GiB", 5 * 2**30),
        ("5g", 5 * 10**9),
        ("5Gi", 5 * 2**30),
        ("1.5 kB", 1500),
        (" 2TB ", 2 * 10**12),
    ],
)
def test_sizes_become_bytes(text: str | int, count: int) -> None:
    assert parse_size(text) == count


@pytest.mark.parametrize("text", ["", "GB", "5XB", "-1", -1, True, "5%", "1e9", "5 GB free"])
def test_what_is_no_size_is_refused(text: str | int) -> None:
    with pytest.raises(ValueError, match="a size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.00s"),
        (0.42, "0.42s"),
        (12.34, "12.3s"),
        (60, "1m00s"),
        (245, "4m05s"),
        (3599.4, "59m59s"),
        (3599.6, "1h00m"),
        (4320, "1h12m"),
        (273600, "3d04h"),
    ],
)
def test_durations_are_printed_short(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (45_123, "45.1 kB"),
        (999_960, "1.0 MB"),
        (5 * 10**9, "5.0 GB"),
        (10**19, "10000.0 PB"),
    ],
)
def test_sizes_are_printed_in_decimal_units(count: int, text: str) -> None:
    assert format_size(count) == text
