"""A real wandb (offline) and a real trackio. `scripts/test --engines` installs them; ONBOX_TEST_TRACKERS names a python
that has both.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from onbox.trackers.wandb_file import fold_wandb
from tests.box import wait_until
from tests.patrolled import Patrolled, patrolled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box

PYTHON = os.environ.get("ONBOX_TEST_TRACKERS", "")
pytestmark = pytest.mark.skipif(not PYTHON, reason="ONBOX_TEST_TRACKERS names no python with wandb and trackio")

WANDB = """
import os, time, wandb
run = wandb.init(project="digits", name="try-7", resume="allow", id=os.environ.get("RUN_ID"))
step = 0
while not os.path.exists("go"):
    step += 1
    run.log({"global_step": step, "loss": 1 / step})
    print("step", step, "of 100000", flush=True)
    time.sleep(0.05)
run.finish()
"""
TRACKIO = """
import os, time, trackio
trackio.init(project="my.digits", name="try-7")
step = 0
while not os.path.exists("go"):
    step += 1
    trackio.log({"global_step": step, "loss": 1 / step})
    if step == 5:
        trackio.alert("loss spike", text="far above the trend", level=trackio.AlertLevel.WARN)
    print("step", step, "of 100000", flush=True)
    time.sleep(0.05)
trackio.finish()
"""
HEAD = "[patrol.thresholds]\nstart_grace = '1s'\n"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Patrolled]:
    with patrolled(tmp_path) as made:
        yield made


def running(place: Patrolled, program: str, more: str = "") -> Box:
    place.head = HEAD
    box = place.add_box("gpu1")
    box.env |= {"HOME": str(place.home), "WANDB_MODE": "offline", "TRACKIO_DIR": str(box.project / "trackio")}
    (box.project / "train.py").write_text(program)
    head = f"[run]\nsample_every = '500ms'\n{more}"
    (box.project / "onbox.toml").write_text(f"{head}[stages.train]\ncmd = '{PYTHON} train.py'\n")
    assert box.onbox("chain", "-d", "--launch-check", "0.2").returncode == 0
    wait_until(lambda: box.events("tracker_run"), "the tracker's run on record")
    return box


def tracker(place: Patrolled) -> dict[str, Any]:
    (found,) = place.tick()["gpu1/digits"]["look"]["trackers"]
    assert isinstance(found, dict)
    return found


def step(place: Patrolled) -> float:
    """As the tracker's files tell it; 0 before they do."""
    return float(tracker(place)["disk"].get("step") or 0)


def flags(place: Patrolled) -> list[str]:
    return [one["rule"] for one in place.tick()["gpu1/digits"]["further"]]


def test_a_wandb_run_is_known_followed_and_ended(place: Patrolled) -> None:
    box = running(place, WANDB)
    (record,) = box.events("tracker_run")
    assert os.path.basename(record["place"]).endswith(f"-{record['run_id']}")
    first = wait_until(lambda: step(place), "its first flush")
    wait_until(lambda: step(place) > first, "its second flush")
    found = tracker(place)
    assert (found["disk"]["run_id"], found["disk"]["name"]) == (record["run_id"], "try-7")
    assert found["disk"]["project"] == "digits"
    assert "tracker-stale" not in flags(place)
    (box.project / "go").touch()
    wait_until(lambda: "CHAIN_DONE" in box.markers, "the end")
    wait_until(lambda: flags(place) == ["tracker-unsynced"], "that it lies on this box only")
    (file,) = box.project.glob("wandb/offline-run-*/run-*.wandb")
    whole = fold_wandb(None, file.read_bytes(), 0)
    assert tracker(place)["disk"] == {**whole._asdict()}


def test_a_wandb_run_that_was_killed_has_no_end(place: Patrolled) -> None:
    box = running(place, WANDB)
    wait_until(lambda: step(place), "its first flush")
    assert box.onbox("stop", "--now").returncode == 0
    (file,) = box.project.glob("wandb/offline-run-*/run-*.wandb")
    run = fold_wandb(None, file.read_bytes(), 0)
    assert (run.state, run.project) == (None, "digits")  # type: ignore[union-attr]


def test_a_wandb_run_that_is_not_the_one_that_is_meant(place: Patrolled) -> None:
    box = running(place, WANDB, "env = { RUN_ID = 'abc12345' }\n[tracker]\nrun_id = 'digits-7'\nname = 'try-7'\n")
    assert box.events("tracker_drift")[0]["reason"] == "the run id is abc12345, meant is digits-7"
    assert "tracker-drift" in flags(place)
    (box.project / "go").touch()


def test_a_trackio_run_is_known_followed_and_its_alert_told(place: Patrolled) -> None:
    box = running(place, TRACKIO)
    (record,) = box.events("tracker_run")
    assert record["place"] == str(box.project / "trackio" / "mydigits.db")
    assert (record["name"], record["project"]) == ("try-7", "my.digits")
    first = wait_until(lambda: step(place), "its first points")
    wait_until(lambda: step(place) > first, "its next points")
    wait_until(lambda: "tracker-alert" in flags(place), "its alert")
    (box.project / "go").touch()
    wait_until(lambda: "CHAIN_DONE" in box.markers, "the end")
    wait_until(lambda: "CHAIN_DONE" in box.markers and "tracker-unfinished" not in flags(place), "no false alarm")
