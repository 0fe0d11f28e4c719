"""A chain behind what somebody else has started: a training in another terminal, known by its log and its pid."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.box import Box, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    made = Box(tmp_path)
    made.run = tmp_path.name
    yield made
    made.end_everything()


def training(box: Box, last: str) -> subprocess.Popen[bytes]:
    """It writes its log until it may end, and what it writes last."""
    line = f"until test -e end; do echo step 1; sleep 0.1; done; {last}"
    return subprocess.Popen(["sh", "-c", f"({line}) >train.log 2>&1"], cwd=box.project)


def test_a_chain_follows_a_training_that_runs_already(box: Box) -> None:
    job = training(box, "echo Training completed")
    words = ("--after-log", "train.log", "Training completed", "--after-pid", str(job.pid), "eval=touch ran")
    chain = box.start("chain", *words)
    box.wait_for_event("stage_waiting")
    awaited = wait_until(lambda: box.status()["waiting_for"], "its status to say what it waits for")
    assert "Training completed" in awaited
    assert "at most 7d00h" in awaited
    assert not (box.project / "ran").exists()
    (box.project / "end").touch()
    assert chain.wait(60) == 0
    assert (box.project / "ran").exists()
    job.wait()


@pytest.mark.parametrize("last", ["exit 1", "kill -9 $$"])
def test_it_ends_with_a_training_that_dies_without_the_line(box: Box, last: str) -> None:
    job = training(box, last)
    words = ("--after-log", "train.log", "Training completed", "--after-pid", str(job.pid), "eval=touch ran")
    chain = box.start("chain", *words)
    box.wait_for_event("stage_waiting")
    (box.project / "end").touch()
    job.wait()
    assert chain.wait(60) == 1
    marker = box.marker("eval_FAILED")
    assert f"process {job.pid} has gone" in marker["reason"]
    assert "exit code" not in marker["reason"]
    assert marker.get("log") is None
    assert not (box.project / "ran").exists()
    assert "No such file" not in box.onbox("status").stdout


def test_a_process_alone_can_be_followed_and_must_live(box: Box) -> None:
    with subprocess.Popen(["sleep", "60"]) as job:
        chain = box.start("chain", "--after-pid", str(job.pid), "eval=touch ran")
        box.wait_for_event("stage_waiting")
        awaited = f"the end of process {job.pid}"
        try:
            wait_until(lambda: awaited in (box.status()["waiting_for"] or ""), "the status to tell what it waits for")
        finally:
            job.kill()
    assert chain.wait(60) == 0
    refused = box.onbox("chain", "--run", "late", "--after-pid", str(job.pid), "eval=touch ran")
    assert (refused.returncode, f"no process {job.pid} lives here" in refused.stderr) == (78, True)


def test_a_wait_that_reached_its_limit_is_told_as_that(box: Box) -> None:
    far = "/".join(["a-long-way"] * 30)
    stage = f"cmd = 'touch ran'\nwait_for = {{ file = '{far}/READY', timeout = '300ms' }}\n"
    (box.project / "onbox.toml").write_text(f"[run]\nname = {json.dumps(box.run)}\n[stages.a]\n{stage}")
    assert box.onbox("chain").returncode == 1
    said = box.onbox("status").stdout
    assert "did not appear within 0.30s: the file" in " ".join(said.split())
    assert "exit code" not in said
    assert ".log" not in said
    assert "next     provide what it needs, then resume" in said
    wait_until(lambda: box.status()["failure"]["failure_class"] == "not_started", "its class")
