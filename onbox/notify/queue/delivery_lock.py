"""Whose turn it is to deliver: the lock of the outbox, who holds it, and how it is asked to make way.

`onbox notify flush` was typed by a person, perhaps with variables that the deliverer at work lacks: it takes over.
"""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.system.clock import pause, wall
from onbox.system.files import read_file
from onbox.system.lock import try_lock
from onbox.system.process import Identity, has_open, look_up

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths

LOOK_SECONDS = 0.05


class Wish:
    """Whether this process was asked to make way (SIGTERM). A try that is under way is brought to its end first."""

    def __init__(self) -> None:
        self.made = False

    def heed(self) -> None:
        signal.signal(signal.SIGTERM, self._on_signal)

    def _on_signal(self, *_: object) -> None:
        self.made = True

    def __call__(self) -> bool:
        return self.made


def nobody_asks() -> bool:
    """The wish of a deliverer that works for the person in front of it."""
    return False


def lock_path(paths: RunPaths) -> str:
    return f"{paths.outbox}/.lock"


def take_turn(paths: RunPaths, *, patience_seconds: float = 0.0) -> int | None:
    """The lock's descriptor, signed with who took it; None if another has it. patience_seconds: more than 0 asks that
    one to make way, and waits so long for it. Raises StateNotWritten, LockUnsupported, OSError.
    """
    end = wall() + patience_seconds
    asked = False
    while (fd := try_lock(lock_path(paths))) is None:
        if wall() >= end:
            return None
        if not asked:
            asked = _ask_to_make_way(paths)
        pause(LOOK_SECONDS)
    os.ftruncate(fd, 0)
    with suppress(OSError):  # on a full disk nobody can ask it to make way, and that is all
        os.pwrite(fd, _signature(), 0)
    return fd


def _signature() -> bytes:
    entry = look_up(os.getpid())
    ticks = entry.identity.start_ticks if entry else 0
    # Only who leads a group of its own may be asked through it: a flush shares that of the shell.
    return json.dumps({"pid": os.getpid(), "start_ticks": ticks, "leads": os.getpgrp() == os.getpid()}).encode("ascii")


def _ask_to_make_way(paths: RunPaths) -> bool:
    """Whether somebody was there to ask."""
    try:
        data = json.loads(read_file(lock_path(paths), 4096) or b"{}")
        holder = Identity(int(data["pid"]), int(data["start_ticks"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    entry = look_up(holder.pid)
    if entry is None or entry.identity != holder or entry.group != holder.pid or not data.get("leads"):
        return False
    if not has_open(holder.pid, lock_path(paths)):
        return False  # the file names somebody who does not hold it
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(holder.pid, signal.SIGTERM)
    return True
