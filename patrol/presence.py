"""Whether processes of a run were seen. Pure."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from onbox.contract.readings import Unseen, observed
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


_QUEUED = ("PD", "PENDING", "CF", "CONFIGURING", "QUEUED", "REQUEUED", "RESV")
_AT_WORK = ("R", "RUNNING", "CG", "COMPLETING")


def is_queued(look: RunLook) -> bool:
    """Whether the scheduler holds the run in its queue."""
    return _scheduler_word(look) in _QUEUED


def _scheduler_word(look: RunLook) -> str:
    words = (observed(look.scheduler) or "").split()
    return words[0].strip(",:;()").upper() if words else ""


def presence_of(look: RunLook) -> Presence:
    """What was seen of a run's processes, with the scheduler's word: a job may run on a node that was not looked at,
    and a queue that could not be asked proves nothing.
    """
    seen = _by_processes(look)
    if seen is not Presence.GONE:
        return seen
    if _scheduler_word(look) in _AT_WORK:
        return Presence.ALIVE
    return Presence.UNSEEN if isinstance(look.scheduler, Unseen) else Presence.GONE


def _by_processes(look: RunLook) -> Presence:
    """A default (nobody looked) counts as unseen, never as gone."""
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
