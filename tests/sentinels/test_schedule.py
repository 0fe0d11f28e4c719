"""The pace of the long-poll and its back-off."""

from __future__ import annotations

from sentinels.link.schedule import LinkPace, pause_before_try, race_after, short_pace


def test_an_idle_hour_takes_at_most_fifteen_connections() -> None:
    pace = LinkPace()
    assert 3600 / pace.renew <= 15
    assert pace.renew < pace.hold <= 300


def test_a_dead_link_is_noticed_in_twelve_seconds_and_a_waiter_that_has_gone_in_thirty() -> None:
    pace = LinkPace()
    assert pace.beat <= 10
    assert pace.silence + pace.race <= 12
    assert 2 * pace.ping < pace.deaf <= 30 - pace.silence


def test_pauses_grow_with_failures_up_to_three_seconds() -> None:
    assert pause_before_try(1, 0, 1.0) == 0.5
    assert pause_before_try(50, 0, 1.0) == 3.0
    assert [pause_before_try(n, 0, 0.0) for n in (1, 50)] == [0.05, 0.05]


def test_a_long_outage_is_waited_out_with_fewer_logins() -> None:
    assert [pause_before_try(50, seconds, 1.0) for seconds in (599, 601, 3599, 4000)] == [3, 10, 10, 30]


def test_a_slow_login_is_given_twice_its_usual_time() -> None:
    assert [race_after(LinkPace(), usual) for usual in (None, 0.3, 4.0)] == [2.5, 2.5, 8.0]


def test_in_a_long_outage_hanging_logins_are_overtaken_less_often() -> None:
    assert [race_after(LinkPace(), None, seconds) for seconds in (0, 599, 601, 4000)] == [2.5, 2.5, 10.0, 30.0]


def test_short_connections_take_one_look() -> None:
    pace = short_pace(60)
    assert (pace.hold, pace.deaf, pace.short_poll) == (0, 0, 60)
