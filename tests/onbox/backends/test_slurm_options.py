"""The options of sbatch that follow from others, and when to look again."""

from __future__ import annotations

import pytest

from onbox.backends.cadence import next_look_seconds
from onbox.backends.slurm.options import limit_seconds, with_warning


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1800.0, "30"),
        (90.0, "1:30"),
        (43200.0, "12:00:00"),
        (86400.0, "1-0"),
        (88200.0, "1-0:30"),
        (88215.0, "1-0:30:15"),
        (None, "UNLIMITED"),
        (None, "0"),
        (None, ""),
    ],
)
def test_time_limits_are_read_as_sbatch_does(seconds: float | None, text: str) -> None:
    assert seconds == limit_seconds(text)


def test_a_job_is_warned_before_its_limit() -> None:
    options = (("time", "12:00:00"),)
    assert with_warning(options, lead_seconds=None, grace_seconds=30.0)[-1] == ("signal", "B:USR1@90")
    assert with_warning(options, lead_seconds=300.0, grace_seconds=30.0)[-1] == ("signal", "B:USR1@300")
    assert with_warning((), lead_seconds=None, grace_seconds=30.0)[-1] == ("signal", "B:USR1@90")


def test_a_short_limit_is_not_warned_of_as_slurm_may_warn_a_minute_early() -> None:
    assert with_warning((("time", "5"),), lead_seconds=None, grace_seconds=30.0) == (("time", "5"),)
    assert with_warning((("time", "1-0"),), lead_seconds=0.0, grace_seconds=30.0) == (("time", "1-0"),)


@pytest.mark.parametrize(("wait", "since"), [(120, 0), (20, 100), (1800, 120), (1800, 9999), (1800, -5)])
def test_the_first_look_comes_after_two_minutes(wait: float, since: float) -> None:
    assert wait == next_look_seconds(since, 1800)
