"""Where a fault stands: what is weighed beside it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.triage.reading.record import LogAttempt, Record

SURVIVED_PROVEN = 3  # lines of progress after an uncaught traceback: other ranks and flushed bars still show one or two
INFORMED = 3  # lines in which a logger tells what the program does next


class Scene(NamedTuple):
    """Where a fault stands. dead: other evidence says that the process ended badly, so that remarks count too. well: it
    says that the process ended with 0, so that noise at shutdown does not count. exited_zero: so it did, whatever the
    gates say: no exception ended it.
    """

    record: Record
    attempt: LogAttempt
    dead: bool
    well: bool
    exited_zero: bool

    @property
    def end(self) -> int:
        return self.record.last_line.number if self.record.last_line else 0
