"""Whether a cron daemon is at work here: a line in a crontab that nothing reads is not a watch."""

from __future__ import annotations

import os
import subprocess
import sys

DAEMONS = frozenset({"cron", "crond", "fcron", "bcron-sched", "dcron", "systemd-cron"})
PS = ("ps", "-A", "-o", "pid=", "-o", "comm=")
PS_SECONDS = 10.0


def cron_runs() -> bool | None:
    """None: that cannot be seen here. macOS starts cron when there is a crontab."""
    if sys.platform == "darwin":
        return True
    if os.path.isdir("/run/systemd/system/cron.target.wants"):  # systemd-cron: timers, and no daemon
        return True
    try:
        done = subprocess.run(PS, capture_output=True, text=True, check=False, timeout=PS_SECONDS, errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return None
    return read_ps(done.stdout) if done.returncode == 0 else None


def read_ps(text: str) -> bool | None:
    """Lines of pid and name. None where only one's own processes are shown (hidepid): the first one is not there."""
    rows = [line.split(None, 1) for line in text.splitlines()]
    names = {int(row[0]): os.path.basename(row[1].strip()) for row in rows if len(row) == 2 and row[0].isdigit()}
    if DAEMONS & set(names.values()):
        return True
    return False if 1 in names else None
