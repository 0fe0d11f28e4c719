"""What a patrol says of runs that log to a tracker: over a real sshd, with files that a training process writes."""

from __future__ import annotations

import json
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.box import REPOSITORY, wait_until
from tests.patrolled import Patrolled, patrolled
from tests.wandb_server import KEY, WandbServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box

# Writes W&B's own file as wandb does. Where a file `age` lies beside it, one point of that age, and then none.
TRAINING = r"""
import os, pathlib, sys, time
from tests.wandb_writer import WandbFile
run_id = os.environ.get("RUN_ID", "abc12345")
folder = pathlib.Path(f"wandb/run-20261121_033423-{run_id}").absolute()
file = WandbFile(folder, run_id)
print("wandb: Run data is saved locally in", folder)
print("wandb: Syncing run try-7")
print(f"wandb: 🚀 View run at {os.environ['LINK']}/lab/digits/runs/{run_id}", flush=True)
step, still = 0, False
while not os.path.exists("go"):
    step += 1
    if not still:
        still = os.path.exists("age")
        file.log(step, time.time() - (float(open("age").read()) if still else 0.0))
    print("step", step, "loss 0.5", flush=True)
    time.sleep(0.05)
if not os.path.exists("unfinished"):
    file.finish()
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Patrolled]:
    with patrolled(tmp_path) as made:
        yield made


@pytest.fixture
def wandb() -> Iterator[WandbServer]:
    made = WandbServer()
    yield made
    made.close()


def running(place: Patrolled, more: str = "", link: str = "https://wandb.ai") -> Box:
    box = place.add_box("gpu1")
    (box.project / "train.py").write_text(TRAINING)
    command = f"env PYTHONPATH={shlex.quote(str(REPOSITORY))} LINK={link} {sys.executable} train.py"
    (box.project / "onbox.toml").write_text(
        f"[run]\nsample_every = '200ms'\n{more}[stages.train]\ncmd = {json.dumps(command)}\n"
    )
    assert box.onbox("chain", "-d", "--launch-check", "0.2").returncode == 0
    wait_until(lambda: box.events("tracker_run"), "the tracker's run on record")
    return box


def flags(place: Patrolled) -> list[str]:
    return [one["rule"] for one in place.tick()["gpu1/digits"]["further"]]


def test_a_run_that_moves_at_its_tracker_has_nothing_told(place: Patrolled) -> None:
    running(place)
    for _ in range(2):
        assert place.rules() == {"gpu1/digits": "just-started"}
    assert flags(place) == []


def test_a_tracker_that_stands_still_is_told_and_changes_nothing(place: Patrolled) -> None:
    place.head = "[patrol.thresholds]\nstart_grace = '1s'\nstall_after = '1h'\n"
    box = running(place)
    (box.project / "age").write_text("7200")

    def lagging() -> Any:
        said = place.tick()["gpu1/digits"]
        return said if [one["rule"] for one in said["further"]] == ["tracker-lags"] else None

    wait_until(lagging, "the lag")
    said = wait_until(lagging, "the lag at the next tick, too")
    assert (said["rule"], said["state"]) == ("healthy", "running")
    assert "wandb" in said["further"][0]["say"]


def test_drift_is_critical_while_the_run_goes_on(place: Patrolled) -> None:
    box = running(place, "[tracker]\nrun_id = 'digits-7'\n")
    said = place.tick()["gpu1/digits"]
    assert said["state"] == "running"
    (drift,) = said["further"]
    assert (drift["rule"], drift["severity"]) == ("tracker-drift", "critical")
    assert "meant is digits-7" in drift["say"]
    assert place.patrol("tick").returncode == 2
    (box.project / "go").touch()


def test_a_success_without_its_end_at_the_tracker(place: Patrolled) -> None:
    box = running(place)
    place.tick()
    (box.project / "unfinished").touch()
    (box.project / "go").touch()
    wait_until(lambda: "CHAIN_DONE" in box.markers, "the end")
    wait_until(lambda: "tracker-unfinished" in flags(place), "the flag")
    assert place.rules() == {"gpu1/digits": "done"}


def test_a_success_with_its_end_at_the_tracker(place: Patrolled) -> None:
    box = running(place)
    place.tick()
    (box.project / "go").touch()
    wait_until(lambda: "CHAIN_DONE" in box.markers, "the end")
    for _ in range(3):
        assert flags(place) == []


def test_the_server_is_asked_with_a_key_that_nobody_sees(place: Patrolled, wandb: WandbServer) -> None:
    place.env["WANDB_API_KEY"] = KEY
    place.head = f"[tracker]\napi = '{wandb.api()}'\nkey = 'env:WANDB_API_KEY'\nname = 'try-8'\n"
    running(place, link=wandb.api())
    wandb.add("lab/digits/abc12345", global_step=50, _timestamp=time.time())
    place.tick()

    def drifts() -> Any:
        """Its server answers in time: on a busy machine not at each tick."""
        further = place.tick()["gpu1/digits"]["further"]
        return wandb.received and [one["rule"] for one in further] == ["tracker-drift"] and further

    (drift,) = wait_until(drifts, "the drift, as the server tells it")
    assert "the name is try-7, meant is try-8" in drift["say"]
    kept = b"".join(path.read_bytes() for path in (place.folder / "state").rglob("*") if path.is_file())
    assert KEY.encode() not in kept


def test_a_server_that_hangs_says_nothing_about_the_run(place: Patrolled, wandb: WandbServer) -> None:
    place.env["WANDB_API_KEY"] = KEY
    place.head = f"[tracker]\napi = '{wandb.api('hang')}'\nkey = 'env:WANDB_API_KEY'\n"
    running(place, link=wandb.api())
    place.tick()
    said = place.tick()["gpu1/digits"]
    assert said["rule"] == "just-started"
    assert [one["rule"] for one in said["further"]] == ["tracker-unseen"]
    assert place.patrol("tick").returncode == 0
