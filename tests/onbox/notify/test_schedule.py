"""When to try again."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from onbox.contract.notify_targets import DeliveryPace
from onbox.notify.schedule import (
    RATE_MARGIN_SECONDS,
    STATUS_TABLE,
    next_try,
    parse_retry_after,
    rate_allows,
    remember,
)
from onbox.notify.types import Rate
from tests.onbox.notify.samples import NOW


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("3", 3.0),
        ("0.5", 0.5),
        (" 120 ", 120.0),
        ("999999999", 86400.0),
        ("9" * 400, 86400.0),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        (formatdate(NOW - 90, usegmt=True), 0.0),
        (formatdate(NOW + 10**8, usegmt=True), 86400.0),
        (None, None),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("1e9", None),
        ("٣", None),
        ("Sun, 99 Foo 2026 00:00:00 GMT", None),
    ],
)
def test_retry_after_in_both_forms(text: str | None, seconds: float | None) -> None:
    assert parse_retry_after(text, NOW) == seconds


def test_back_off_doubles_up_to_the_limit_and_half_is_chance() -> None:
    pace = DeliveryPace(backoff_seconds=2.0, backoff_limit_seconds=60.0)
    assert [next_try(pace, tries, None, 1.0) for tries in (1, 2, 3, 6, 9999)] == [2.0, 4.0, 8.0, 60.0, 60.0]
    assert next_try(pace, 1, None, 0.0) == 1.0


def test_what_the_channel_asks_for_counts_as_it_stands() -> None:
    assert next_try(DeliveryPace(), 9, 3600.0, 0.5) == 3600.0
    assert next_try(DeliveryPace(), 9, 0.0, 0.5) == 0.0


def test_a_rate_is_kept() -> None:
    rate, recent, now = Rate(3, 10.0), (), 100.0
    sent: list[float] = []
    times: tuple[float, ...] = recent
    for _ in range(7):
        now = rate_allows(rate, times, now)
        times = remember(rate, times, now)
        sent.append(now)
    for first, fourth in zip(sent, sent[3:], strict=False):
        assert fourth - first >= 10.0
    assert sent[:3] == [100.0] * 3
    assert sent[3] == 110.0 + RATE_MARGIN_SECONDS
    assert len(times) == 3


def test_every_status_has_a_row() -> None:
    for status in range(1000):
        assert any(row.first <= status <= row.last for row in STATUS_TABLE)
