"""When to look at a job again. Pure."""

from __future__ import annotations

FIRST_LOOK_SECONDS = 120.0


def next_look_seconds(since_submission_seconds: float, every_seconds: float) -> float:
    """How long until the next look at a job that was submitted so long ago.

    A job that dies, dies early: one look after two minutes, then the normal cadence. A job that was submitted at a
    time that lies ahead (a clock that was set back) is looked at in the normal cadence.
    """
    if 0 <= since_submission_seconds < FIRST_LOOK_SECONDS:
        return min(every_seconds, FIRST_LOOK_SECONDS - since_submission_seconds)
    return every_seconds
