"""Whether processes of a run were seen. Pure."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from onbox.backends.base import JobState
from onbox.contract.readings import Unseen, observed
from patrol.snapshot import NOT_ASKED

if TYPE_CHECKING:
    from patrol.snapshot import RunLook


class Presence(Enum):
    """Whether processes of a run were seen. Only GONE says that there are none."""

    ALIVE = "alive"
    ORPHAN = "the stage is alive, its runner is gone"
    GONE = "gone"
    UNSEEN = "could not be looked for"
    UNDECLARED = "no process was declared to look for"


_AT_WORK = (JobState.RUNNING.value, JobState.ENDING.value)


def is_queued(look: RunLook) -> bool:
    """Whether the scheduler holds the run in its queue."""
    word = observed(look.scheduler)
    return word is not None and word.job_state == JobState.PENDING.value


def presence_of(look: RunLook) -> Presence:
    """What was seen of a run's processes, with the scheduler's word: a job runs on a node that was not looked at, so
    that where no process was seen the scheduler decides, and one that could not be asked proves nothing.
    """
    seen = _by_processes(look)
    if seen in (Presence.ALIVE, Presence.ORPHAN):
        return seen
    if isinstance(look.scheduler, Unseen):
        return Presence.UNSEEN if seen is Presence.GONE else seen
    word = observed(look.scheduler)
    if word is None:
        return seen
    return Presence.ALIVE if word.job_state in _AT_WORK else Presence.GONE


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
