"""States of a run and of a stage, and what each means."""

from __future__ import annotations

from enum import Enum


class RunState(str, Enum):
    """What a run is, as far as was seen. `UNKNOWN` means that looking failed, never that something is wrong."""

    PENDING = "pending"
    RUNNING = "running"
    STALLED = "stalled"
    DEGRADED = "degraded"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    STOPPED = "stopped"
    DONE = "done"
    UNKNOWN = "unknown"


class StageState(str, Enum):
    """What a stage is. `WAITING`: on `wait_for`, on a retry's back-off, or for its runner to judge its end; nothing of
    it runs. `UNKNOWN`: its job's engine could not be asked, or has lost it.
    """

    PENDING = "pending"
    WAITING = "waiting"
    RUNNING = "running"
    STALLED = "stalled"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    DONE = "done"
    UNKNOWN = "unknown"
