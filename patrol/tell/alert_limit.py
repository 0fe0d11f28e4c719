"""How often one trouble of one run is told within a day: a run that flaps makes a few messages, not fifty. Pure.

What is not told now is compared again at the next tick, as it was never told: so a trouble that lasts is told as soon
as the day allows it, and the daily message shows it anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Subject: TypeAlias = tuple[str, str, str]  # box, run, and the rule that was told

DAY_SECONDS = 86400.0


def times_today(told_at: Mapping[Subject, tuple[float, ...]], subject: Subject, now: float) -> tuple[float, ...]:
    """When it was told within the last day. A time of the future is of a clock that was wrong."""
    return tuple(at for at in told_at.get(subject, ()) if 0 <= now - at < DAY_SECONDS)


def note(told_at: dict[Subject, tuple[float, ...]], subject: Subject, now: float, per_day: int) -> float:
    """Note that it is told now. Returns until when it will not be told again; 0.0: it may be."""
    times = (*times_today(told_at, subject, now), now)
    told_at[subject] = times
    return times[0] + DAY_SECONDS if len(times) >= per_day else 0.0


def of_today(told_at: Mapping[Subject, tuple[float, ...]], now: float) -> dict[Subject, tuple[float, ...]]:
    """Without what is older than a day."""
    kept = {subject: times_today(told_at, subject, now) for subject in told_at}
    return {subject: times for subject, times in kept.items() if times}
