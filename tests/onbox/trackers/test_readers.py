"""What trackers' own files and answers hold."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from onbox.contract.readings import Absent, Unseen
from onbox.trackers.reading import TrackerRun
from onbox.trackers.trackio_db import ALERTS, NEWEST, parse_newest
from onbox.trackers.wandb_api import parse_answer, question
from onbox.trackers.wandb_file import parse_wandb

FILE = Path(__file__).resolve().parents[2] / "cases" / "trackers" / "wandb_0.31_offline.wandb"


def test_a_finished_run_on_the_disk() -> None:
    run = parse_wandb(FILE.read_bytes())
    assert isinstance(run, TrackerRun)
    assert run[:7] == ("wandb", "abc12345", "try-7", "digits", "finished", 50.0, False)
    assert run.last_at_seconds == pytest.approx(1795265437.8778, abs=0.001)


def test_every_cut_is_an_earlier_run_or_none() -> None:
    data = FILE.read_bytes()
    steps = []
    for size in range(len(data)):
        run = parse_wandb(data[:size])
        if isinstance(run, TrackerRun):
            steps.append(run.step or 0.0)
    assert steps == sorted(steps)


def test_a_header_alone_was_never_flushed() -> None:
    assert isinstance(parse_wandb(FILE.read_bytes()[:7]), Absent)


@pytest.mark.parametrize("data", [b"", b"SQLite format 3", b":W&"])
def test_another_file_is_could_not_look(data: bytes) -> None:
    assert isinstance(parse_wandb(data), Unseen)


def test_noise_never_raises() -> None:
    data = bytearray(FILE.read_bytes())
    for at in range(7, len(data), 3):
        data[at] ^= 0xFF
        parse_wandb(bytes(data))


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
    assert run == TrackerRun("wandb", "abc12345", "try-7", "digits", "running", 50.0, False, 1795232063.5)


def test_a_run_without_points_is_as_old_as_its_heartbeat() -> None:
    run = parse_answer(200, answer({**ANSWER, "summaryMetrics": "{}"}), "digits")
    assert isinstance(run, TrackerRun)
    assert (run.step, run.last_at_seconds) == (None, 1795232063.0)


def test_the_server_can_answer_no_run_or_not_at_all() -> None:
    assert isinstance(parse_answer(200, answer(None), "digits"), Absent)
    assert isinstance(parse_answer(401, "", "digits"), Unseen)
    assert isinstance(parse_answer(200, "<html>", "digits"), Unseen)
    assert isinstance(parse_answer(200, '{"errors": [{"message": "x"}]}', "digits"), Unseen)


def test_the_question_names_one_run() -> None:
    assert question("lab", "digits", "abc12345")["variables"] == {
        "entity": "lab",
        "project": "digits",
        "name": "abc12345",
    }


def test_trackios_newest_point() -> None:
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE metrics (run_id, timestamp, run_name, step, metrics)")
        database.execute("CREATE TABLE alerts (run_name, timestamp, level, title, text, step)")
        for step in (1, 0):
            row = ("id", "2026-11-21T03:30:51.160760+00:00", "try-7", step, json.dumps({"global_step": 10 * step}))
            database.execute("INSERT INTO metrics VALUES (?, ?, ?, ?, ?)", row)
        run = parse_newest(database.execute(NEWEST, ("try-7",)).fetchone(), "digits")
        assert run == TrackerRun("trackio", "id", "try-7", "digits", None, 10.0, False, 1795231851.16076)
        assert isinstance(parse_newest(database.execute(NEWEST, ("other",)).fetchone(), "digits"), Absent)
        assert database.execute(ALERTS, ("try-7", "")).fetchall() == []
