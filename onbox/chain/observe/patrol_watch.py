"""Whether a patrol still looks at this machine: its last trace in the state directory, and how long it may be silent.

One run of a state directory tells it, whichever finds it first; the same one tells that a patrol looks again, or
another where that one has ended. A machine that slept is no silence: time is counted as this runner lived it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.system.files import read_file
from onbox.system.lock import LockUnsupported, is_locked

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths

REMEDY = "See whether the machine that patrols is on and awake; there: patrol status"
TRACE = ".patrolled"
LIMIT_LOW, LIMIT_HIGH = 120.0, 30 * 86400.0


def is_patrolled(paths: RunPaths, wall: float) -> bool:
    """Whether a patrol has looked at this machine lately, by its last trace."""
    trace = os.path.join(os.path.dirname(paths.root), TRACE)
    try:
        text, age = (read_file(trace, 64) or b"").strip(), wall - os.stat(trace).st_mtime
    except OSError:
        return False
    return age <= (min(max(float(text), LIMIT_LOW), LIMIT_HIGH) if text.isdigit() else LIMIT_HIGH)


class PatrolWatch:
    """Looked at with every heartbeat: two stats. Never raises; what cannot be looked at is no silence."""

    def __init__(self, paths: RunPaths) -> None:
        folder, self._name = os.path.split(paths.root)
        self._folder = folder
        self._trace, self._claim = f"{folder}/{TRACE}", f"{folder}/.unpatrolled"
        self._mtime = 0.0
        self._looked_at = 0.0  # monotonic
        self._limit: float | None = None

    def look(self, now: float, wall: float) -> dict[str, Any] | None:
        """What is to be journaled: that nobody looks any more, or that somebody does again. now: monotonic."""
        with suppress(OSError):
            self._renew(now, wall)
        if self._limit is None:
            return None
        silent = now - self._looked_at
        with suppress(OSError, LockUnsupported):
            if silent > self._limit and self._take_claim():
                return {
                    "event": Event.PATROL_SILENT,
                    "quiet_seconds": round(silent),
                    "reason": f"no patrol has looked at this machine for {_words(silent)}",
                    "remedy": REMEDY,
                }
            if silent <= self._limit and self._give_claim_back():
                return {"event": Event.PATROL_BACK, "reason": "a patrol looks at this machine again"}
        return None

    def _renew(self, now: float, wall: float) -> None:
        mtime = os.stat(self._trace).st_mtime
        if mtime == self._mtime:
            return
        self._mtime, self._looked_at = mtime, now - max(0.0, wall - mtime)
        text = (read_file(self._trace, 64) or b"").strip()
        if text.isdigit():  # a disk that is full leaves none, and yet somebody has looked
            self._limit = min(max(float(text), LIMIT_LOW), LIMIT_HIGH)

    def _take_claim(self) -> bool:
        try:
            fd = os.open(self._claim, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            return False
        try:
            os.write(fd, os.fsencode(self._name))
        finally:
            os.close(fd)
        return True

    def _give_claim_back(self) -> bool:
        name = read_file(self._claim, 4096)
        if name is None:
            return False
        owner = os.path.basename(os.fsdecode(name))
        if owner != self._name and owner and is_locked(f"{self._folder}/{owner}/lock"):
            return False  # that run tells it
        os.unlink(self._claim)
        return True


def _words(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
