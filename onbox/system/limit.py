"""A limit on the time of work in this process: for regular expressions of the user's own, which may search for ever."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class TooLong(Exception):
    """The work was not done in its time."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooLong from what is done inside, once so much time has passed. Main thread only; not to be nested.

    `re` looks for signals while it searches, so that SIGALRM ends even a search that would never end by itself.
    """

    def give_up(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, give_up)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
