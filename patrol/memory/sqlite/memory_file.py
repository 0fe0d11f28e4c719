"""The SQLite file of the patrol's memory: made, brought up to date, set aside when it is damaged or not ours.

A rollback journal, not WAL: files that lie still between ticks, sound after kill -9, and usable where no shared memory
is (a home on NFS). The journal keeps its room, and the file has free pages, so ticks are remembered on a full disk:
else nothing that two looks must see would ever be known there.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import zlib
from contextlib import closing, suppress
from typing import TYPE_CHECKING, TypeVar

from onbox.system.clock import utc_text, wall
from onbox.system.files import open_own
from onbox.system.ownership import make_own_folder
from patrol.memory.rows import MemoryTrouble
from patrol.memory.sqlite.schema import (
    APPLICATION_ID,
    NEWEST,
    STEPS,
)

if TYPE_CHECKING:
    from collections.abc import Callable


BUSY_SECONDS = 5.0
KEPT_ASIDE = 3
FREE_PAGES, ROOM_BYTES = 64, 512 << 10  # a tick of some boxes takes about a dozen pages
T = TypeVar("T")


class _Foreign(Exception):
    """A sound SQLite file, but not one that this patrol can work with."""


class MemoryFile:
    """path: of the file. notes: what had to be set aside, for the report."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.notes: list[str] = []

    def with_file(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work on the file; once more on a new one when the old one turns out to be damaged or foreign."""
        try:
            return self._try_with_file(work)
        except _Foreign as error:
            self._set_aside(str(error))
        except sqlite3.OperationalError as error:
            raise MemoryTrouble(f"{self.path}: {error}") from error
        except sqlite3.DatabaseError as error:
            self._set_aside(f"is damaged ({error})")
        except (zlib.error, UnicodeDecodeError) as error:
            self._set_aside(f"is damaged ({error})")
        try:
            return self._try_with_file(work)
        except (sqlite3.Error, _Foreign) as error:
            raise MemoryTrouble(f"{self.path}: {error}") from error

    def _try_with_file(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._make_private()
        with closing(sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = PERSIST").fetchone()
            _bring_up_to_date(db)
            return work(db)

    def _make_private(self) -> None:
        """The file with its mode before SQLite makes it with a mode of its own."""
        make_own_folder(os.path.dirname(self.path))
        try:
            os.close(open_own(self.path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK))
            if not stat.S_ISREG(os.stat(self.path).st_mode):
                raise _Foreign("is not a file")
        except IsADirectoryError as error:
            raise _Foreign("is a folder") from error
        except OSError as error:
            raise MemoryTrouble(f"{self.path}: {error.strerror}") from error

    def _set_aside(self, why: str) -> None:
        aside = f"{self.path}.aside-{utc_text(wall())}"
        try:
            os.rename(self.path, aside)
            for ending in ("-journal", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.rename(self.path + ending, aside + ending)
        except OSError as error:
            raise MemoryTrouble(f"{self.path} {why}, and cannot be set aside: {error.strerror}") from error
        self.notes.append(f"the memory {self.path} {why}: set aside as {os.path.basename(aside)}, a new one is begun")
        self._remove_old_asides()

    def _remove_old_asides(self) -> None:
        folder, name = os.path.split(self.path)
        aside = sorted(one for one in os.listdir(folder) if one.startswith(f"{name}.aside-") and one.endswith("Z"))
        for old in aside[:-KEPT_ASIDE]:
            for ending in ("", "-journal", "-wal", "-shm"):
                with suppress(OSError):  # a folder that somebody put there stays
                    os.unlink(os.path.join(folder, old + ending))


def _bring_up_to_date(db: sqlite3.Connection) -> None:
    """Raises _Foreign, sqlite3.Error."""
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    owner: int = db.execute("PRAGMA application_id").fetchone()[0]
    if version == NEWEST and owner == APPLICATION_ID:
        return
    filled = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if filled and owner != APPLICATION_ID:
        raise _Foreign("is not a patrol's")
    if version > NEWEST:
        raise _Foreign(f"was written by a newer patrol (schema {version}, this one knows {NEWEST})")
    in_transaction(db, lambda: _take_steps(db))


def _take_steps(db: sqlite3.Connection) -> None:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]  # again: now nobody else can be at it
    for step in STEPS[version:]:
        for statement in filter(str.strip, step.split(";")):
            db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {NEWEST}")


def in_transaction(db: sqlite3.Connection, work: Callable[[], T]) -> T:
    db.execute("BEGIN IMMEDIATE")
    try:
        result = work()
        db.execute("COMMIT")
        return result
    except BaseException:
        if db.in_transaction:
            with suppress(sqlite3.Error):  # the first error is the one to tell
                db.execute("ROLLBACK")
        raise


def take_room(db: sqlite3.Connection) -> None:
    """Free pages in the file, and a journal as long: the second statement copies what the first has written."""
    if db.execute("PRAGMA freelist_count").fetchone()[0] >= FREE_PAGES:
        return
    db.execute("CREATE TABLE IF NOT EXISTS room (id INTEGER PRIMARY KEY, empty BLOB)")
    db.execute("INSERT OR REPLACE INTO room VALUES (1, zeroblob(?))", (ROOM_BYTES,))
    db.execute("UPDATE room SET empty = randomblob(?)", (ROOM_BYTES,))
    db.execute("DROP TABLE room")
