"""What a person sees of a stage's run at an experiment tracker: told once, kept, and compared with what is meant."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.box import wait_until

if TYPE_CHECKING:
    from tests.box import Box

OFTEN = "[run]\nsample_every = '200ms'\n"
# Prints what wandb 0.31 prints at a start, and makes its directory; then waits for the file `go`, and fails while told.
TRAINING = r"""
import os, sys, time
run_id = os.environ.get("RUN_ID") or f"run{int(time.time() * 1000) % 10**8}"
place = os.path.abspath(f"wandb/{'offline-' if QUIET else ''}run-20261121_033423-{run_id}")
os.makedirs(place)
if os.path.lexists("wandb/latest-run"):
    os.remove("wandb/latest-run")
os.symlink(os.path.basename(place), "wandb/latest-run")
if not QUIET:
    print("wandb: Tracking run with wandb version 0.31.0")
    print(f"wandb: Run data is saved locally in {place}")
    print("wandb: Syncing run", os.environ.get("RUN_NAME", f"sun-{run_id}"))
    print("wandb: 🚀 View run at", f"https://wandb.ai/lab/digits/runs/{os.environ.get('LINK_ID', run_id)}", flush=True)
step = 0
while not os.path.exists("go"):
    step += 1
    print("step", step, "of 1000", flush=True)
    time.sleep(0.05)
os.remove("go")
sys.exit(int(open("code").read()) if os.path.exists("code") else 0)
"""


def configure(box: Box, text: str = "", *, quiet: bool = False) -> None:
    (box.project / "train.py").write_text(f"QUIET = {quiet}\n{TRAINING}")
    (box.project / "onbox.toml").write_text(f"{OFTEN}{text}\n[stages.train]\ncmd = '{sys.executable} train.py'\n")


def test_two_restarts_are_three_prints(box: Box) -> None:
    configure(box, "")
    for attempt in (1, 2, 3):
        chain = box.start("chain")
        wait_until(lambda number=attempt: len(box.events("tracker_run")) == number, "the record")  # type: ignore[misc]
        if attempt < 3:
            assert box.onbox("stop").returncode == 0
            chain.wait(60)
    assert "tracker  train: wandb run" in box.onbox("status").stdout
    (box.project / "go").touch()
    assert chain.wait(60) == 0
    records = box.events("tracker_run")
    assert [record["attempt"] for record in records] == [1, 2, 3]
    assert len({record["run_id"] for record in records}) == 3
    for record in records:
        assert record["url"] == f"https://wandb.ai/lab/digits/runs/{record['run_id']}"
        assert record["place"].endswith(record["run_id"])
        assert record["drift"] == []


def test_a_run_is_printed_once_in_the_terminal(box: Box) -> None:
    configure(box)
    chain = box.start("chain")
    box.wait_for_event("tracker_run")
    (box.project / "go").touch()
    told, _ = chain.communicate(timeout=60)
    assert told.count(" tracker ") == 1
    assert "https://wandb.ai/lab/digits/runs/" in told


def test_the_same_run_after_a_resume_is_told_as_such(box: Box) -> None:
    configure(box, "env = { RUN_ID = 'abc12345' }\n")
    for times, code in enumerate(("1", "0"), start=1):
        (box.project / "code").write_text(code)
        chain = box.start("chain")
        wait_until(lambda times=times: len(box.events("tracker_run")) == times, "the record")  # type: ignore[misc]
        (box.project / "go").touch()
        chain.wait(60)
        (box.project / "wandb").rename(box.project / f"wandb-{code}")
    assert [record.get("again") for record in box.events("tracker_run")] == [None, True]


def test_another_run_than_is_meant_is_told_at_once(box: Box) -> None:
    configure(box, "[tracker]\nkind = 'wandb'\nentity = 'lab'\nproject = 'digits'\nrun_id = 'digits-7'\n")
    chain = box.start("chain")
    wait_until(lambda: box.events("tracker_drift"), "the drift")
    (drift,) = box.events("tracker_drift")
    assert "meant is digits-7" in drift["reason"]
    assert "DRIFT: the run id is" in box.onbox("status").stdout
    data = json.loads(box.onbox("status", "--json").stdout)
    assert len(data["tracker_runs"][0]["drift"]) == 1
    (box.project / "go").touch()
    assert chain.wait(60) == 0  # the stage itself is well


def test_a_link_of_another_run_than_the_files(box: Box) -> None:
    configure(box, "env = { RUN_ID = 'new12345', LINK_ID = 'old12345' }\n")
    chain = box.start("chain")
    wait_until(lambda: box.events("tracker_run"), "the record")
    (record,) = box.events("tracker_run")
    assert record["run_id"] == "new12345"
    assert "the log's link is of run old12345" in record["drift"][0]
    (box.project / "go").touch()
    chain.wait(60)


def test_a_silent_tracker_is_known_by_its_directory(box: Box) -> None:
    configure(box, "env = { RUN_ID = 'abc12345' }\n", quiet=True)
    chain = box.start("chain")
    wait_until(lambda: box.events("tracker_run"), "the record")
    (record,) = box.events("tracker_run")
    assert (record["run_id"], record["place"]) == (
        "abc12345",
        f"{box.project}/wandb/offline-run-20261121_033423-abc12345",
    )
    (box.project / "go").touch()
    assert chain.wait(60) == 0


def test_a_directory_of_an_earlier_attempt_is_nobodys(box: Box) -> None:
    folder = box.project / "wandb" / "run-20261121_033423-old12345"
    folder.mkdir(parents=True)
    (box.project / "wandb" / "latest-run").symlink_to(folder.name)
    os.utime(box.project / "wandb" / "latest-run", (1e9, 1e9), follow_symlinks=False)
    (box.project / "onbox.toml").write_text(f"{OFTEN}[stages.train]\ncmd = 'sleep 0.7'\n")
    assert box.onbox("chain").returncode == 0
    assert box.events("tracker_run") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kind = 'wanda'", "did you mean"),
        ("resume = 'yes'", "allow"),
        ("key = 'abcdef'", "env:NAME"),
        ("api = 'http://wandb.example'", "https"),
        ("runid = 'x'", "run_id"),
    ],
)
def test_a_wrong_table_is_one_clear_line(box: Box, text: str, words: str) -> None:
    (box.project / "onbox.toml").write_text(f"[tracker]\n{text}\n[stages.a]\ncmd = 'true'\n")
    done = box.onbox("chain")
    assert done.returncode == 78
    assert words in done.stderr
    assert "abcdef" not in done.stderr
    assert "Traceback" not in done.stderr
