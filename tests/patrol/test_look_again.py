"""Two minutes after a start there is one more look."""

from __future__ import annotations

from patrol.act.look_again import look_again_in
from tests.patrol.makers import box, run
from tests.patrol.test_news import Watch


def test_a_run_that_was_just_resumed_is_looked_at_when_it_is_two_minutes_old() -> None:
    watch = Watch()
    (judged,) = watch.judged(gpu1=box(runs=(run(),)))
    (one,) = judged.runs
    assert look_again_in((judged,), watch.now, submitted=True) == {}
    resumed = judged._replace(runs=(one._replace(after=one.after._replace(restarts=((watch.now - 20, ""),))),))
    assert look_again_in((resumed,), watch.now, submitted=False) == {"gpu1": 100.0}
    assert look_again_in((resumed,), watch.now + 120, submitted=True) == {}


def test_a_job_that_somebody_submitted_is_looked_at_by_a_timer_only() -> None:
    watch = Watch()
    (judged,) = watch.judged(gpu1=box(runs=(run(submitted_age_seconds=30.0),)))
    assert look_again_in((judged,), watch.now, submitted=True) == {"gpu1": 90.0}
    assert look_again_in((judged,), watch.now, submitted=False) == {}
