"""When to do what on a connection: all times of the long-poll, and the back-off. Pure.

A connection is held for at most five minutes, is replaced before it ends, and is believed only while it beats.
"""

from __future__ import annotations

from onbox.named_tuple import NamedTuple


class LinkPace(NamedTuple):
    """Times in seconds.

    hold: the program on the box ends itself after so long. renew: by then the next connection is begun, so that no gap
    is left. beat: how often the box says that it is alive; silence: so long without a word is a dead link or a frozen
    shell. ping: how often we tell the box that we are there; deaf: so long without it, and the program there ends.
    race: a login that takes longer gets a second one beside it (twice its usual time where that is longer), so that a
    hanging one delays nothing; patience: a login is given up. short_poll: seconds between short connections, where a
    gateway forbids held ones; None: held. once: one try is all, whatever comes of it.
    """

    hold: float = 300.0
    renew: float = 285.0
    beat: float = 4.0
    silence: float = 9.0
    ping: float = 8.0
    deaf: float = 20.0
    race: float = 2.5
    patience: float = 30.0
    short_poll: float | None = None
    once: bool = False


def short_pace(seconds: float, *, once: bool = False) -> LinkPace:
    """One look per connection, the next one `seconds` later."""
    return LinkPace(hold=0.0, renew=1e9, ping=1e9, deaf=0.0, short_poll=seconds, once=once)


class BackoffStep(NamedTuple):
    """So long after the link was lost, tries are at most `limit_seconds` apart."""

    after_seconds: float
    limit_seconds: float


# For ten minutes a box that is back is seen within three seconds; a longer outage is waited out with fewer logins.
STEPS = (BackoffStep(600.0, 3.0), BackoffStep(3600.0, 10.0), BackoffStep(float("inf"), 30.0))
FIRST_PAUSE_SECONDS = 0.25
LEAST_PAUSE_SECONDS = 0.05


def pause_before_try(failures: int, outage_seconds: float, luck: float) -> float:
    """Seconds to wait after so many failures in a row: exponential with full jitter, so that many waiters do not knock
    together. luck: 0 to 1.
    """
    ceiling = min(_limit(outage_seconds), FIRST_PAUSE_SECONDS * 2.0 ** min(failures, 10))
    return LEAST_PAUSE_SECONDS + luck * (ceiling - LEAST_PAUSE_SECONDS)


def race_after(pace: LinkPace, usual_login_seconds: float | None, outage_seconds: float = 0.0) -> float:
    """How long a login may take before a second one is begun beside it. In a long outage they are fewer."""
    limit = _limit(outage_seconds)
    return max(pace.race, 2.0 * (usual_login_seconds or 0.0), limit if limit > STEPS[0].limit_seconds else 0.0)


def _limit(outage_seconds: float) -> float:
    return next(step.limit_seconds for step in STEPS if outage_seconds < step.after_seconds)
