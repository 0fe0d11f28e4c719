"""Who waits for what: one file per wait in the user's state directory. A new wait for the same targets supersedes.

A waiter is known by pid, start time and boot id, never by the pid alone. The file also keeps what a wait remembers, so
that one that ran out of its time is continued by the next call (a long wait in slices).
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.local.locks import take
from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic, pause, wall
from onbox.system.files import StateNotWritten, read_file, remove_file, replace_file
from onbox.system.lock import LockUnsupported
from onbox.system.ownership import make_own_folder
from onbox.system.process import boot_id, look_up
from sentinels.supersede import SUPERSEDE_SIGNAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from filelock import FileLock

SCHEMA = 1
CONTINUE_SECONDS = 900.0  # a wait that ran out of its time is continued by one that begins within so long
LOCK_SECONDS = 5.0
YIELD_SECONDS = 0.9  # for the old waiter to end by itself
FORCE_SECONDS = 1.0
MOST_SECONDS = 1e11  # more is not a time of this world, and no calendar has it
OVERDUE_SECONDS = 30.0  # a waiter that is so long over its limit is frozen
_LOOK_SECONDS = 0.01


class Waiter(NamedTuple):
    """One process for ever. start: as the system tells it (ticks since boot, or a date). boot: None where untold."""

    pid: int
    start: str
    boot: str | None


class WaitEntry(NamedTuple):
    """One file of the register. state: `waiting`, or `parked` (ran out of its time; the next call continues it).

    Times are seconds since the epoch. armed_at: of the first slice. last_contact: `{box: time or None}`.
    """

    ident: str
    texts: tuple[str, ...]
    waiter: Waiter
    state: str
    armed_at: float
    began_at: float
    limit_seconds: float
    written_at: float
    last_contact: Mapping[str, float | None]
    memory: Mapping[str, Any]


def ident_of(keys: Iterable[str]) -> str:
    """The id of a wait: the same for the same set of targets, in whatever order."""
    return hashlib.sha256("\1".join(sorted(keys)).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def register_folder(environment: Mapping[str, str]) -> str:
    """Where the register lies; one for all projects of a user."""
    home = environment.get("XDG_STATE_HOME", "")
    if not os.path.isabs(home):  # by its specification a relative one does not count
        home = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(home, "onbox", "sentinels")


# -- processes


def this_waiter() -> Waiter:
    """This very process."""
    return Waiter(os.getpid(), _start_of(os.getpid()) or "-", boot_id())


def _start_of(pid: int) -> str | None:
    """When the process began, as the system tells it; None: it does not live."""
    entry = look_up(pid)
    if entry is not None:
        return None if entry.is_zombie else str(entry.identity.start_ticks)
    if os.path.isdir("/proc/self"):
        return None
    from onbox.local.processes import start_of  # noqa: PLC0415 - not on Linux, where a date moves with the clock

    began = start_of(pid)
    return None if began is None else str(began)  # macOS


def is_alive(waiter: Waiter) -> bool:
    """Whether exactly this process still runs, in this boot."""
    return waiter.boot == boot_id() and _start_of(waiter.pid) == waiter.start


def end_waiter(waiter: Waiter, number: int) -> bool:
    """Signal it, and force it if it does not end within a second (it may be frozen). Whether it has gone."""
    for send, seconds in ((number, YIELD_SECONDS), (signal.SIGCONT, FORCE_SECONDS), (signal.SIGKILL, FORCE_SECONDS)):
        if not is_alive(waiter):
            return True
        with suppress(ProcessLookupError, PermissionError):
            os.kill(waiter.pid, send)
        deadline = monotonic() + seconds
        while monotonic() < deadline:
            if not is_alive(waiter):
                return True
            pause(_LOOK_SECONDS)  # it is not a child of ours: macOS has no event for its end
    return not is_alive(waiter)


# -- the files


class WaitRegister:
    """The folder of all waits. Raises StateNotWritten where it cannot be written."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def path(self, ident: str) -> str:
        return os.path.join(self.folder, f"{ident}.json")

    def read(self, ident: str) -> WaitEntry | None:
        """The entry; None if there is none, or none that can be read: then it is written anew."""
        try:
            text = read_file(self.path(ident), 1 << 22)
            return None if text is None else parse_entry(ident, text)
        except OSError:
            return None

    def entries(self) -> list[WaitEntry]:
        """All that can be read, the oldest first."""
        try:
            names = sorted(os.listdir(self.folder))
        except OSError:
            return []
        found = [self.read(name[:-5]) for name in names if name.endswith(".json")]
        return sorted((one for one in found if one is not None), key=lambda one: one.armed_at)

    def damaged(self) -> list[str]:
        """Ids of files that are not entries: cut off by a crash, or touched by hand."""
        with suppress(OSError):
            names = [name[:-5] for name in sorted(os.listdir(self.folder)) if name.endswith(".json")]
            return [name for name in names if self.read(name) is None and os.path.exists(self.path(name))]
        return []

    def write(self, entry: WaitEntry) -> None:
        data = {**entry._asdict(), "waiter": entry.waiter._asdict(), "schema": SCHEMA}
        del data["ident"]
        replace_file(self.path(entry.ident), json.dumps(data).encode("ascii") + b"\n", durable=False)

    def remove(self, ident: str) -> None:
        remove_file(self.path(ident))
        with suppress(StateNotWritten):
            remove_file(os.path.join(self.folder, f".{ident}.lock"))

    def lock(self, ident: str, seconds: float = LOCK_SECONDS) -> FileLock | None:
        """The entry's lock; None if another one keeps it, or nothing can be locked here."""
        make_own_folder(self.folder)
        try:
            return take(os.path.join(self.folder, f".{ident}.lock"), patience_seconds=seconds)
        except LockUnsupported:
            return None


def parse_entry(ident: str, text: bytes) -> WaitEntry | None:
    """An entry's file; None if it is none."""
    try:
        data = json.loads(text)
        who = data["waiter"]
        return WaitEntry(
            ident,
            tuple(map(str, data["texts"])),
            Waiter(int(who["pid"]), str(who["start"]), None if who.get("boot") is None else str(who["boot"])),
            str(data["state"]),
            _seconds(data["armed_at"]),
            _seconds(data["began_at"]),
            _seconds(data["limit_seconds"]),
            _seconds(data["written_at"]),
            {box: None if at is None else _seconds(at) for box, at in dict(data.get("last_contact") or {}).items()},
            {slot: dict(kept) for slot, kept in dict(data.get("memory") or {}).items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _seconds(value: object) -> float:
    """Seconds that can be a time or a limit. Raises ValueError, TypeError."""
    seconds = float(value)  # type: ignore[arg-type]
    if not abs(seconds) < MOST_SECONDS:
        raise ValueError(f"{seconds} is not a time")
    return seconds


def claim(register: WaitRegister, entry: WaitEntry) -> WaitEntry | None:
    """Take the place for `entry`; whoever waits for the same is ended first. What an earlier slice left, or None.

    Raises StateNotWritten.
    """
    lock = register.lock(entry.ident)
    try:
        old = register.read(entry.ident)
        fit = old if old is not None and can_be_continued(old, wall()) else None
        if old is not None and old.state == "waiting" and old.waiter != entry.waiter:
            end_waiter(old.waiter, SUPERSEDE_SIGNAL)
        register.write(entry)
        return fit
    finally:
        if lock is not None:
            lock.release()


def can_be_continued(old: WaitEntry, now: float) -> bool:
    """Whether a wait goes on where `old` ended: it ran out of its time or was killed, and not long ago."""
    ended = old.state == "parked" or not is_alive(old.waiter)
    return ended and 0 <= now - old.written_at < CONTINUE_SECONDS


def renew(register: WaitRegister, entry: WaitEntry) -> None:
    """Write this wait's entry anew, unless another one has taken its place. Never waits for a lock."""
    now_there = register.read(entry.ident)
    if now_there is None or now_there.waiter == entry.waiter:
        register.write(entry)


def let_go(register: WaitRegister, entry: WaitEntry, *, park: bool) -> None:
    """The wait is over: leave what the next slice needs, or nothing. Another one's entry is left alone."""
    lock = register.lock(entry.ident, seconds=0.0)
    if lock is None:
        return  # the one that supersedes us holds it
    try:
        now_there = register.read(entry.ident)
        if now_there is not None and now_there.waiter != entry.waiter:
            return
        if park:
            register.write(entry._replace(state="parked", written_at=wall()))
        else:
            register.remove(entry.ident)
    finally:
        lock.release()


class WaitStanding(NamedTuple):
    """How it stands with an entry. word: waiting, frozen (over its limit, and not ended), parked, over (parked for so
    long that nothing continues it: it ended in order, and said so), dead, damaged.
    """

    entry: WaitEntry
    word: str


def standing_of(entry: WaitEntry, now: float) -> WaitStanding:
    """What an entry is worth now."""
    if entry.state == "parked":
        return WaitStanding(entry, "parked" if can_be_continued(entry, now) else "over")
    if not is_alive(entry.waiter):
        return WaitStanding(entry, "dead")
    overdue = now > entry.began_at + entry.limit_seconds + OVERDUE_SECONDS
    return WaitStanding(entry, "frozen" if overdue else "waiting")
