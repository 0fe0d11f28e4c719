"""Since when something is so: when it happened, and not when somebody looked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.contract.readings import Unseen
from tests.patrol.makers import TICK, artifacts, away, box, dead, done, failure, log, run, watched
from tests.patrol.test_news import Watch

if TYPE_CHECKING:
    from patrol.snapshot import RunLook, Snapshot
    from patrol.verdict import Verdict


def verdict_of(watch: Watch, snapshot: Snapshot) -> Verdict:
    ((one,),) = (judged.runs for judged in watch.judged(gpu1=snapshot))
    return one.verdict


def look(found: RunLook) -> Snapshot:
    return box(runs=(found,))


@pytest.mark.parametrize(
    ("found", "rule", "age"),
    [
        (dead(failure=failure(), outcome="chain_failed", ended_age_seconds=840.0), "failed", 840.0),
        (done(), "done", 600.0),
        (dead(heartbeat_age_seconds=4000.0, log=log(age=4020.0), artifacts=artifacts(9000.0)), "interrupted", 4000.0),
        (run(log=log(age=5400.0), artifacts=artifacts(7200.0), heartbeat_age_seconds=9000.0), "stalled", 5400.0),
        (watched(stage_alive=False, log=log(age=700.0), failure=failure()), "crashed", 700.0),
    ],
)  # fmt: skip
def test_it_is_when_it_happened_also_at_the_first_look(found: RunLook, rule: str, age: float) -> None:
    watch = Watch()
    told = verdict_of(watch, look(found))
    assert (told.finding.rule, told.since, told.happened) == (rule, watch.now - age, True)


def test_what_shows_no_time_of_its_own_is_first_seen() -> None:
    watch = Watch()
    unseen = look(dead(failure=failure(), outcome="chain_failed", ended_age_seconds=Unseen("its time is odd"),
                       log=Unseen("a hung mount")))  # fmt: skip
    first = verdict_of(watch, unseen)
    seen_at = watch.now
    assert (first.since, first.happened) == (seen_at, False)
    assert verdict_of(watch, unseen).since == seen_at


def test_an_outage_does_not_begin_it_anew() -> None:
    watch = Watch()
    healthy = verdict_of(watch, look(run())).since
    for _ in range(5):
        verdict_of(watch, away("timeout"))
    assert verdict_of(watch, look(run())).since == healthy


def test_an_outage_is_told_from_its_first_failed_look_on() -> None:
    watch = Watch()
    verdict_of(watch, look(run()))
    verdict_of(watch, look(dead(heartbeat_age_seconds=4000.0)))
    first = watch.now + TICK
    assert [verdict_of(watch, away("timeout")).since for _ in range(3)] == [first] * 3


def test_another_verdict_in_between_begins_it_anew() -> None:
    watch = Watch()
    verdict_of(watch, look(run()))
    verdict_of(watch, look(run(log=log(age=5400.0), artifacts=artifacts(7200.0))))
    again = verdict_of(watch, look(run()))
    assert again.since == watch.now
