"""The tables of the patrol's memory, and how an older file becomes one of today.

The rule: a step, once released, is never changed; a new schema is a new step at the end, and a file of every older
schema stays among the tests. `PRAGMA user_version` counts the steps that a file has behind it.
"""

from __future__ import annotations

APPLICATION_ID = 0x6F6E6278  # "onbx": tells our files from foreign ones

STEPS: tuple[str, ...] = (
    # 1
    """
    CREATE TABLE ticks (
        id INTEGER PRIMARY KEY, began_at REAL NOT NULL, ended_at REAL NOT NULL, exit_code INTEGER NOT NULL,
        boxes INTEGER NOT NULL, runs INTEGER NOT NULL, note TEXT NOT NULL);
    CREATE TABLE runs (
        key INTEGER PRIMARY KEY, box TEXT NOT NULL, run TEXT NOT NULL, before TEXT NOT NULL, at REAL NOT NULL,
        line TEXT NOT NULL, verdict TEXT NOT NULL, UNIQUE (box, run));
    CREATE TABLE boxes (box TEXT PRIMARY KEY, before TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE places (box TEXT, run TEXT, place TEXT NOT NULL, PRIMARY KEY (box, run)) WITHOUT ROWID;
    CREATE TABLE looks (box TEXT, at REAL, look BLOB NOT NULL, PRIMARY KEY (box, at)) WITHOUT ROWID;
    CREATE TABLE rules (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE points (
        run INTEGER, at INTEGER, rule INTEGER NOT NULL, severity INTEGER NOT NULL, current REAL, loss REAL,
        memory INTEGER, disk INTEGER, inodes INTEGER, gpu INTEGER, PRIMARY KEY (run, at)) WITHOUT ROWID;
    CREATE TABLE flips (
        id INTEGER PRIMARY KEY, at REAL NOT NULL, box TEXT NOT NULL, run TEXT NOT NULL, rule_before TEXT,
        rule TEXT NOT NULL, severity INTEGER NOT NULL, state TEXT NOT NULL, say TEXT NOT NULL);
    CREATE TABLE acts (
        id INTEGER PRIMARY KEY, at REAL NOT NULL, box TEXT NOT NULL, run TEXT NOT NULL, kind TEXT NOT NULL,
        subject TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL);
    CREATE INDEX flips_of_run ON flips (box, run, id);
    CREATE INDEX acts_of_subject ON acts (kind, subject);
    """,
    # 2
    """
    CREATE TABLE records (
        box TEXT, run TEXT, at REAL NOT NULL, record BLOB NOT NULL, PRIMARY KEY (box, run)) WITHOUT ROWID;
    """,
    # 3
    """
    CREATE TABLE series (
        box TEXT, run TEXT, at REAL, point TEXT NOT NULL, PRIMARY KEY (box, run, at)) WITHOUT ROWID;
    """,
)
NEWEST = len(STEPS)

# What is kept: rows of at most so many days, and at most so many of them.
KEPT_DAYS = {"ticks": 400, "points": 400, "flips": 400, "acts": 400, "series": 400, "looks": 14}
KEPT_ROWS = {"ticks": 20_000, "flips": 20_000, "acts": 5_000}
KEPT_LOOKS_PER_BOX = 96
KEPT_RUNS_PER_BOX = 200
KEPT_POINTS_PER_RUN = 1500  # of its series; of more, every other of the older half is dropped
AGE_COLUMN = {"ticks": "ended_at"}
