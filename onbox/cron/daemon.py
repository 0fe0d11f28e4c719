"""Whether a cron daemon is at work here: a line in a crontab that nothing reads is not a watch."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DAEMONS = frozenset({"cron", "crond", "fcron", "bcron-sched", "dcron", "systemd-cron"})


def cron_runs() -> bool | None:
    """None: that cannot be seen here. macOS starts cron when there is a crontab."""
    if sys.platform == "darwin":
        return True
    if os.path.isdir("/run/systemd/system/cron.target.wants"):  # systemd-cron: timers, and no daemon
        return True
    from onbox.local.processes import running_names  # noqa: PLC0415 - 20 ms, for who asks about cron

    try:
        return has_daemon(running_names())
    except OSError:
        return None


def has_daemon(names: Mapping[int, str]) -> bool | None:
    """names: of the processes, by pid. None where only one's own are shown (hidepid): the first one is not there."""
    if DAEMONS & set(names.values()):
        return True
    return False if 1 in names else None
