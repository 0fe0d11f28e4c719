"""What a rented box costs: spent, and while nothing runs there."""

from __future__ import annotations

import pytest

from onbox.config.fields import Unwanted
from onbox.config.tables.billing import amount, price
from onbox.contract.readings import Absent, Unseen
from onbox.model.boxes import Billing
from patrol.cost import cost_of, cost_words, idle_seconds_of
from tests.patrol.makers import NOW, box, done, run

BILLING = Billing(price("2.10 USD/h"), started_at=NOW - 36_000.0, budget=20.0, idle_budget=1.0)


@pytest.mark.parametrize(("text", "per_hour"), [("2.10 USD/h", 2.1), ("48 EUR/day", 2.0), ("1.5USD / hour", 1.5)])
def test_a_price_is_by_the_hour_or_day(text: str, per_hour: float) -> None:
    assert price(text).of(3600.0) == pytest.approx(per_hour)


@pytest.mark.parametrize("text", ["2.10", "USD", "2.10 USD", "2.10 usd/h", "-1 USD/h", "2.10 USD/week", "1e9 USD/h"])
def test_what_is_not_a_price_is_refused(text: str) -> None:
    with pytest.raises(Unwanted):
        price(text)
    with pytest.raises(Unwanted):
        amount("20")


def test_idle_begins_when_the_last_run_ended() -> None:
    both = (done(ended_age_seconds=7200.0), done(run="b", ended_age_seconds=3600.0))
    cost = cost_of(box(billing=BILLING, runs=both), NOW)
    assert cost is not None
    assert cost_words(cost) == "21.00 USD · idle for 1h00m: 2.10 USD"
    assert cost.over_budget
    assert cost.idle_over_budget


def test_a_live_run_or_one_that_was_not_seen_is_not_idle() -> None:
    assert isinstance(idle_seconds_of((done(), run(run="b"))), Absent)
    assert isinstance(idle_seconds_of((done(), done(run="b", stage_alive=Unseen("hung")))), Unseen)
    assert isinstance(idle_seconds_of(Unseen("hung")), Unseen)
    assert isinstance(idle_seconds_of(()), Absent)


def test_without_a_price_nothing_is_said() -> None:
    assert cost_of(box(runs=(done(),)), NOW) is None
