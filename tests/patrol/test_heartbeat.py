"""Whether the patrol itself is alive, apart from what it says of runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.cron.schedule import parse_schedule
from patrol.timer.heartbeat import FILE, Heartbeat, read_heartbeat, stand, write_heartbeat

if TYPE_CHECKING:
    from pathlib import Path

HALF_HOUR = 1800.0
SCHEDULE = parse_schedule("3,33 * * * *")
BEGAN = 1_790_001_180.0 - 1_790_001_180.0 % 1800 + 180  # at :03 or :33 of UTC


# A schedule means local time; the machine may be in a zone of odd quarters.
pytestmark = pytest.mark.usefixtures("universal_time")


@pytest.mark.parametrize(("age", "stale"), [(0.0, False), (2 * HALF_HOUR, False), (2 * HALF_HOUR + 1, True)])
def test_stale_is_more_than_two_cadences(age: float, stale: object) -> None:
    standing = stand(Heartbeat(BEGAN, 1, timer_at=BEGAN), SCHEDULE, BEGAN + age)
    assert (standing.stale, standing.timer_stale) == (stale, stale)


def test_a_tick_by_hand_hides_no_dead_cron() -> None:
    now = BEGAN + 9 * HALF_HOUR
    standing = stand(Heartbeat(now - 5, 1, timer_at=BEGAN), SCHEDULE, now)
    assert (standing.stale, standing.timer_stale) == (False, True)


@pytest.mark.parametrize(("ticks", "missed"), [(1, 0), (2, 1), (9, 8)])
def test_missed_ticks_are_counted(ticks: int, missed: int) -> None:
    """The one that is just beginning is not missed."""
    standing = stand(Heartbeat(BEGAN, 1, timer_at=BEGAN), SCHEDULE, BEGAN + ticks * HALF_HOUR + 2)
    assert standing.missed == missed


def test_without_any_tick_nothing_is_claimed() -> None:
    standing = stand(None, SCHEDULE, BEGAN + 5)
    assert (standing.stale, standing.timer_stale, standing.missed) == (None, None, 0)
    assert standing.next_due_at == BEGAN + HALF_HOUR


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"pid": 1}', b"\xff"])
def test_a_file_that_is_none_is_no_heartbeat(tmp_path: Path, text: bytes) -> None:
    folder = os.fspath(tmp_path)
    assert read_heartbeat(folder) is None
    (tmp_path / FILE).write_bytes(text)
    assert read_heartbeat(folder) is None
    write_heartbeat(folder, Heartbeat(BEGAN, 1, trouble="a\nü"))
    assert read_heartbeat(folder) == Heartbeat(BEGAN, 1, trouble="a\nü")


@pytest.mark.parametrize(
    "text",
    ['{"began_at": "x", "pid": []}', '{"began_at": NaN, "pid": 1}', '{"began_at": 1, "pid": 1, "trouble": 5}', "[]"],
)
def test_a_sign_of_life_that_nobody_understands_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert read_heartbeat(os.fspath(tmp_path)) is None
