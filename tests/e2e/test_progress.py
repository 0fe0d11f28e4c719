"""How far a run is, as its log tells it: in the status while it runs, and in its marker for ever."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

from onbox.system.clock import parse_utc, wall
from tests.box import python, wait_until

if TYPE_CHECKING:
    from tests.box import Box

OFTEN = "[run]\nsample_every = '200ms'\n"
STEPS = "import os, time\nfor i in range({}): print(f'step {{i + 1}}/5155 loss {{1 / (i + 1):.3f}}', flush=True)\n{}"
HOLD = "while not os.path.exists('go'): time.sleep(0.05)\n"


def configure(box: Box, code: str, extra: str = "") -> None:
    (box.project / "train.py").write_text(code)
    (box.project / "onbox.toml").write_text(f"{OFTEN}[stages.train]\ncmd = {python('import train')!r}\n{extra}")


def test_status_and_marker_tell_how_far_it_is(box: Box) -> None:
    configure(box, STEPS.format(40, HOLD))
    chain = box.start("chain")
    box.wait_for_event("attempt_started")
    wait_until(lambda: (box.status()["progress"] or {}).get("current") == 40, "step 40 in the status")
    assert "~40/5155 (0%) loss 0.025" in box.onbox("status").stdout
    (box.project / "go").touch()
    assert chain.wait(60) == 0
    assert box.marker("train_DONE")["progress"]["current"] == 40


def test_status_reads_the_log_at_this_moment(box: Box) -> None:
    """Its heartbeat, which comes every half minute, has seen nothing yet."""
    configure(box, STEPS.format(40, HOLD))
    (box.project / "onbox.toml").write_text(f"[stages.train]\ncmd = {python('import train')!r}\ntimeout = '1h'\n")
    chain = box.start("chain")
    log = box.state / "logs" / "train.1.log"
    wait_until(lambda: log.exists() and b"step 40/" in log.read_bytes(), "step 40 in the log")
    asked_at = wall()
    data = box.status()
    assert (parse_utc(data["progress"]["at"]) or 0.0) >= asked_at - 0.01, "of this look, not of a heartbeat"
    assert (parse_utc(data["at"]) or 0.0) >= asked_at - 0.01
    text = box.onbox("status").stdout
    assert "train · ~40/5155 (0%)" in text
    assert re.search("timeout in (?:1h00m|59m)", text)
    assert max(map(len, text.splitlines())) <= 80
    (box.project / "go").touch()
    assert chain.wait(60) == 0
    assert "train · 40/5155 loss 0.025 · in " in box.onbox("status").stdout


def test_a_chain_took_all_the_time_since_it_was_launched(box: Box) -> None:
    """Also where its runner was killed, and another one saw only the end."""
    configure(box, f"import os, time\n{HOLD}", f"[stages.next]\ncmd = {python('print(1)')!r}\n")
    box.start("chain")
    box.wait_for_event("attempt_started")
    box.kill_runner()
    began = box.events("chain_started")[0]["at"]
    (box.project / "go").touch()
    box.wait_for_event("chain_done")
    end = box.events("chain_done")[0]
    since = (parse_utc(end["ended_at"]) or 0.0) - (parse_utc(began) or 0.0)
    assert 0 < since - 0.01 <= end["duration_seconds"]
    assert box.status()["elapsed_seconds"] == end["duration_seconds"], "status says no time of its own"


def test_a_failed_stage_tells_how_far_it_came(box: Box) -> None:
    configure(box, STEPS.format(7, "raise KeyError('x')\n"))
    assert box.onbox("chain").returncode == 1
    progress = box.marker("train_FAILED")["progress"]
    assert (progress["current"], progress["exact_max"], progress["loss"]) == (7, 5155, 0.143)


def test_the_users_own_line_and_maximum_count(box: Box) -> None:
    own = "[progress]\nregex = 'did (?P<current>[0-9]+) things'\nmax = 300\n"
    configure(box, "print('did 12 things of about 1k')\nraise SystemExit(1)\n", own)
    assert box.onbox("chain").returncode == 1
    assert box.marker("train_FAILED")["progress"]["text"].startswith("~12/300 (4%)")


def test_a_regex_that_fits_no_line_is_told(box: Box) -> None:
    (box.project / "onbox.toml").write_text("[progress]\nregex = 'did (?P<current>[0-9]+) things'\n")
    (box.project / "x.log").write_text("step 3/10\n")
    seen = box.onbox("progress", "x.log")
    assert seen.stdout == "~3/10 (30%)\n"
    assert seen.stderr.endswith(
        "the regex of [progress] gives no number of this log: what is shown is read without it\n"
    )
    (box.project / "x.log").write_text("step 3/10\ndid 4 things\n")
    assert box.onbox("progress", "x.log").stderr == ""


def test_a_log_without_progress_shows_none(box: Box) -> None:
    configure(box, "print('rank 3/8 on 2026-11-21, version 2.1/3')\nraise SystemExit(1)\n")
    assert box.onbox("chain").returncode == 1
    assert box.marker("train_FAILED")["progress"] is None


def test_the_series_of_a_run_as_table_json_and_csv(box: Box) -> None:
    assert "no run" in box.onbox("series").stderr
    configure(box, STEPS.format(40, HOLD))
    chain = box.start("chain")
    wait_until(lambda: '"step":40' in series_of(box), "step 40 in the series")
    box.kill_runner()
    chain.wait(60)
    known = len(series_of(box).splitlines())
    chain = box.start("chain")  # its runner adopts the stage
    wait_until(lambda: len(series_of(box).splitlines()) > known, "a point of the next runner")
    (box.project / "go").touch()
    assert chain.wait(60) == 0
    points = json.loads(box.onbox("series", "--json").stdout)["points"]
    assert points[-1]["step"] == 40
    assert [point["loss"] for point in points if "loss" in point][-1] == 0.025
    assert {(point["stage"], point["attempt"]) for point in points} == {("train", 1)}
    table = box.onbox("series").stdout
    assert re.search(r"^  loss +0\.025 ", table, re.MULTILINE), table
    rows = list(csv.DictReader(io.StringIO(box.onbox("series", "--stage", "train", "--csv").stdout)))
    assert (len(rows), rows[-1]["step"]) == (len(points), "40")
    refused = box.onbox("series", "--stage", "eval")
    assert (refused.returncode, "there are points of: train" in refused.stderr) == (64, True)


def series_of(box: Box) -> str:
    path = box.state / "series.jsonl"
    return path.read_text() if path.exists() else ""


def test_what_works_on_behind_a_full_counter_is_not_finished(box: Box) -> None:
    loop = "for i in 1 2 3; do echo warmup $i/3; done; until test -e go; do sleep 0.05; done"
    chain = box.start("chain", f"serve={loop}")
    wait_until(lambda: "warmup 3/3" in box.onbox("logs").stdout, "the counter to be full")
    assert "finished" not in box.onbox("progress").stdout
    (box.project / "go").touch()
    assert chain.wait(60) == 0
    assert "finished" in box.onbox("progress").stdout
