"""Sentences that were once wrong, each with what is true."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING, Any

from onbox.commands.show.status_text import _tracker_lines, resource_text
from onbox.commands.triage import recorded_end
from onbox.notify.queue.queue_status import summary
from tests.box import Box, wait_until

if TYPE_CHECKING:
    from pathlib import Path


def test_a_tracker_run_of_an_attempt_before_says_so() -> None:
    run: dict[str, Any] = {"stage": "train", "tracker": "wandb", "run_id": "do666tpf", "attempt": 2, "drift": []}
    told = dict(_tracker_lines([{**run, "of_newest_attempt": False}]))
    assert told["tracker"].endswith("(of attempt 2, not of this one)")
    assert "attempt 2" not in dict(_tracker_lines([{**run, "of_newest_attempt": True}]))["tracker"]


def test_an_answer_to_an_earlier_message_is_not_told_of_the_one_that_waits() -> None:
    waits = {"target": "HOOK", "pending": 2, "reason": None}
    assert summary({"targets": [waits], "dead_total": 0}) == "not delivered yet: 2 to HOOK (not tried yet)"


def test_the_fullest_file_system_is_the_one_with_the_smallest_share_left() -> None:
    sample = {"disks": {"/dev/shm": [20, 20, 1, 1], "/": [30, 3000, 1, 1]}}
    assert resource_text(sample, every=False).startswith("/ 30 B free")


def test_triage_of_a_log_of_a_run_knows_how_the_attempt_ended(box: Box) -> None:
    """`host_oom` of a bare "Killed", and `running` of a run that is done: its marker stands beside the log."""
    assert box.onbox("chain", "train=echo step 1/2 loss 1; echo Killed; kill -9 $$").returncode == 1
    log = box.state / "logs" / "train.1.log"
    ended = recorded_end(str(log))
    assert (ended.exit_code, ended.signal, ended.process_alive) == (137, 9, False)
    assert not box.onbox("triage", str(log)).stdout.startswith("host_oom")
    box.onbox("chain", "--run", "well", "train=echo step 2/2 loss 1")
    assert "success_healthy: done" in box.onbox("triage", ".onbox/well/logs/train.log").stdout


def test_triage_of_a_run_that_lost_its_runner_does_not_say_that_it_runs(box: Box) -> None:
    """Stopped then, or ended together with it: in both the journal lacks the attempt's end."""
    waits = "train=echo step 1/9 loss 1; until test -e go; do sleep 0.05; done"
    for run, word, says in (("one", "stop", "user_interrupt: dead"), ("two", "", "preempted: dead")):
        one = Box(box.project, run)
        assert one.onbox("chain", "--run", run, "-d", "--launch-check", "0", waits).returncode == 0
        one.wait_for_log("step 1/9")
        assert one.onbox("triage", "--run", run).stdout.startswith("success_healthy: running")
        one.kill_runner()
        if word:
            assert one.onbox(word, run).returncode == 0
        else:
            one.end_everything()
        said = one.onbox("triage", "--run", run).stdout
        assert said.startswith(says), said


def test_an_end_without_runner_and_keeper_is_not_called_a_cut_off(box: Box) -> None:
    """It ended well by its log: what was seen is told, and its work is not repeated before somebody has looked."""
    waits = "train=echo step 1/2 loss 1; until test -e go; do sleep 0.05; done; echo Training completed."
    assert box.onbox("chain", "-d", "--launch-check", "0", waits).returncode == 0
    box.wait_for_log("step 1/2")
    _kill_runner_and_keeper(box)
    assert "Next: onbox resume -d digits" in box.onbox("triage").stdout, "as status says"
    (box.project / "go").touch()
    wait_until(lambda: box.status()["state"] == "interrupted", "the stage to end")
    assert box.status()["step"] == "end-missed"
    said = box.onbox("triage").stdout
    assert "ended together" not in said
    assert said.startswith("unknown: dead"), said
    assert "and says that the work is done; its exit code is not known" in said
    assert "says that the work is done" in box.onbox("resume").stdout, "it says so before it runs it again"


def test_a_stage_that_was_taken_over_without_its_keeper_is_not_repeated_where_its_log_says_done(box: Box) -> None:
    waits = (
        "train=echo ran >>ran; echo step 1/2 loss 1; until test -e go; do sleep 0.05; done; echo Training completed."
    )
    assert box.onbox("chain", "-d", "--launch-check", "0", waits).returncode == 0
    box.wait_for_log("step 1/2")
    _kill_runner_and_keeper(box)
    resumed = box.start("resume")
    box.wait_for_event("attempt_adopted")
    (box.project / "go").touch()
    assert resumed.wait(60) == 1
    assert (box.ran, box.status()["failure"]["rule"]) == (["ran"], "keeper-lost")


def _kill_runner_and_keeper(box: Box) -> None:
    slot = (box.state / "markers" / ".train.slot").read_text()
    box.kill_runner()
    os.kill(int(slot.split("keeper ")[1].split()[0]), signal.SIGKILL)


def test_a_log_of_no_run_has_no_recorded_end(tmp_path: Path) -> None:
    (tmp_path / "train.1.log").write_text("step 1/2\n")
    assert recorded_end(str(tmp_path / "train.1.log")).exit_code is None


def test_a_failure_of_a_launch_before_is_not_told_of_what_runs_now(box: Box) -> None:
    stages = (
        "prepare=until test -e go; do sleep 0.02; done",
        "train=test -e good || { echo ValueError: bad; exit 1; }",
    )
    (box.project / "go").touch()
    assert box.onbox("chain", *stages).returncode == 1
    assert "ValueError: bad" in box.onbox("status").stdout
    (box.project / "go").unlink()
    assert box.onbox("chain", "--redo", "prepare", "-d", "--launch-check", "0", *stages).returncode == 0
    running = box.status()
    assert (running["failure"], [one["state"] for one in running["stages"]]) == (None, ["running", "pending"])
    assert "ValueError" not in box.onbox("status").stdout
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_FAILED")
    assert "ValueError: bad" in box.onbox("status").stdout


def test_the_time_between_two_launches_is_none_that_it_runs(box: Box) -> None:
    stage = "train=until test -e go; do sleep 0.02; done; exit 1"
    (box.project / "go").touch()
    assert box.onbox("chain", stage).returncode == 1
    journal = box.state / "events.jsonl"
    journal.write_text(re.sub('"(at|ended_at)":"20', r'"\1":"19', journal.read_text()))  # it failed a century ago
    (box.project / "go").unlink()
    assert box.onbox("chain", "-d", "--launch-check", "0", stage).returncode == 0
    running = box.status()
    assert (running["launches"], running["elapsed_seconds"] < 600) == (2, True)
    (box.project / "go").touch()
    box.wait_for_marker("CHAIN_FAILED")
    assert box.status()["elapsed_seconds"] < 600
