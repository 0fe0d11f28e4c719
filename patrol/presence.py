"""Whether processes of a run were seen. Pure."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from onbox.contract.readings import Unseen
from patrol.snapshot import NOT_ASKED

if TYPE_CHECKING:
    from patrol.snapshot import RunLook


class Presence(Enum):
    """Whether processes of a run were seen. Only GONE says that there are none."""

    ALIVE = "alive"
    ORPHAN = "the stage lives, its runner is gone"
    GONE = "gone"
    UNSEEN = "could not be looked for"
    UNDECLARED = "no process was declared to look for"


def presence_of(look: RunLook) -> Presence:
    """What was seen of a run's processes. A default (nobody looked) counts as unseen, never as gone."""
    runner, stage = look.runner_alive, look.stage_alive
    if not look.managed:
        if isinstance(stage, Unseen):
            return Presence.UNSEEN
        if stage is True:
            return Presence.ALIVE
        return Presence.GONE if stage is False else Presence.UNDECLARED
    if runner is True:
        return Presence.ALIVE
    if isinstance(runner, Unseen) or runner == NOT_ASKED:
        return Presence.ALIVE if stage is True else Presence.UNSEEN
    if stage is True:
        return Presence.ORPHAN
    return Presence.UNSEEN if isinstance(stage, Unseen) else Presence.GONE
