"""Gather the evidence on one stage from the disk and the kernel, for the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.chain.state.plan import StageEvidence
from onbox.chain.state.slots import read_marker, read_slot
from onbox.system.clock import pause

if TYPE_CHECKING:
    from onbox.chain.state.replay import History
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import FrozenStage

KEEPER_LOOK_SECONDS = 0.005
KEEPER_LOOKS = 1000


def look_at_stage(paths: RunPaths, frozen: FrozenStage, history: History, *, chain_open: bool) -> StageEvidence:
    """Everything the plan wants to know of a stage."""
    name = frozen.stage.name
    slot, slot_exists, slot_locked = read_slot(paths.slot(name))
    for _ in range(KEEPER_LOOKS):
        if not slot_locked or slot is None or slot.keeper_pid is not None:
            break
        pause(KEEPER_LOOK_SECONDS)  # its keeper is about to begin, or to end as its runner is dead: nothing tells when
        slot, slot_exists, slot_locked = read_slot(paths.slot(name))
    marker = read_marker(paths.done(name))
    untold = chain_open and history.untold == name
    return StageEvidence(frozen.fingerprint, history.of(name), marker, slot, slot_exists, slot_locked, untold)
