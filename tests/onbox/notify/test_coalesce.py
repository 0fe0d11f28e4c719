"""What goes out next: order, counts instead of floods, and nothing held back for long."""

from __future__ import annotations

from onbox.notify.queue.coalesce import HOLD_LIMIT_SECONDS, HoldUntil, Send, hold_seconds, next_step
from onbox.notify.targets import TargetStanding
from tests.onbox.notify.samples import DONE, FAILED, NOW, message

STALLED = FAILED._replace(event="stalled", failure_class=None)


def test_nothing_waits() -> None:
    assert next_step([], TargetStanding(), NOW) is None


def test_different_news_goes_one_by_one_in_order() -> None:
    step = next_step([message(1), message(2, DONE)], TargetStanding(), NOW)
    assert isinstance(step, Send)
    assert [name.offset for name in step.names] == [1]
    assert (step.notice.id, step.notice.times) == ("msg_1", 1)


def test_equal_bad_news_in_a_row_becomes_a_count() -> None:
    step = next_step([message(n, STALLED) for n in range(200)] + [message(500, DONE)], TargetStanding(), NOW)
    assert isinstance(step, Send)
    assert len(step.members) == 200
    assert (step.notice.id, step.notice.times, step.notice.since) == ("msg_199_x200", 200, STALLED.at)


def test_good_news_is_never_merged() -> None:
    step = next_step([message(1, DONE), message(2, DONE)], TargetStanding(), NOW)
    assert isinstance(step, Send)
    assert len(step.members) == 1


def test_a_group_that_was_tried_keeps_its_members() -> None:
    standing = TargetStanding(tries=1, group=(message(1).name.text, message(2).name.text))
    step = next_step([message(n, STALLED) for n in (1, 2, 3, 4)], standing, NOW)
    assert isinstance(step, Send)
    assert [name.offset for name in step.names] == [1, 2]


def test_the_same_news_again_is_held_back_longer_each_time() -> None:
    told = TargetStanding(last_key=STALLED.key, last_sent=NOW - 10, repeats=1)
    assert next_step([message(1, STALLED)], told, NOW) == HoldUntil(NOW + 50)
    assert isinstance(next_step([message(1, STALLED)], told, NOW + 50), Send)
    assert [hold_seconds(n) for n in (1, 2, 3, 99)] == [60.0, 120.0, 240.0, HOLD_LIMIT_SECONDS]


def test_other_news_behind_it_ends_the_hold() -> None:
    told = TargetStanding(last_key=STALLED.key, last_sent=NOW - 10, repeats=1)
    assert isinstance(next_step([message(1, STALLED), message(2, DONE)], told, NOW), Send)


def test_a_clock_that_was_set_back_holds_nothing_for_years() -> None:
    told = TargetStanding(last_key=STALLED.key, last_sent=NOW + 1e8, repeats=1)
    assert isinstance(next_step([message(1, STALLED)], told, NOW), Send)
