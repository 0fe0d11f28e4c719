"""A limit on the time of work in this process: for what the user's own words can make endless (a regular expression
that searches for ever, a pattern that matches every file of the disk).
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from onbox.system.clock import monotonic
from onbox.system.process import never

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOK_SECONDS = 0.1


class TooLong(Exception):
    """The work was not done in its time."""


class CalledOff(TooLong):
    """Somebody asked for haste before the work was done."""


@contextmanager
def time_limit(seconds: float, urged: Callable[[], bool] = never) -> Iterator[None]:
    """Raise TooLong from what is done inside, once so much time has passed. Main thread only; not to be nested.
    urged: is asked again and again; where it holds, CalledOff is raised.

    `re` looks for signals while it searches, so that SIGALRM ends even a search that would never end by itself.
    """
    deadline = monotonic() + seconds

    def look(*_: object) -> None:
        if urged():
            raise CalledOff
        if monotonic() >= deadline:
            raise TooLong

    before = signal.signal(signal.SIGALRM, look)
    try:
        signal.setitimer(signal.ITIMER_REAL, min(max(seconds, 1e-6), LOOK_SECONDS), LOOK_SECONDS)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
