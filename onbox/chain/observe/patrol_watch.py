"""Whether a patrol still looks at this machine: its last trace in the state directory, and how long it may be silent.

One run of a state directory tells it, whichever finds it first; the same one tells that a patrol looks again, or
another where that one has ended. A machine that slept is no silence: time is counted as this runner lived it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.named_tuple import NamedTuple
from onbox.system.files import StateNotWritten, lines_of, open_plain, read_file, replace_file
from onbox.system.lock import LockUnsupported, is_locked, try_lock

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


class _Claim(NamedTuple):
    """Which run tells it, and how far it has come. token: stands in the journal of that run once it is told there."""

    owner: str
    token: str
    state: str


# What a claim may be. The state is written before the journal, so that whoever dies in between is followed by another.
TELLING, TOLD, RETURNING = "telling", "told", "returning"


class PatrolWatch:
    """Looked at with every heartbeat: two stats. Never raises; what cannot be looked at is no silence."""

    def __init__(self, paths: RunPaths) -> None:
        folder, self._name = os.path.split(paths.root)
        self._folder = folder
        self._trace, self._path = f"{folder}/{TRACE}", f"{folder}/.unpatrolled"
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
        is_silent = silent > self._limit
        token = None
        with suppress(OSError, LockUnsupported, StateNotWritten):
            token = self._move_on(is_silent=is_silent)
        if token is None:
            return None
        if not is_silent:
            return {
                "event": Event.PATROL_BACK,
                "reason": "a patrol looks at this machine again",
                "claim": token,
            }
        return {
            "event": Event.PATROL_SILENT,
            "quiet_seconds": round(silent),
            "reason": f"no patrol has looked at this machine for {_words(silent)}",
            "remedy": REMEDY,
            "claim": token,
        }

    def _renew(self, now: float, wall: float) -> None:
        mtime = os.stat(self._trace).st_mtime
        if mtime == self._mtime:
            return
        self._mtime, self._looked_at = mtime, now - max(0.0, wall - mtime)
        text = (read_file(self._trace, 64) or b"").strip()
        if text.isdigit():  # a disk that is full leaves none, and yet somebody has looked
            self._limit = min(max(float(text), LIMIT_LOW), LIMIT_HIGH)

    def _move_on(self, *, is_silent: bool) -> str | None:
        """The token of what this run is to tell; None: nothing, or it is another's to tell."""
        if self._is_settled(self._read(), is_silent=is_silent):
            return None
        lock = try_lock(f"{self._path}.lock")
        if lock is None:
            return None
        try:
            step = self._when_silent if is_silent else self._when_back
            return step(self._read())
        finally:
            os.close(lock)

    @staticmethod
    def _is_settled(claim: _Claim | None, *, is_silent: bool) -> bool:
        return claim is not None and claim.state == TOLD if is_silent else claim is None

    def _when_silent(self, claim: _Claim | None) -> str | None:
        if claim is None:
            return self._write(TELLING)
        if claim.state == TOLD or not self._is_ours(claim):
            return None
        if claim.state == RETURNING and self._is_journaled(claim, Event.PATROL_BACK):
            return self._write(TELLING)
        if claim.state == RETURNING or self._is_journaled(claim, Event.PATROL_SILENT):
            self._write(TOLD)
            return None
        return self._write(TELLING)

    def _when_back(self, claim: _Claim | None) -> str | None:
        if claim is None or not self._is_ours(claim):
            return None
        if claim.state == TELLING and not self._is_journaled(claim, Event.PATROL_SILENT):
            os.unlink(self._path)  # nobody was told of it, and it is over
            return None
        if claim.state == RETURNING and self._is_journaled(claim, Event.PATROL_BACK):
            os.unlink(self._path)
            return None
        return self._write(RETURNING)

    def _is_ours(self, claim: _Claim) -> bool:
        """Whether this run made it, or the run that did has ended."""
        return claim.owner in ("", self._name) or not is_locked(f"{self._folder}/{claim.owner}/lock")

    def _is_journaled(self, claim: _Claim, event: str) -> bool:
        token, name = os.fsencode(f'"{claim.token}"'), os.fsencode(f'"{event}"')
        if not claim.token or not claim.owner:
            return False
        try:
            with open_plain(f"{self._folder}/{claim.owner}/events.jsonl") as file:
                return any(token in line and name in line for line in lines_of(file))
        except FileNotFoundError:
            return False

    def _read(self) -> _Claim | None:
        text = read_file(self._path, 4096)
        if text is None:
            return None
        owner, token, state, *_ = (*os.fsdecode(text).split("\n"), "", "")
        return _Claim(os.path.basename(owner), token, state if state in (TELLING, TOLD, RETURNING) else TOLD)

    def _write(self, state: str) -> str:
        token = os.urandom(6).hex()
        replace_file(self._path, os.fsencode(f"{self._name}\n{token}\n{state}"))
        return token


def _words(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
