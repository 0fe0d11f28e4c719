"""What the sweep does next: one ordered table over what was seen. Pure."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.sweep.state.board import Streak


class CellAction(Enum):
    """The next step. The value is what is told to people where it ends the sweep."""

    STOP_CELLS = "asked to stop"
    END_STOPPED = "stopped"
    END_TOO_MANY = "too many cells failed"
    END_SAME = "one cell after the other failed in the same way"
    END_REFUSED = "no room, memory or card for the next cell"
    END_FAILED = "not every cell is done"
    END_DONE = "every cell is done or was skipped"
    HOLD = "waits for room, memory or a card"
    WAIT = "waits for a cell to end"
    START = "start the next cell"


class CellEvidence(NamedTuple):
    """What was seen. open, running, failed: numbers of cells. slots: how many may run at once. new_failed: of those
    that failed, how many did so in this launch. is_held: a gate refuses the next cell, or the state cannot be written.
    held_too_long: it has done so for longer than the sweep waits. unread: what keeps the list of cells from being known
    whole (a wrong line, a file that cannot be read).
    """

    stops: int
    cells_told_to_stop: bool
    open: int
    running: int
    failed: int
    new_failed: int
    slots: int
    max_failures: int | None
    same_failures: int
    streak: Streak
    is_held: bool = False
    held_too_long: bool = False
    is_growing: bool = False
    unread: int = 0

    @property
    def too_many(self) -> bool:
        return self.max_failures is not None and self.new_failed > self.max_failures

    @property
    def same(self) -> bool:
        return bool(self.same_failures) and self.streak.times >= self.same_failures

    @property
    def may_end(self) -> bool:
        """Nothing is left to be done, and nothing more is about to be written down."""
        return not self.open and not self.running and not self.is_growing


class CellRow(NamedTuple):
    """A rule: its name, when it holds, what follows."""

    name: str
    holds: Callable[[CellEvidence], bool]
    action: CellAction


PLAN: tuple[CellRow, ...] = (
    CellRow(
        "asked-to-stop", lambda e: e.stops > 0 and e.running > 0 and not e.cells_told_to_stop, CellAction.STOP_CELLS
    ),
    CellRow("stopping", lambda e: e.stops > 0 and e.running > 0, CellAction.WAIT),
    CellRow("stopped", lambda e: e.stops > 0, CellAction.END_STOPPED),
    CellRow("cells-end-first", lambda e: (e.too_many or e.same) and e.running > 0, CellAction.WAIT),
    CellRow("too-many-failed", lambda e: e.too_many and e.open > 0, CellAction.END_TOO_MANY),
    CellRow("same-failure-again", lambda e: e.same and e.open > 0, CellAction.END_SAME),
    CellRow("unwhole-list", lambda e: e.may_end and e.unread > 0, CellAction.END_FAILED),
    CellRow("some-failed", lambda e: e.may_end and e.failed > 0, CellAction.END_FAILED),
    CellRow("all-done", lambda e: e.may_end, CellAction.END_DONE),
    CellRow("held-too-long", lambda e: e.is_held and e.held_too_long and not e.running, CellAction.END_REFUSED),
    CellRow("held", lambda e: e.is_held, CellAction.HOLD),
    CellRow("slots-busy", lambda e: e.running >= e.slots, CellAction.WAIT),
    CellRow("none-open", lambda e: not e.open, CellAction.WAIT),
    CellRow("open", lambda _: True, CellAction.START),
)


def plan_next(evidence: CellEvidence) -> CellRow:
    """The first row that holds. The last one always does."""
    return next(row for row in PLAN if row.holds(evidence))
