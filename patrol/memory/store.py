"""What the patrol remembers between ticks: one SQLite file, written once per tick in one transaction.

A rollback journal, not WAL: files that lie still between ticks, sound after kill -9, and usable where no shared memory
is (a home on NFS). The journal keeps its room, and the file has free pages, so ticks are remembered on a full disk:
else nothing that two looks must see would ever be known there. A file that is damaged or not ours is set aside, said
so, and a new one is begun: the memory is a help, the looks are the truth.
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
from patrol.memory import codec, series
from patrol.memory.rows import Flip, LastWord, MemoryTrouble, Past, PastTick, PatrolAct, Point
from patrol.memory.run_codec import texts_of
from patrol.memory.schema import (
    AGE_COLUMN,
    APPLICATION_ID,
    KEPT_DAYS,
    KEPT_LOOKS_PER_BOX,
    KEPT_ROWS,
    KEPT_RUNS_PER_BOX,
    NEWEST,
    STEPS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onbox.series.point import Point as SeriesPoint
    from patrol.memory.history import Before
    from patrol.memory.rows import BoxNote, RunNote, TickNote

FILE = "memory.db"
BUSY_SECONDS = 5.0
KEPT_ASIDE = 3
LOOK_LIMIT_BYTES = 1 << 20
DAY_SECONDS = 86400.0
FREE_PAGES, ROOM_BYTES = 64, 512 << 10  # a tick of some boxes takes about a dozen pages

T = TypeVar("T")


class _Foreign(Exception):
    """A sound SQLite file, but not one that this patrol can work with."""


class Memory:
    """The store in `folder`. notes: what had to be set aside, for the report. Every method raises MemoryTrouble,
    StateNotWritten.
    """

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, FILE)
        self.notes: list[str] = []

    # -- a tick's own

    def recall(self) -> Past:
        """Everything of the earlier ticks that the next one needs. What cannot be understood is left out."""
        return self._with_file(_recall)

    def remember(self, tick: TickNote) -> None:
        """Keep one tick, all of it or nothing, and drop what is too old or too much."""
        self._with_file(lambda db: _keep_tick(db, tick))

    def note_act(self, act: PatrolAct) -> None:
        """Keep what is about to be done (or was done), durably, at once."""
        self._with_file(lambda db: _in_transaction(db, lambda: _insert_act(db, act)))

    def change_run(self, box: str, run: str, change: Callable[[Before], Before], act: PatrolAct) -> bool:
        """Change what is known of a run by a person's word; False if the run is not known."""
        return self._with_file(lambda db: _in_transaction(db, lambda: _change_run(db, (box, run), change, act)))

    # -- for reading commands

    def forget(self, box: str, run: str | None = None) -> int:
        """Everything of a run, or of a box with all its runs, but what was done to it; how many runs it was of."""
        return self._with_file(lambda db: _in_transaction(db, lambda: _forget(db, box, run)))

    def last_words(self) -> list[LastWord]:
        query = "SELECT box, run, at, line, verdict FROM runs ORDER BY box, run"
        return self._with_file(lambda db: [LastWord(*row) for row in db.execute(query)])

    def ticks(self, limit: int) -> list[PastTick]:
        """The newest ones, newest first."""
        query = "SELECT began_at, ended_at, exit_code, boxes, runs, note FROM ticks ORDER BY id DESC LIMIT ?"
        return self._with_file(lambda db: [PastTick(*row) for row in db.execute(query, (limit,))])

    def flips(self, limit: int, box: str | None = None, run: str | None = None) -> list[Flip]:
        """The newest changes, newest first; of one box or run only."""
        query = (
            "SELECT at, box, run, rule_before, rule, severity, state, say FROM flips"
            " WHERE (?1 IS NULL OR box = ?1) AND (?2 IS NULL OR run = ?2) ORDER BY id DESC LIMIT ?3"
        )
        return self._with_file(lambda db: [Flip(*row) for row in db.execute(query, (box, run, limit))])

    def acts(self, limit: int, kind: str | None = None) -> list[PatrolAct]:
        """What was done, newest first."""
        query = (
            "SELECT at, box, run, kind, subject, outcome, detail FROM acts WHERE (?1 IS NULL OR kind = ?1)"
            " ORDER BY id DESC LIMIT ?2"
        )
        return self._with_file(lambda db: [PatrolAct(*row) for row in db.execute(query, (kind, limit))])

    def subjects(self, kind: str) -> dict[str, str]:
        """Of all acts of a kind: the outcome of the newest one, by subject."""
        query = "SELECT subject, outcome FROM acts WHERE kind = ? ORDER BY id"
        return self._with_file(lambda db: dict(db.execute(query, (kind,)).fetchall()))

    def points(self, box: str, run: str, since: float = 0.0) -> list[tuple[int, str, int, Point]]:
        """`(at, rule, severity, point)` of every tick that saw the run, oldest first."""
        query = (
            "SELECT p.at, r.name, p.severity, p.current, p.loss, p.memory, p.disk, p.inodes, p.gpu FROM points p"
            " JOIN runs ON runs.key = p.run JOIN rules r ON r.key = p.rule"
            " WHERE runs.box = ? AND runs.run = ? AND p.at >= ? ORDER BY p.at"
        )
        return self._with_file(
            lambda db: [(row[0], row[1], row[2], Point(*row[3:])) for row in db.execute(query, (box, run, since))]
        )

    def last_look(self, box: str) -> str | None:
        """The newest look at a box, as JSON; None if there is none."""
        query = "SELECT look FROM looks WHERE box = ? ORDER BY at DESC LIMIT 1"
        found = self._with_file(lambda db: db.execute(query, (box,)).fetchone())
        return zlib.decompress(found[0]).decode("utf-8", "replace") if found else None

    def looks(self, box: str) -> Iterator[str]:
        """All kept looks at a box, newest first, as JSON."""
        query = "SELECT look FROM looks WHERE box = ? ORDER BY at DESC"
        found = self._with_file(lambda db: db.execute(query, (box,)).fetchall())
        return (zlib.decompress(packed).decode("utf-8", "replace") for (packed,) in found)

    def series(self, box: str, run: str, since: float = 0.0) -> list[SeriesPoint]:
        """The points of a run's own series, as the looks brought them, oldest first, at most 1,500 of the whole run.

        since: seconds since 1970; only points after it.
        """
        return self._with_file(lambda db: series.read(db, box, run, since))

    def records(self) -> dict[tuple[str, str], tuple[float, str]]:
        """Each run's own records as a look brought them last, as JSON, and when; by box and run."""
        query = "SELECT box, run, at, record FROM records"
        found = self._with_file(lambda db: db.execute(query).fetchall())
        return {(box, run): (at, zlib.decompress(packed).decode()) for box, run, at, packed in found}

    # -- the file

    def _with_file(self, work: Callable[[sqlite3.Connection], T]) -> T:
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
    _in_transaction(db, lambda: _take_steps(db))


def _take_steps(db: sqlite3.Connection) -> None:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]  # again: now nobody else can be at it
    for step in STEPS[version:]:
        for statement in filter(str.strip, step.split(";")):
            db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {NEWEST}")


def _in_transaction(db: sqlite3.Connection, work: Callable[[], T]) -> T:
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


def _take_room(db: sqlite3.Connection) -> None:
    """Free pages in the file, and a journal as long: the second statement copies what the first has written."""
    if db.execute("PRAGMA freelist_count").fetchone()[0] >= FREE_PAGES:
        return
    db.execute("CREATE TABLE IF NOT EXISTS room (id INTEGER PRIMARY KEY, empty BLOB)")
    db.execute("INSERT OR REPLACE INTO room VALUES (1, zeroblob(?))", (ROOM_BYTES,))
    db.execute("UPDATE room SET empty = randomblob(?)", (ROOM_BYTES,))
    db.execute("DROP TABLE room")


# -- what is read and written


def _recall(db: sqlite3.Connection) -> Past:
    past = Past({}, {}, {})
    for box, run, text in db.execute("SELECT box, run, before FROM runs"):
        with suppress(ValueError, TypeError):
            past.runs[box, run] = codec.before_from_text(text)
    for box, text in db.execute("SELECT box, before FROM boxes"):
        with suppress(ValueError, TypeError):
            past.boxes[box] = codec.box_before_from_text(text)
    for box, run, text in db.execute("SELECT box, run, place FROM places"):
        past.memories.setdefault(box, {})[run] = text
    return past


def _keep_tick(db: sqlite3.Connection, tick: TickNote) -> None:
    _in_transaction(db, lambda: _remember(db, tick))
    with suppress(sqlite3.OperationalError):  # there is no more room to take
        _take_room(db)


def _remember(db: sqlite3.Connection, tick: TickNote) -> None:
    db.execute(
        "INSERT INTO ticks (began_at, ended_at, exit_code, boxes, runs, note) VALUES (?, ?, ?, ?, ?, ?)",
        (tick.began_at, tick.ended_at, tick.exit_code, len(tick.boxes), len(tick.runs), tick.note),
    )
    for box in tick.boxes:
        _remember_box(db, box)
    for run in tick.runs:
        _remember_run(db, run)
    spoken_of = {run.box for run in tick.runs if not run.run}
    for box in tick.boxes:
        if box.box not in spoken_of:  # it answered: what was said of the box itself is over, and stays in the history
            db.execute("DELETE FROM runs WHERE box = ? AND run = ''", (box.box,))
    _drop_old(db, tick.ended_at, [box.box for box in tick.boxes])


def _remember_box(db: sqlite3.Connection, note: BoxNote) -> None:
    db.execute("INSERT OR REPLACE INTO boxes VALUES (?, ?)", (note.box, codec.before_to_text(note.before)))
    packed = zlib.compress(note.look.encode("utf-8", "replace"))
    if len(packed) <= LOOK_LIMIT_BYTES:
        db.execute("INSERT OR REPLACE INTO looks VALUES (?, ?, ?)", (note.box, note.at, packed))
    db.executemany("DELETE FROM runs WHERE box = ? AND run = ?", [(note.box, run) for run in note.left])
    records = [(note.box, run, note.at, zlib.compress(text.encode())) for run, text in note.records]
    db.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)", records)
    for run, points in note.series:
        series.add(db, note.box, run, points)
    if note.memories is not None:
        kept = dict(db.execute("SELECT run, place FROM places WHERE box = ?", (note.box,)).fetchall())
        rows = [(note.box, run, text) for run, text in texts_of(note.memories, kept)]
        db.execute("DELETE FROM places WHERE box = ?", (note.box,))
        db.executemany("INSERT INTO places VALUES (?, ?, ?)", rows)


def _remember_run(db: sqlite3.Connection, note: RunNote) -> None:
    before = _with_persons_word(db, note)
    words = (codec.before_to_text(before), note.at, note.line, note.verdict)
    db.execute(
        "INSERT INTO runs (box, run, before, at, line, verdict) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (box, run)"
        " DO UPDATE SET before = excluded.before, at = excluded.at, line = excluded.line, verdict = excluded.verdict",
        (note.box, note.run, *words),
    )
    if (note.rule_before, note.flag_before) != (note.rule, note.flag):
        before_, after = _with_flag(note.rule_before, note.flag_before), _with_flag(note.rule, note.flag)
        says = note.flag_says if note.flag else note.say
        flip = Flip(note.at, note.box, note.run, before_, after or "", note.severity, note.state, says)
        db.execute(
            "INSERT INTO flips (at, box, run, rule_before, rule, severity, state, say) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            flip,
        )
    if note.point is not None:
        db.execute("INSERT OR IGNORE INTO rules (name) VALUES (?)", (note.rule,))
        db.execute(
            "INSERT OR REPLACE INTO points SELECT runs.key, ?, rules.key, ?, ?, ?, ?, ?, ?, ? FROM runs, rules"
            " WHERE runs.box = ? AND runs.run = ? AND rules.name = ?",
            (int(note.at), note.severity, *note.point, note.box, note.run, note.rule),
        )


def _with_flag(rule: str | None, flag: str) -> str | None:
    """`healthy +disk-trend`: a warning is told together with the rule that makes it one."""
    return f"{rule} +{flag}" if rule and flag else rule


def _with_persons_word(db: sqlite3.Connection, note: RunNote) -> Before:
    """What a person said while the tick was at work stands: a tick never changes it."""
    found = db.execute("SELECT before FROM runs WHERE box = ? AND run = ?", (note.box, note.run)).fetchone()
    try:
        now = codec.before_from_text(found[0]) if found else note.before
    except (ValueError, TypeError):
        now = note.before
    return note.before._replace(acknowledged=now.acknowledged, silenced_until=now.silenced_until)


def _insert_act(db: sqlite3.Connection, act: PatrolAct) -> None:
    db.execute(
        "INSERT INTO acts (at, box, run, kind, subject, outcome, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
        act,
    )


def _change_run(
    db: sqlite3.Connection, key: tuple[str, str], change: Callable[[Before], Before], act: PatrolAct
) -> bool:
    found = db.execute("SELECT before FROM runs WHERE box = ? AND run = ?", key).fetchone()
    if found is None:
        return False
    before = codec.before_to_text(change(codec.before_from_text(found[0])))
    db.execute("UPDATE runs SET before = ? WHERE box = ? AND run = ?", (before, *key))
    _insert_act(db, act)
    return True


def _forget(db: sqlite3.Connection, box: str, run: str | None) -> int:
    mine = "box = ?" if run is None else "box = ? AND run = ?"
    key = (box,) if run is None else (box, run)
    db.execute(f"DELETE FROM points WHERE run IN (SELECT key FROM runs WHERE {mine})", key)  # noqa: S608 - words of ours
    count = db.execute(f"DELETE FROM runs WHERE {mine}", key).rowcount  # noqa: S608 - as above
    for table in ("places", "records", "flips", "series"):
        db.execute(f"DELETE FROM {table} WHERE {mine}", key)  # noqa: S608 - as above
    for table in ("boxes", "looks") if run is None else ():
        db.execute(f"DELETE FROM {table} WHERE box = ?", (box,))  # noqa: S608 - as above
    return count


def _drop_old(db: sqlite3.Connection, now: float, boxes: Sequence[str]) -> None:
    for table, days in KEPT_DAYS.items():
        column = AGE_COLUMN.get(table, "at")
        db.execute(f"DELETE FROM {table} WHERE {column} < ?", (now - days * DAY_SECONDS,))  # noqa: S608 - names of ours
    db.execute("DELETE FROM runs WHERE at < ?", (now - KEPT_DAYS["points"] * DAY_SECONDS,))
    for table, rows in KEPT_ROWS.items():
        db.execute(f"DELETE FROM {table} WHERE id <= (SELECT max(id) FROM {table}) - ?", (rows,))  # noqa: S608 - as above
    for box in boxes:
        db.execute(
            "DELETE FROM runs WHERE box = ?1 AND key NOT IN (SELECT key FROM runs WHERE box = ?1 ORDER BY at DESC, key"
            " LIMIT ?2)",
            (box, KEPT_RUNS_PER_BOX),
        )
        for table in ("records", "series"):
            of_none = f"DELETE FROM {table} WHERE box = ?1 AND run NOT IN (SELECT run FROM runs WHERE box = ?1)"  # noqa: S608 - as above
            db.execute(of_none, (box,))
        db.execute(
            "DELETE FROM looks WHERE box = ?1 AND at < (SELECT min(at) FROM (SELECT at FROM looks WHERE box = ?1"
            " ORDER BY at DESC LIMIT ?2))",
            (box, KEPT_LOOKS_PER_BOX),
        )
