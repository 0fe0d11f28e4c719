"""When a disk runs full: told for a leak, not for what comes and goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.collectors.trend import seconds_until_empty

if TYPE_CHECKING:
    from collections.abc import Callable

GB = 1e9
BEAT = 30.0


def points(free: Callable[[float], float], ended: float = 7200.0, began: float = 0.0) -> list[tuple[float, float]]:
    """A look every 30 seconds."""
    count = int((ended - began) / BEAT) + 1
    return [(began + BEAT * number, free(began + BEAT * number)) for number in range(count)]


def alarms(free: Callable[[float], float], after: float, ended: float = 4 * 3600.0) -> list[float]:
    """When something was foretold, looking at every beat from `after` on."""
    seen = points(free, ended)
    told = ((at, seconds_until_empty(seen[: index + 1])) for index, (at, _) in enumerate(seen))
    return [at for at, left in told if left is not None and at >= after]


@pytest.mark.parametrize("per_second", [1e6, 5e6, 1e7])
def test_a_leak_is_foretold(per_second: float) -> None:
    left = seconds_until_empty(points(lambda at: 100 * GB - per_second * at))
    assert left == pytest.approx((100 * GB - per_second * 7200) / per_second, rel=0.01)


def test_a_leak_is_seen_through_its_noise() -> None:
    left = seconds_until_empty(points(lambda at: 100 * GB - 1e7 * at + (1 * GB if at % 60 else 0)))
    assert left == pytest.approx(28e9 / 1e7, rel=0.1)


def test_a_leak_by_checkpoints_is_foretold() -> None:
    left = seconds_until_empty(points(lambda at: 100 * GB - 5 * GB * (at // 600)))
    assert left == pytest.approx(8 * 600, rel=0.1)


def test_only_the_last_hour_counts() -> None:
    assert seconds_until_empty(points(lambda at: max(50 * GB, 100 * GB - 1e7 * at), 4 * 3600)) is None
    left = seconds_until_empty(points(lambda at: 100 * GB - max(0.0, at - 3600) * 1e7, 7200))
    assert left == pytest.approx(6400, rel=0.05)


@pytest.mark.parametrize("held_seconds", [30, 60, 120, 240])
@pytest.mark.parametrize("every_seconds", [600, 900, 1800, 3600, 5400])
def test_a_checkpoint_written_then_pruned_is_no_alarm(every_seconds: int, held_seconds: int) -> None:
    """The new one is there before the old one goes: for a while both are."""

    def free(at: float) -> float:
        return 100 * GB - (20 * GB if at % every_seconds >= every_seconds - held_seconds else 0)

    assert alarms(free, after=0.0) == []


@pytest.mark.parametrize("every_seconds", [300, 600, 1200, 1800])
def test_a_sawtooth_is_no_alarm_once_it_was_seen(every_seconds: int) -> None:
    """Written bit by bit, pruned at once."""
    assert alarms(lambda at: 100 * GB - 40 * GB * (at % every_seconds) / every_seconds, after=3600.0) == []


def test_keeping_three_is_no_alarm_once_there_are_three() -> None:
    assert alarms(lambda at: 100 * GB - 10 * GB * min(3, at // 600), after=1800.0 + 3600.0) == []


@pytest.mark.parametrize("slope", [0.0, 1e6])
def test_what_does_not_shrink_never_ends(slope: float) -> None:
    assert seconds_until_empty(points(lambda at: 50 * GB + slope * at)) is None


def test_noise_alone_is_no_trend() -> None:
    assert alarms(lambda at: 50 * GB + 1e9 * ((at * 7919) % 13), after=600.0) == []


@pytest.mark.parametrize(
    "few",
    [
        [],
        [(0.0, 9.0)],
        [(0.0, 9.0), (3000.0, 1.0)],
        [(0.0, 9.0), (20.0, 8.0), (59.0, 7.0)],
        [(5.0, 9.0), (5.0, 8.0), (5.0, 7.0)],
        [(0.0, 9.0), (4000.0, 8.0), (8000.0, 7.0)],
    ],
)
def test_too_little_was_seen(few: list[tuple[float, float]]) -> None:
    assert seconds_until_empty(few) is None


def test_three_points_over_a_minute_are_enough() -> None:
    assert seconds_until_empty([(0.0, 900.0), (30.0, 600.0), (60.0, 300.0)]) == pytest.approx(30.0)


def test_two_minutes_do_not_foretell_half_a_day() -> None:
    assert seconds_until_empty([(0.0, 13.6 * GB), (50.0, 13.57 * GB), (110.0, 13.54 * GB)]) is None
    assert seconds_until_empty([(0.0, 13.6 * GB), (50.0, 12.3 * GB), (110.0, 11.0 * GB)]) == pytest.approx(470, rel=0.1)


def test_what_is_empty_is_empty_now() -> None:
    assert seconds_until_empty(points(lambda at: 3600.0 - at, 3600.0)) == 0.0


def test_more_than_a_week_away_is_not_told() -> None:
    assert seconds_until_empty(points(lambda at: 100 * GB - 1e5 * at)) is None


@pytest.mark.parametrize("back_seconds", [1.0, 1800.0, 86400.0, 1e9])
def test_a_clock_set_back_foretells_nothing_false(back_seconds: float) -> None:
    """The amount does not shrink; only the time runs twice."""
    before = points(lambda at: 50 * GB)
    after = [(at - back_seconds, free) for at, free in points(lambda at: 50 * GB, 9000.0, 7200.0)]
    assert seconds_until_empty(before + after) is None


def test_a_leak_is_told_again_after_the_clock_was_set_back() -> None:
    leak = points(lambda at: 100 * GB - 1e7 * at)
    shifted = [(at - 86400.0 if at > 3600 else at, free) for at, free in leak]
    left = seconds_until_empty(shifted)
    assert left is None or left == pytest.approx(2800, rel=0.1)


@pytest.mark.parametrize("looks", [3, 10, 60, 119])
def test_one_lone_step_foretells_nothing(looks: int) -> None:
    """Half the disk was copied onto it once, some looks ago."""
    step = 7200 - BEAT * looks
    assert seconds_until_empty(points(lambda at: 100 * GB - (50 * GB if at > step else 0))) is None
