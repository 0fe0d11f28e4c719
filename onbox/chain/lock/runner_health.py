"""Whether the runner that holds a run's lock is at work: it may be stopped by a signal, or stuck."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from onbox.runs.unseen_end import late_after
from onbox.system.process import look_up

if TYPE_CHECKING:
    from onbox.chain.lock.lock_owner import Holder
    from onbox.contract.runfile import RunHead

STOPPED = "Tt"  # proc_pid_stat(5): by a signal, by a debugger
LATE_HEARTBEATS = 4


def is_frozen(holder: Holder | None) -> bool:
    """Whether it was stopped by a signal (SIGSTOP) or a debugger. One on another machine cannot be seen from here."""
    if holder is None or holder.host != platform.node():
        return False
    entry = look_up(holder.pid)
    return entry is not None and entry.identity == holder.identity and entry.state in STOPPED


def is_late(head: RunHead, heartbeat_age_seconds: float | None) -> bool:
    """Whether a live runner's heartbeat is overdue: the monitor's trouble, not the run's."""
    age = heartbeat_age_seconds
    return age is not None and age > late_after(head.settings.sample_every_seconds, LATE_HEARTBEATS)
