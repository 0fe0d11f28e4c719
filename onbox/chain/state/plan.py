"""What to do with a stage, from what lies on the disk: one ordered table. Pure.

The kernel's word (the lock on the slot) goes before everything; then the marker; then the slot's exit record; the
journal says which attempt it was and whether its end was already judged.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from onbox.contract.events import Event
from onbox.contract.markers import Invalid, Marker, Slot
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.chain.state.replay import StageHistory


class Action(Enum):
    """The next step for a stage. The value is what is told to people."""

    ADOPT = "a stage of an earlier runner is alive: wait for it"
    REFUSE_LIVE = "another command of this stage is alive"
    SKIP = "done"
    REFUSE_STALE = "DONE, but of another command"
    REFUSE_INVALID = "its DONE file is not a marker"
    LAND = "succeeded, its marker is still to be put in place"
    FINISH_FAILURE = "failed, the chain's end is still to be recorded"
    JUDGE = "ended while no runner lived: judge it by its exit record"
    START_AGAIN = "recorded as started, but never ran"
    RESTART = "interrupted: start again with ONBOX_RESUME=1"
    RETRY = "failed and allowed to be retried"
    START = "start"


class StageEvidence(NamedTuple):
    """What was seen of one stage. `slot`: None if there is no slot file or it is unreadable; `slot_exists` tells.
    failure_untold: it failed, and the chain's end was not recorded after that.
    """

    fingerprint: str
    history: StageHistory
    marker: Marker | Invalid | None
    slot: Slot | None
    slot_exists: bool
    slot_locked: bool
    failure_untold: bool

    @property
    def slot_is_newest(self) -> bool:
        return self.slot is not None and self.slot.attempt == self.history.attempts

    @property
    def awaits_landing(self) -> bool:
        """The slot is that of the journaled verdict; that of a later attempt says that its marker was removed."""
        return self.slot_exists and (self.slot is None or self.slot.attempt <= self.history.attempts)

    @property
    def same_command(self) -> bool:
        started = self.history.started
        return started is None or started.get("fingerprint") in (None, self.fingerprint)

    @property
    def held_by_unknown(self) -> bool:
        """A live process holds a slot that says nothing (damaged), and no verdict explains it: not ours to touch."""
        judged = self.history.last in (Event.STAGE_DONE, Event.STAGE_FAILED)
        return self.slot_locked and self.slot is None and not judged

    @property
    def running(self) -> bool:
        return self.slot_locked and self.slot is not None and self.slot.exit_code is None


class PlanRow(NamedTuple):
    """A rule: its name, when it holds, what follows."""

    name: str
    holds: Callable[[StageEvidence], bool]
    action: Action


PLAN: tuple[PlanRow, ...] = (
    PlanRow("alive-other-command", lambda e: e.running and not e.same_command, Action.REFUSE_LIVE),
    PlanRow("alive", lambda e: e.running, Action.ADOPT),
    PlanRow("alive-unreadable", lambda e: e.held_by_unknown, Action.REFUSE_LIVE),
    PlanRow(
        "marker-same-command",
        lambda e: isinstance(e.marker, Marker) and e.marker.fingerprint == e.fingerprint,
        Action.SKIP,
    ),
    PlanRow("marker-other-command", lambda e: isinstance(e.marker, Marker), Action.REFUSE_STALE),
    PlanRow("marker-invalid", lambda e: isinstance(e.marker, Invalid), Action.REFUSE_INVALID),
    PlanRow("marker-not-landed", lambda e: e.history.last == Event.STAGE_DONE and e.awaits_landing, Action.LAND),
    PlanRow("marker-removed", lambda e: e.history.last == Event.STAGE_DONE, Action.START),
    PlanRow("redo-asked-for", lambda e: e.history.last == Event.STAGE_REDO, Action.START),
    PlanRow("unfinished-other-command", lambda e: not e.same_command, Action.START),
    PlanRow(
        "failure-not-told",
        lambda e: e.history.last == Event.STAGE_FAILED and e.failure_untold,
        Action.FINISH_FAILURE,
    ),
    PlanRow("failed-before", lambda e: e.history.last == Event.STAGE_FAILED, Action.START),
    PlanRow("retry-due", lambda e: e.history.last == Event.STAGE_RETRYING, Action.RETRY),
    PlanRow("interrupted-before", lambda e: e.history.last == Event.STAGE_INTERRUPTED, Action.RESTART),
    PlanRow(
        "exit-recorded",
        lambda e: e.slot_is_newest and e.slot is not None and e.slot.exit_code is not None,
        Action.JUDGE,
    ),
    PlanRow("end-recorded", lambda e: e.history.ended is not None, Action.JUDGE),
    PlanRow(
        "never-ran",
        lambda e: e.slot_is_newest and e.slot is not None and e.slot.keeper_pid is None,
        Action.START_AGAIN,
    ),
    PlanRow("cut-off", lambda e: e.history.last == Event.ATTEMPT_STARTED, Action.RESTART),
    PlanRow("new", lambda _: True, Action.START),
)


def plan_stage(evidence: StageEvidence) -> PlanRow:
    """The first row that holds. The last one always does."""
    return next(row for row in PLAN if row.holds(evidence))
