"""What people do every day to one run, typed here and done on the box: logs, status, stop, resume; list,
remove, forget.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import tomllib

from patrol.config.toml_edit import without_box
from tests.box import wait_until
from tests.patrolled import TRAIN, Patrolled, patrolled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Patrolled]:
    with patrolled(tmp_path) as made:
        made.add_box("gpu1")
        yield made


def test_a_run_is_read_stopped_and_resumed_from_here(place: Patrolled) -> None:
    box = place.boxes["gpu1"]
    assert box.onbox("chain", "-d", "--launch-check", "0", TRAIN).returncode == 0
    wait_until(lambda: "step 1/100" in place.patrol("logs", "gpu1/digits").stdout, "its log")
    status = place.patrol("status", "gpu1/digits")
    assert status.returncode == 0
    assert "RUNNING" in status.stdout
    assert json.loads(place.patrol("status", "gpu1/digits", "--json").stdout)["state"] == "running"
    asked = place.patrol("stop", "gpu1/digits")
    assert asked.returncode == 64, "it asks, and nobody can be asked here"
    assert "patrol stop gpu1/digits --yes" in asked.stderr
    assert place.patrol("stop", "gpu1/digits", "--yes", "--now").returncode == 0
    assert json.loads(place.patrol("status", "gpu1/digits", "--json").stdout)["state"] == "stopped"
    refused = place.patrol("resume", "gpu1/digits")
    assert refused.returncode == 64
    assert "train" in refused.stdout, "what a resume would do is shown before the question"
    (box.project / "go").touch()
    resumed = place.patrol("resume", "gpu1/digits", "--yes")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    wait_until(lambda: "CHAIN_DONE" in box.markers, "the run to end")
    unknown = place.patrol("logs", "gpu1/nope")
    assert unknown.returncode == 64
    assert "the runs there: digits" in unknown.stdout


def test_a_followed_log_goes_on(place: Patrolled) -> None:
    assert place.boxes["gpu1"].onbox("chain", "-d", "--launch-check", "0", TRAIN).returncode == 0
    followed = place.start("logs", "gpu1/digits", "-f")
    assert followed.stdout is not None
    lines = [followed.stdout.readline() for _ in range(5)]
    followed.terminate()
    followed.communicate()
    assert lines[-1] == "step 1/100 loss 0.5\n", lines


def test_a_log_of_what_onbox_did_not_start_is_read_too(place: Patrolled) -> None:
    box = place.add_box("bare", 'watch = { log = "train.log" }')
    (box.project / "train.log").write_text("".join(f"line {number}\n" for number in range(50)))
    shown = place.patrol("logs", "bare/watched", "-n", "3")
    assert shown.stdout.splitlines() == ["line 47", "line 48", "line 49"]
    assert place.patrol("stop", "bare/watched", "--yes").returncode == 64


def test_a_box_is_listed_and_removed_and_a_run_forgotten(place: Patrolled) -> None:
    place.add_box("gpu2", 'price = "1 USD/h"\n[boxes.gpu2.stop_at]\nstep = 5')
    assert place.boxes["gpu1"].onbox("chain", "train=true").returncode == 0
    place.tick("gpu1")
    listed = place.patrol("list").stdout
    assert "gpu1  host gpu1" in listed
    assert "digits  done, seen" in listed
    assert "1 USD/h" in listed
    assert place.patrol("forget", "gpu1/digits").returncode == 0
    assert "digits" not in place.patrol("list").stdout.partition("gpu2")[0].splitlines()[-1]
    assert place.patrol("forget", "gpu1/digits").returncode == 64
    assert place.patrol("remove", "gpu2").returncode == 64
    before = tomllib.loads((place.local / "onbox.toml").read_text())
    assert place.patrol("remove", "gpu2", "--yes").returncode == 0
    after = tomllib.loads((place.local / "onbox.toml").read_text())
    del before["boxes"]["gpu2"]
    assert after == before
    assert "gpu2" not in place.patrol("list").stdout


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[boxes.a]\nhost = 'a'\n[boxes.b]\nhost = 'b'\n", "[boxes.b]\nhost = 'b'\n"),
        ("[boxes.a]\nx = 1\n[[boxes.a.watch]]\nname = 'w'\n# c\n[run]\nname = 'r'\n", "[run]\nname = 'r'\n"),
        ('[boxes."a.b"]\nhost = "x"\n[boxes.a]\nhost = "y"\n', '[boxes."a.b"]\nhost = "x"\n'),
        ("[boxes]\na = { host = 'a' }\n", "[boxes]\na = { host = 'a' }\n"),
    ],
)
def test_only_the_tables_of_the_box_go(text: str, left: str) -> None:
    assert without_box(text, "a") == left
