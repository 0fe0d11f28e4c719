"""A run's files at its experiment tracker, as the probe sees them under each shell."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from onbox.contract.readings import Absent, Unseen
from onbox.model.boxes import BoxSettings, Watch
from onbox.model.tracker import Intent
from onbox.trackers.reading import TrackerRun
from onbox.trackers.wandb_file import fold_wandb
from patrol.probe.trackers import LOOKS_AFTER_END, with_intent
from patrol.snapshot import NOT_ASKED, TrackerLook
from tests.box import BOUND_SECONDS
from tests.wandb_writer import WandbFile

if TYPE_CHECKING:
    from pathlib import Path

    from tests.patrol.probe.local_sh import LocalBox

CLOCK = 1_795_000_000.0
FOLDER = "wandb/run-20261121_033423-abc12345"


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"schema": 1, "at": "2026-11-21T05:00:00.000Z", "event": kind, **fields}


def begun(attempt: int = 1) -> dict[str, Any]:
    return event("attempt_started", stage="train", attempt=attempt)


def tracker_run(place: Path | str, **fields: Any) -> dict[str, Any]:
    told = {"tracker": "wandb", "run_id": "abc12345", "stage": "train", "attempt": 1, "drift": []}
    return event("tracker_run", **{**told, "place": str(place), **fields})


def make_run(box: LocalBox, *records: dict[str, Any], python: str = "") -> Path:
    folder = box.folder / ".onbox" / "digits"
    (folder / "markers").mkdir(parents=True)
    head = {"schema": 1, "run": "digits", "run_id": "R1", "project": "/p", "chain_fingerprint": "a", "stage_count": 1}
    (folder / "run.json").write_text(json.dumps({**head, "python": python})[:-1] + ', "stages": [\n]}\n')
    (folder / "events.jsonl").write_text("")
    add(box, event("chain_started", stages=1), *records)
    return folder


def add(box: LocalBox, *records: dict[str, Any]) -> None:
    with (box.folder / ".onbox" / "digits" / "events.jsonl").open("a") as file:
        file.writelines(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


def look(box: LocalBox, *watches: Watch) -> TrackerLook | None:
    seen = box.look(BoxSettings("gpu1", "gpu1", project=str(box.folder), watches=watches))
    assert not isinstance(seen.runs, Absent | Unseen), seen.runs
    (run,) = seen.runs
    return run.trackers[-1] if run.trackers else None


def seen(found: TrackerLook | None) -> TrackerRun:
    assert found is not None
    assert isinstance(found.disk, TrackerRun), found.disk
    return found.disk


def test_a_file_that_grows_is_followed(box: LocalBox) -> None:
    folder = box.folder / FOLDER
    file = WandbFile(folder)
    file.log(10, CLOCK)
    make_run(box, begun(), tracker_run(folder))
    first = look(box)
    assert first is not None
    assert first.disk == NOT_ASKED  # it is known by this very look
    assert seen(look(box))[:8] == ("wandb", "abc12345", "try-7", "digits", None, 10.0, False, CLOCK)
    quiet = look(box)
    assert seen(quiet).step == 10.0
    assert box.traffic.down_bytes < 4000
    file.log(20, CLOCK + 60, loss="NaN")
    moved = look(box)
    assert (seen(moved).step, seen(moved).last_at_seconds, seen(moved).loss) == (20.0, CLOCK + 60, "nan")
    assert moved is not None
    assert moved.disk_before is not None
    assert moved.disk_before.step == 10.0
    file.finish()
    assert seen(look(box))[1:6] == ("abc12345", "try-7", "digits", "finished", 20.0)


def test_of_a_file_that_grew_by_megabytes_little_is_sent(box: LocalBox) -> None:
    folder = box.folder / FOLDER
    file = WandbFile(folder)
    make_run(box, begun(), tracker_run(folder))
    look(box)
    for step in range(1, 60):
        file.print(40_000)
        file.log(step, CLOCK + step)
    assert seen(look(box)).step == 59.0
    assert box.traffic.down_bytes < 100_000
    for step in range(60, 90):
        file.print(40_000)
        file.log(step, CLOCK + step)
    again = seen(look(box))
    assert again.step == 89.0
    assert again[:4] == ("wandb", "abc12345", "try-7", "digits")  # of its first block, read long ago
    assert box.traffic.down_bytes < 100_000
    whole = fold_wandb(None, file.path.read_bytes(), 0)
    assert again == whole


def test_each_look_at_a_growing_file_tells_what_the_whole_one_would(one_box: LocalBox) -> None:
    folder = one_box.folder / FOLDER
    file = WandbFile(folder)
    make_run(one_box, begun(), tracker_run(folder))
    look(one_box)
    for step in range(1, 25):
        file.log(step, CLOCK + step, loss=1 / step)
        file.print(3_000 * (step % 7))
        assert seen(look(one_box)) == fold_wandb(None, file.path.read_bytes(), 0)


def test_a_file_that_is_replaced_is_read_anew(one_box: LocalBox) -> None:
    folder = one_box.folder / FOLDER
    WandbFile(folder).log(50, CLOCK)
    make_run(one_box, begun(), tracker_run(folder))
    look(one_box)
    assert seen(look(one_box)).step == 50.0
    shutil.rmtree(folder)
    gone = look(one_box)
    assert gone is not None
    assert isinstance(gone.disk, Absent)
    WandbFile(folder).log(3, CLOCK)
    assert seen(look(one_box)).step == 3.0


def test_without_a_tracker_nothing_is_asked(one_box: LocalBox) -> None:
    make_run(one_box, begun())
    for _ in range(3):
        assert look(one_box) is None
    assert b"tracker" not in one_box.answer


def test_an_ended_run_is_asked_a_few_times_more(one_box: LocalBox) -> None:
    folder = one_box.folder / FOLDER
    file = WandbFile(folder)
    file.log(10, CLOCK)
    make_run(one_box, begun(), tracker_run(folder), event("chain_failed", stage="CHAIN"))
    look(one_box)
    for _ in range(LOOKS_AFTER_END - 1):
        assert seen(look(one_box)).state is None
        assert b"tracker.0" in one_box.answer
    assert seen(look(one_box)).step == 10.0  # as it was seen last
    assert b"tracker" not in one_box.answer


def test_a_new_attempt_that_has_told_of_no_run_yet(one_box: LocalBox) -> None:
    folder = one_box.folder / FOLDER
    WandbFile(folder).log(10, CLOCK)
    make_run(one_box, begun(), tracker_run(folder))
    look(one_box)
    add(one_box, begun(2))
    look(one_box)
    found = look(one_box)
    assert found is not None
    assert not found.of_this_attempt
    assert b"tracker" not in one_box.answer
    other = one_box.folder / "wandb/run-20261121_040000-new12345"
    WandbFile(other, "new12345").log(11, CLOCK)
    add(one_box, tracker_run(other, run_id="new12345", attempt=2))
    look(one_box)
    assert seen(look(one_box)).run_id == "new12345"


@pytest.mark.parametrize("name", ["a b", "quo'te", "$(touch pwned)", "-rf", "`x`", "new\nline"])
def test_a_hostile_place_is_a_place(box: LocalBox, name: str) -> None:
    folder = box.folder / name / "run-20261121_033423-abc12345"
    WandbFile(folder).log(10, CLOCK)
    make_run(box, begun(), tracker_run(folder))
    look(box)
    found = look(box)
    assert found is not None
    if "\n" in name:
        assert not isinstance(found.disk, TrackerRun)  # no line of a journal tells such a place
    else:
        assert seen(found).step == 10.0
    assert not (box.folder / "pwned").exists()


@pytest.mark.parametrize("text", [b"", b":W&B", b"\x00" * 50_000, b":W&B\xbe\xe1\x00" + b"\xff" * 70_000])
def test_a_file_that_is_none_is_could_not_look_or_nothing_yet(one_box: LocalBox, text: bytes) -> None:
    folder = one_box.folder / FOLDER
    WandbFile(folder).path.write_bytes(text)
    make_run(one_box, begun(), tracker_run(folder))
    look(one_box)
    found = look(one_box)
    assert found is not None
    assert isinstance(found.disk, Absent | Unseen)


def test_what_is_known_of_a_stages_run_outlives_its_log(one_box: LocalBox) -> None:
    folder = one_box.folder / FOLDER
    file = WandbFile(folder)
    file.print(40_000)
    file.log(10, CLOCK)
    logs = make_run(one_box, begun(), tracker_run(folder)) / "logs"
    logs.mkdir()
    (logs / "train.1.log").write_text("step 10\n")
    look(one_box)
    look(one_box)
    file.finish()
    (logs / "train.1.log").unlink()
    (logs / "eval.1.log").write_text("step 1\n")
    add(one_box, event("stage_done", stage="train", attempt=1), event("attempt_started", stage="eval", attempt=1))
    look(one_box)
    assert seen(look(one_box))[:6] == ("wandb", "abc12345", "try-7", "digits", "finished", 10.0)


def test_an_offline_run_that_was_sent(one_box: LocalBox) -> None:
    folder = one_box.folder / "wandb/offline-run-20261121_033423-abc12345"
    file = WandbFile(folder)
    file.finish()
    make_run(one_box, begun(), tracker_run(folder))
    look(one_box)
    for synced in (False, True):
        found = look(one_box)
        assert found is not None
        assert found.synced is synced
        file.path.with_name(f"{file.path.name}.synced").touch()
    add(one_box, event("stage_done", stage="train", attempt=1), event("chain_done", stage="CHAIN"))
    look(one_box)
    assert look(one_box) is not None
    assert b"tracker" not in one_box.answer


def test_an_ended_offline_run_is_asked_until_it_was_sent(one_box: LocalBox) -> None:
    folder = one_box.folder / "wandb/offline-run-20261121_033423-abc12345"
    file = WandbFile(folder)
    file.finish()
    make_run(one_box, begun(), tracker_run(folder), event("chain_done", stage="CHAIN"))
    for _ in range(LOOKS_AFTER_END + 3):
        look(one_box)
    assert b"tracker.0" in one_box.answer
    file.path.with_name(f"{file.path.name}.synced").touch()
    look(one_box)
    found = look(one_box)
    assert found is not None
    assert found.synced is True
    assert b"tracker" not in one_box.answer


def test_a_watched_run_is_known_by_its_log(box: LocalBox) -> None:
    folder = box.folder / FOLDER
    WandbFile(folder).log(10, CLOCK)
    log = box.folder / "train.log"
    log.write_text(f"wandb: Run data is saved locally in {folder}\nwandb: Syncing run try-7\nstep 1\nstep 2\n")
    watch = Watch(name="train", log=str(log))
    look(box, watch)
    assert seen(look(box, watch)).step == 10.0


def trackio(path: Path, step: int, *alerts: tuple[str, str]) -> None:
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id, timestamp, run_name, step, metrics)")
        base.execute("CREATE TABLE alerts (id INTEGER PRIMARY KEY, timestamp, level, title, text, step, run_name)")
        at = "2026-11-21T03:30:51+00:00"
        row = ("id1", at, "try-7", step, json.dumps({"loss": 0.5}).encode())
        base.execute("INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)", row)
        for level, title in alerts:
            base.execute("INSERT INTO alerts VALUES (NULL, ?, ?, ?, 'why', 3, 'try-7')", (at, level, title))
    base.close()


def with_trackio(box: LocalBox, path: Path, python: str = "") -> TrackerLook:
    told = {"tracker": "trackio", "run_id": None, "name": "try-7", "project": "digits"}
    make_run(box, begun(), tracker_run(path, **told), python=python)
    look(box)
    found = look(box)
    assert found is not None
    return found


def test_a_trackio_run_with_its_alerts(box: LocalBox) -> None:
    path = box.folder / "my $(touch pwned) digits.db"
    trackio(path, 7, ("warn", "loss \x1b[31mspike"))
    found = with_trackio(box, path, sys.executable)
    assert seen(found)[:7] == ("trackio", "id1", "try-7", "digits", None, 7.0, True)
    assert [(alert.level, alert.step) for alert in found.alerts] == [("warn", 3.0)]
    assert "\x1b" not in found.alerts[0].title
    assert not (box.folder / "pwned").exists()


def test_a_box_whose_python_is_gone_is_asked_with_another(one_box: LocalBox) -> None:
    path = one_box.folder / "digits.db"
    trackio(path, 7)
    one_box.env["PATH"] += f":{sys.prefix}/bin"
    assert seen(with_trackio(one_box, path, "/nowhere/python")).step == 7.0


def test_a_database_that_hangs_costs_its_own_section_only(one_box: LocalBox) -> None:
    path = one_box.folder / "digits.db"
    trackio(path, 7)
    slow = one_box.folder / "python"
    slow.write_text("#!/bin/sh\nsleep 200\n")
    slow.chmod(0o755)
    began = time.monotonic()
    found = with_trackio(one_box, path, str(slow))
    assert time.monotonic() - began < BOUND_SECONDS
    assert isinstance(found.disk, Unseen)


def test_what_the_box_could_not_know_is_compared_here(one_box: LocalBox) -> None:
    folder = one_box.folder / FOLDER
    WandbFile(folder).log(10, CLOCK)
    make_run(one_box, begun(), tracker_run(folder))
    box = BoxSettings("gpu1", "gpu1", project=str(one_box.folder))
    one_box.look(box)
    whole = one_box.look(box)
    for intent, count in ((Intent(), 0), (Intent(name="try-8", key="env:X"), 1), (Intent(project="digits"), 0)):
        runs = with_intent(whole, intent).runs
        assert not isinstance(runs, Absent | Unseen)
        assert len(runs[0].trackers[0].drift) == count
