"""What state a run is in, by its journal and by what the kernel says of its processes. Pure.

An engine's word on a run that was handed to one is weighed in after it: `engine_word.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.contract.states import RunState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.runs.journal import JournalFacts

_AFTER_END = {
    Event.CHAIN_DONE: RunState.DONE,
    Event.CHAIN_FAILED: RunState.FAILED,
    Event.GATE_REFUSED: RunState.FAILED,
    Event.CHAIN_STOPPED: RunState.STOPPED,
    Event.CHAIN_INTERRUPTED: RunState.INTERRUPTED,
    Event.CHAIN_HANDED_ON: RunState.PENDING,
}


def state_after(event: object) -> RunState:
    """The state that an end record leaves. UNKNOWN for the record of a later version."""
    return _AFTER_END.get(str(event), RunState.UNKNOWN)


def shown_state(data: Mapping[str, Any]) -> str:
    """The state of a status as a person reads it. What a gate refused has not failed: nothing was started."""
    refused = data["state"] == RunState.FAILED.value and data.get("outcome") == Event.GATE_REFUSED
    return "REFUSED" if refused else str(data["state"]).upper()


def state_of(facts: JournalFacts, *, runner_alive: bool, stage_alive: bool, claims_stall: bool) -> RunState:
    """The run's state. What the kernel says of runner and stage goes before what files claim.

    claims_stall: whether the heartbeat says that the stage stalls; believed of a live runner only.
    """
    if facts.end is not None:
        return state_after(facts.end["event"])
    if runner_alive:
        return RunState.STALLED if claims_stall else RunState.RUNNING
    if stage_alive:
        return RunState.RUNNING
    return RunState.INTERRUPTED if facts.is_open else RunState.PENDING
