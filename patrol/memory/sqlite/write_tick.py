"""What a tick reads from the memory and writes into it, as SQL; and what is dropped for its age or number."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

from patrol.memory import codec
from patrol.memory.rows import Flip, Past, PatrolAct
from patrol.memory.run_codec import texts_of
from patrol.memory.sqlite import series
from patrol.memory.sqlite.memory_file import in_transaction, take_room
from patrol.memory.sqlite.schema import (
    AGE_COLUMN,
    KEPT_DAYS,
    KEPT_LOOKS_PER_BOX,
    KEPT_ROWS,
    KEPT_RUNS_PER_BOX,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from patrol.memory.history import Before
    from patrol.memory.rows import BoxNote, RunNote, TickNote


LOOK_LIMIT_BYTES = 1 << 20
DAY_SECONDS = 86400.0


def recall(db: sqlite3.Connection) -> Past:
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


def keep_tick(db: sqlite3.Connection, tick: TickNote) -> None:
    """All of it or nothing."""
    in_transaction(db, lambda: _remember(db, tick))
    with suppress(sqlite3.OperationalError):  # there is no more room to take
        take_room(db)


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


def insert_act(db: sqlite3.Connection, act: PatrolAct) -> None:
    db.execute(
        "INSERT INTO acts (at, box, run, kind, subject, outcome, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
        act,
    )


def change_run(
    db: sqlite3.Connection, key: tuple[str, str], change: Callable[[Before], Before], act: PatrolAct
) -> bool:
    found = db.execute("SELECT before FROM runs WHERE box = ? AND run = ?", key).fetchone()
    if found is None:
        return False
    before = codec.before_to_text(change(codec.before_from_text(found[0])))
    db.execute("UPDATE runs SET before = ? WHERE box = ? AND run = ?", (before, *key))
    insert_act(db, act)
    return True


def forget_run(db: sqlite3.Connection, box: str, run: str | None) -> int:
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
