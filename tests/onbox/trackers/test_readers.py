"""What trackers' own files and answers hold."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from onbox.contract.readings import Absent, Unseen
from onbox.trackers import trackio_db, wandb_file
from onbox.trackers.reading import TrackerRun, run_from_list
from onbox.trackers.trackio_db import PROGRAM
from onbox.trackers.wandb_api import parse_answer, question
from onbox.trackers.wandb_file import fold_wandb

FILE = Path(__file__).resolve().parents[2] / "cases" / "trackers" / "wandb_0.31_offline.wandb"


def test_a_finished_run_on_the_disk() -> None:
    run = fold_wandb(None, FILE.read_bytes(), 0)
    assert isinstance(run, TrackerRun)
    assert run[:7] == ("wandb", "abc12345", "try-7", "digits", "finished", 50.0, False)
    assert run.last_at_seconds == pytest.approx(1795265437.8778, abs=0.001)


def test_every_cut_is_an_earlier_run_or_none() -> None:
    data = FILE.read_bytes()
    steps = []
    for size in range(len(data)):
        run = fold_wandb(None, data[:size], 0)
        if isinstance(run, TrackerRun):
            steps.append(run.step or 0.0)
    assert steps == sorted(steps)


def test_a_header_alone_was_never_flushed() -> None:
    assert isinstance(fold_wandb(None, FILE.read_bytes()[:7], 0), Absent)


@pytest.mark.parametrize("data", [b"", b"SQLite format 3", b":W&"])
def test_another_file_is_could_not_look(data: bytes) -> None:
    assert isinstance(fold_wandb(None, data, 0), Unseen)


def test_noise_never_raises() -> None:
    data = bytearray(FILE.read_bytes())
    for at in range(7, len(data), 3):
        data[at] ^= 0xFF
        fold_wandb(None, bytes(data), 0)


ANSWER = {
    "name": "abc12345",
    "displayName": "try-7",
    "state": "running",
    "heartbeatAt": "2026-11-21T03:34:23",
    "summaryMetrics": json.dumps({"global_step": 50, "_step": 49, "_timestamp": 1795232063.5}),
}


def answer(run: object) -> str:
    return json.dumps({"data": {"project": {"run": run}}})


def test_a_run_at_the_server() -> None:
    run = parse_answer(200, answer(ANSWER), "digits")
    assert run == TrackerRun("wandb", "abc12345", "try-7", "digits", "running", 50.0, False, 1795232063.5, None, True)


def test_a_run_without_points_is_as_old_as_its_heartbeat() -> None:
    run = parse_answer(200, answer({**ANSWER, "summaryMetrics": "{}"}), "digits")
    assert isinstance(run, TrackerRun)
    assert (run.step, run.last_at_seconds) == (None, 1795232063.0)


def test_the_server_can_answer_no_run_or_not_at_all() -> None:
    assert isinstance(parse_answer(200, answer(None), "digits"), Absent)
    for status, text in (
        (401, ""),
        (403, ""),
        (500, "{}"),
        (200, answer(ANSWER)[:50]),
        (200, "[]"),
        (200, '{"data": 3}'),
    ):
        assert isinstance(parse_answer(status, text, "digits"), Unseen | Absent), (status, text)
    assert isinstance(parse_answer(401, "", "digits"), Unseen)
    assert isinstance(parse_answer(200, "<html>", "digits"), Unseen)
    assert isinstance(parse_answer(200, '{"errors": [{"message": "x"}]}', "digits"), Unseen)


def test_the_question_names_one_run() -> None:
    assert question("lab", "digits", "abc12345")["variables"] == {
        "entity": "lab",
        "project": "digits",
        "name": "abc12345",
    }


def trackio(path: Path, *points: int, alerts: tuple[tuple[str, str], ...] = (), wal: bool = False) -> str:
    """What the program says of a database as trackio 0.43 makes it (metrics as bytes)."""
    base = sqlite3.connect(path)
    if wal:
        base.execute("PRAGMA journal_mode=WAL")
    base.execute(
        "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, timestamp TEXT, run_name TEXT, step "
        "INTEGER, metrics TEXT)"
    )
    base.execute(
        "CREATE TABLE alerts (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, timestamp TEXT, run_name TEXT, "
        "title TEXT, text TEXT, level TEXT, step INTEGER)"
    )
    for step in points:
        metrics = json.dumps({"global_step": 10 * step, "loss": 0.5}).encode()
        row = ("id", "2026-11-21T03:30:51.160760+00:00", "try-7", step, metrics)
        base.execute("INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)", row)
    for level, title in alerts:
        told = ("id", "2026-11-21T03:30:52+00:00", "try-7", title, "why", level, 3)
        columns = "run_id, timestamp, run_name, title, text, level, step"
        base.execute(f"INSERT INTO alerts ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", told)
    base.commit()
    if not wal:
        base.close()
    words = [sys.executable, "-I", "-S", "-c", PROGRAM, str(path), "try-7"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    if wal:
        base.close()
    return done.stdout


@pytest.mark.parametrize("wal", [False, True])
def test_trackios_newest_point(tmp_path: Path, wal: bool) -> None:  # noqa: FBT001
    told = trackio_db.parse_answer(trackio(tmp_path / "a b?#%.db", 1, 2, 3, wal=wal), "digits")
    assert told.run == TrackerRun("trackio", "id", "try-7", "digits", None, 30.0, False, 1795231851.16076, 0.5, None)
    assert sorted(path.name for path in tmp_path.iterdir() if "-" in path.name) == []


def test_trackios_alerts_newest_first(tmp_path: Path) -> None:
    told = trackio_db.parse_answer(trackio(tmp_path / "d.db", 1, alerts=(("info", "a"), ("warn", "b"))), "digits")
    assert [(alert.level, alert.title, alert.text, alert.step) for alert in told.alerts] == [
        ("warn", "b", "why", 3.0),
        ("info", "a", "why", 3.0),
    ]


def test_a_trackio_run_without_points_or_database(tmp_path: Path) -> None:
    assert isinstance(trackio_db.parse_answer(trackio(tmp_path / "d.db"), None).run, Absent)
    words = [sys.executable, "-I", "-S", "-c", PROGRAM]
    for path, kind in ((tmp_path / "none.db", Absent), (FILE, Unseen)):
        done = subprocess.run([*words, str(path), "x"], capture_output=True, text=True, timeout=60, check=True)
        assert isinstance(trackio_db.parse_answer(done.stdout, None).run, kind)


HOSTILE = [
    "",
    "[]",
    "{",
    '{"row": 3}',
    '{"row": [1,2,3,4,5], "alerts": [1, [1,2,3,4,5]]}',
    "[" * 9999,
    '{"row": [[],[],[],[],[]]}',
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:20])
def test_an_answer_of_anybody_never_raises(text: str) -> None:
    trackio_db.parse_answer(text, "digits")


def test_the_end_of_a_file_is_read_without_its_beginning() -> None:
    data = FILE.read_bytes()
    body = data[7:]
    block = b"".join([data[:7], body])
    padding = wandb_file.BLOCK_BYTES - len(block)
    long = block + b"\0" * padding + body  # the same records again, in the second block
    end = fold_wandb(None, long[300:], 300)
    assert isinstance(end, TrackerRun)
    assert (end.run_id, end.step, end.state) == ("abc12345", 50.0, "finished")
    known = TrackerRun("wandb", "abc12345", "try-7", "digits", None, 40.0, False, 1.0)
    grown = fold_wandb(known, long[wandb_file.BLOCK_BYTES :], wandb_file.BLOCK_BYTES)
    assert isinstance(grown, TrackerRun)
    assert (grown.step, grown.state) == (50.0, "finished")
    assert fold_wandb(known, b"", wandb_file.BLOCK_BYTES) == known
    assert wandb_file.block_before(len(long)) == wandb_file.BLOCK_BYTES


def test_what_is_kept_of_a_run_comes_back() -> None:
    run = TrackerRun("wandb", "abc12345", None, "digits", "running", 5.0, False, 1.5, "nan", True)
    again = run_from_list(json.loads(json.dumps(list(run))))
    assert again == run
    assert run_from_list([]) is run_from_list({}) is run_from_list([1, 2]) is run_from_list(["a"] * 30) is None
