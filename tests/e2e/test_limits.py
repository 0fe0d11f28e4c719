"""Timeout, stall, wait_for and retry."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.box import ONBOX, wait_until

if TYPE_CHECKING:
    from tests.box import Box


def configure(box: Box, text: str) -> None:
    (box.project / "onbox.toml").write_text("[run]\ngrace = '1s'\nsample_every = '200ms'\n" + text)


def test_a_stage_is_ended_at_its_timeout(box: Box) -> None:
    configure(box, "[stages.a]\ncmd = 'sleep 60 & sleep 60; true'\ntimeout = '300ms'\n")
    assert box.onbox("chain").returncode == 1
    marker = box.marker("a_FAILED")
    assert (marker["cause"], marker["failure_class"]) == ("timeout", "time_limit")
    assert box.processes() == []


def test_a_silent_stage_is_stalled_and_recovers(box: Box) -> None:
    line = "echo one; until test -e go; do sleep 0.2; done; until test -e end; do echo more; sleep 0.1; done"
    configure(box, f"[stages.a]\ncmd = {line!r}\nstall_after = '800ms'\n")
    chain = box.start("chain")
    box.wait_for_event("stage_stalled")
    wait_until(lambda: box.status()["state"] == "stalled", "the status to say so, which is written after the journal")
    (box.project / "go").touch()
    box.wait_for_event("stage_moving")
    (box.project / "end").touch()
    assert chain.wait(60) == 0


def test_what_stood_still_until_its_timeout_is_told_with_its_stacks(box: Box) -> None:
    configure(box, "[stages.a]\ncmd = 'sleep 60'\nstall_after = '300ms'\ntimeout = '3s'\n")
    assert box.onbox("chain").returncode == 1
    assert box.marker("a_FAILED")["failure_class"] == "hang_stall"
    (box.state / "logs" / "a.1.stacks").write_text("Thread 1 (idle)\n")
    said = box.onbox("status").stdout
    assert "a.1.stacks" in said
    assert "It stood still until it was ended" in said
    assert "then stop and resume" not in said, "nothing of it runs"


def test_a_stage_that_computes_in_silence_is_not_stalled(box: Box) -> None:
    line = "end=$(($(date +%s) + 6)); while [ $(date +%s) -lt $end ]; do :; done"
    configure(box, f"[stages.a]\ncmd = {line!r}\nstall_after = '3s'\n")  # so long nobody is without the processor
    assert box.onbox("chain").returncode == 0
    assert box.events("stage_stalled") == []


def test_a_stalled_stage_is_retried_if_that_is_asked_for(box: Box) -> None:
    configure(
        box,
        "[stages.a]\ncmd = 'test $ONBOX_ATTEMPT = 2 || sleep 60'\nstall_after = '5s'\n"
        "retry = { max = 1, classes = ['hang_stall'], backoff = '0s' }\n",
    )
    assert box.onbox("chain").returncode == 0
    assert box.marker("a_DONE")["attempt"] == 2


def test_only_listed_classes_are_retried_and_unchanged(box: Box) -> None:
    line = "echo $ONBOX_ATTEMPT $ONBOX_RESUME $0 $# >>ran; test $ONBOX_ATTEMPT = 3 || exit 143"
    configure(box, f"[stages.a]\ncmd = {line!r}\nretry = {{ max = 5, classes = ['preempted'], backoff = '10ms' }}\n")
    assert box.onbox("chain").returncode == 0
    ran = [line.split() for line in (box.project / "ran").read_text().splitlines()]
    assert [row[:2] for row in ran] == [["1", "0"], ["2", "1"], ["3", "1"]]
    assert len({tuple(row[2:]) for row in ran}) == 1
    assert len({record["fingerprint"] for record in box.events("attempt_started")}) == 1


def test_another_class_is_not_retried(box: Box) -> None:
    configure(box, "[stages.a]\ncmd = 'exit 1'\nretry = { max = 5, classes = ['preempted'], backoff = '0s' }\n")
    assert box.onbox("chain").returncode == 1
    assert box.marker("a_FAILED")["attempt"] == 1


def test_what_can_only_fail_again_is_refused_and_not_retried_by_an_older_definition_either(box: Box) -> None:
    stage = "[stages.a]\ncmd = 'echo Loss is nan, stopping training; exit 143'\n"
    configure(box, stage + "retry = { max = 2, classes = ['divergence'], backoff = '0s' }\n")
    refused = box.onbox("chain")
    assert (refused.returncode, "diverges again" in refused.stderr) == (78, True)
    configure(box, stage + "retry = { max = 2, classes = ['preempted'], backoff = '0s' }\n")
    box.onbox("chain")
    frozen = (box.state / "run.json").read_text()
    (box.state / "run.json").write_text(frozen.replace('"preempted"', '"divergence"'))
    attempts = len(box.events("attempt_started"))
    box.onbox("resume")
    assert box.marker("a_FAILED")["failure_class"] == "divergence"
    assert len(box.events("attempt_started")) == attempts + 1


def test_the_retry_budget_is_kept(box: Box) -> None:
    configure(box, "[stages.a]\ncmd = 'exit 143'\nretry = { max = 2, classes = ['preempted'], backoff = '0s' }\n")
    assert box.onbox("chain").returncode == 1
    assert box.marker("a_FAILED")["attempt"] == 3


def test_a_stage_waits_for_a_file(box: Box) -> None:
    configure(box, "[stages.a]\ncmd = 'true'\nwait_for = { file = 'data/READY', timeout = '30s' }\n")
    chain = box.start("chain")
    box.wait_for_event("stage_waiting")
    wait_until(lambda: "data/READY" in (box.status()["waiting_for"] or ""), "the status to tell what it waits for")
    (box.project / "data").mkdir()
    (box.project / "data" / "READY").touch()
    assert chain.wait(60) == 0


def test_a_stage_waits_for_a_line_in_a_log(box: Box) -> None:
    configure(
        box, "[stages.a]\ncmd = 'true'\nwait_for = { log = 'prep.log', regex = '^prepared [0-9]+', timeout = '30s' }\n"
    )
    log = box.project / "prep.log"
    log.write_text("not yet prepared 1\n")
    chain = box.start("chain")
    box.wait_for_event("stage_waiting")
    with log.open("a") as file:
        file.write("prepared 7\n")
    assert chain.wait(60) == 0


def test_waiting_ends_at_its_limit(box: Box) -> None:
    configure(box, "[stages.a]\ncmd = 'touch ran'\nwait_for = { file = 'never', timeout = '300ms' }\n")
    assert box.onbox("chain").returncode == 1
    assert "did not appear" in box.marker("a_FAILED")["reason"]
    assert not (box.project / "ran").exists()


def test_a_waiting_chain_can_be_stopped(box: Box) -> None:
    configure(box, "[stages.a]\ncmd = 'true'\nwait_for = { file = 'never', timeout = '1h' }\n")
    chain = box.start("chain")
    box.wait_for_event("stage_waiting")
    assert box.onbox("stop").returncode == 0
    assert chain.wait(60) == 4
    assert box.status()["state"] == "stopped"


def test_a_stop_goes_out_though_it_cannot_be_written_down(box: Box) -> None:
    configure(box, "[stages.a]\ncmd = 'sleep 60'\n")
    chain = box.start("chain")
    box.wait_for_event("attempt_started")
    stop = box.run_program(["bash", "-c", f"ulimit -f 0; {' '.join(ONBOX)} stop 2>&1 | cat"])
    assert "recorded as interrupted" in stop.stdout
    assert chain.wait(60) == 4
    assert box.processes() == []


def test_a_fifo_in_place_of_a_state_file_hangs_nobody(box: Box) -> None:
    assert box.onbox("chain", "a=true").returncode == 0
    marker = box.state / "markers" / "a_DONE"
    marker.unlink()
    os.mkfifo(marker)
    assert box.onbox("status", timeout=60).returncode in (0, 74)
