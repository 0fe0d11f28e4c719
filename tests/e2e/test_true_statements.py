"""Sentences of the tool about a run, each held against what is really so: a trainer like transformers', real faults."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.system.clock import parse_utc
from tests.box import wait_until
from tests.handbooked import Handbooked, handbooked
from tests.patrolled import TRAIN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box
    from tests.fault_server import FaultServer

# Saves whole checkpoints as transformers' Trainer does; with ONBOX_RESUME=1 it finds that nothing is left to do.
TRAINER = """\
import json, os, pathlib, sys, time
def save(step):
    at = pathlib.Path(f"ckpt/checkpoint-{step}")
    at.mkdir(parents=True, exist_ok=True)
    head = json.dumps({"w": {"dtype": "F32", "shape": [4096], "data_offsets": [0, 16384]}}).encode()
    (at / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + bytes(16384))
    (at / "config.json").write_text("{}")
    (at / "trainer_state.json").write_text(json.dumps({"global_step": step}))
done = os.environ.get("ONBOX_RESUME") == "1"
print("  0%|          | 0/800 [00:00<?, ?it/s]", flush=True)
for step in () if done else (400, 800):
    save(step)
    print(f"{step // 8}%|#####     | {step}/800 [00:04<00:04, 97.1it/s]", flush=True)
if "wait" in sys.argv and not done:
    time.sleep(600)
if "fail" in sys.argv and not done:
    sys.exit(7)
if done:
    time.sleep(1.2)
print("wandb: Find logs at: ./wandb/offline-run-1/logs", flush=True)
"""


@pytest.fixture
def trainer(box: Box) -> Box:
    (box.project / "train.py").write_text(TRAINER)
    return box


def configure(box: Box, word: str, artifacts: str, more: str = "") -> None:
    line = f"{sys.executable} train.py {word}"
    (box.project / "onbox.toml").write_text(
        f"[stages.train]\ncmd = {json.dumps(line)}\nartifacts = [{artifacts}]\n{more}"
    )


# -- checkpoints


def test_a_dry_run_tells_which_checkpoint_is_whole_and_what_the_others_lack(trainer: Box) -> None:
    configure(trainer, "wait", '{ glob = "ckpt/checkpoint-*/model.safetensors" }')
    trainer.start("chain")
    trainer.wait_for_log("800/800")
    assert trainer.onbox("stop", "--now").returncode == 0
    said = trainer.onbox("resume", "--dry-run").stdout
    assert "checkpoint-800: whole" in said, said
    assert "none is there yet" not in said
    weights = trainer.project / "ckpt/checkpoint-800/model.safetensors"
    os.truncate(weights, 9000)
    foreign, whole = (trainer.project / f"ckpt/checkpoint-{step}" for step in (9999, 400))
    foreign.mkdir()
    (foreign / "model.safetensors").write_bytes((whole / "model.safetensors").read_bytes())
    said = trainer.onbox("resume", "--dry-run").stdout
    assert "checkpoint-400: whole" in said, said
    assert "checkpoint-800: whole" not in said
    assert re.search(r"checkpoint-800 \(model\.safetensors", said), said
    assert "checkpoint-9999 (no trainer_state.json in it)" in said
    assert "metadata.json" not in said


# -- artifacts and progress


def test_what_an_earlier_attempt_wrote_counts_and_a_done_stage_is_not_at_its_beginning(trainer: Box) -> None:
    configure(trainer, "fail", '{ glob = "ckpt/checkpoint-*", min_count = 2, min_bytes = "10KB" }')
    assert trainer.onbox("chain").returncode == 1
    again = trainer.onbox("resume")
    assert again.returncode == 0, again.stdout + again.stderr
    text = again.stdout + trainer.onbox("status").stdout
    assert "missing" not in text
    assert "unchanged since" not in text
    assert "0/800 (0%)" not in text
    assert trainer.marker("train_DONE")["artifact_count"] == 2


def test_the_chain_took_as_long_as_it_did_also_after_its_runner_was_killed(trainer: Box) -> None:
    trainer.start("chain", TRAIN, "eval=echo acc 0.967")
    trainer.wait_for_log("step 1/100")
    trainer.kill_runner()
    (trainer.project / "go").touch()
    done = wait_until(lambda: trainer.events("chain_done"), "the end, which the keeper brings about")[0]
    began = parse_utc(trainer.events("chain_started")[0]["at"]) or 0.0
    assert done["duration_seconds"] == pytest.approx((parse_utc(done["ended_at"]) or 0.0) - began, abs=5)
    assert done["duration_seconds"] >= trainer.events("stage_done")[0]["duration_seconds"]
    status = trainer.onbox("status").stdout
    assert "eval · acc 0.967" in status


# -- why it ended


def test_a_kill_by_hand_is_not_the_hosts_memory_and_a_finished_log_does_not_run(trainer: Box) -> None:
    configure(trainer, "wait", "")
    trainer.start("chain")
    trainer.wait_for_log("800/800")
    runner = trainer.runner_pid()
    os.kill(_trainer_pid(trainer), signal.SIGKILL)
    trainer.wait_for_marker("CHAIN_FAILED")
    trainer.wait_until_gone([runner])  # which refuses --again while it tells of the end
    log = os.fspath(trainer.state / "logs/train.1.log")
    for words in (("triage", log), ("status",)):
        said = trainer.onbox(*words).stdout
        assert "host_oom" not in said, said
        assert "SIGKILL" in said
        assert "wandb: Find logs" not in said, "a tracker's farewell proves nothing"
    configure(trainer, "", "")
    assert trainer.onbox("chain", "--again").returncode == 0
    newest = max((trainer.state / "logs").glob("train.[0-9]*.log"), key=lambda path: path.stat().st_mtime)
    said = trainer.onbox("triage", os.fspath(newest)).stdout
    assert "running" not in said, said
    assert "done" in said.lower()


def _trainer_pid(box: Box) -> int:
    """The process that runs train.py."""
    (pid,) = (pid for pid in box.processes() if b"train.py" in _words(pid) and b"python" in _words(pid).split(b"\0")[0])
    return pid


def _words(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


# -- who is told


def test_the_answer_that_is_shown_is_of_the_messages_that_wait(trainer: Box, server: FaultServer) -> None:
    trainer.env["HOOK"] = server.url("500")
    server.plan = ["200"]
    notify = "[notify]\nurls = ['env:HOOK']\non = ['stage_done', 'chain_done']\nbackoff = '50ms'\n"
    configure(trainer, "", "", notify)
    assert trainer.onbox("chain").returncode == 0
    said = wait_until(
        lambda: text if "HTTP" in (text := trainer.onbox("status").stdout) else "", "an answer to the second message"
    )
    assert "not delivered yet: 1 to HOOK (HTTP 500" in " ".join(said.split())
    assert "HTTP 200" not in said


# -- from outside


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Handbooked]:
    with handbooked(tmp_path) as made:
        yield made


def test_the_page_never_says_that_nobody_is_told_where_somebody_is(place: Handbooked, server: FaultServer) -> None:
    box = place.add_box("gpu1")
    box.env["HOOK"] = server.url("500")
    (box.project / "onbox.toml").write_text("[stages.train]\ncmd = 'true'\n[notify]\nurls = ['env:HOOK']\n")
    assert box.onbox("chain").returncode == 0
    for ticked in (False, True):  # before anything was looked at, and after
        if ticked:
            place.patrol("tick")
        assert place.handbook("build").returncode == 0
        page = (place.local / "HANDBOOK.md").read_text()
        assert "nobody gets messages" not in page
    assert re.search("notifications: tells «?HOOK»?; 1 wait undelivered", page), page
