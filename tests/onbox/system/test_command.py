"""Programs that are run to their end, within a time."""

from __future__ import annotations

import time

from onbox.system.command import CommandResult, NotRun, run_command
from tests.box import BOUND_SECONDS


def test_streams_and_code_come_apart() -> None:
    argv = ["sh", "-c", "echo out; echo err >&2; exit 3"]
    assert run_command(argv, timeout_seconds=BOUND_SECONDS) == CommandResult(3, "out\n", "err\n")


def test_a_program_that_is_not_there_is_said_so() -> None:
    answer = run_command(["/no/such/program"], timeout_seconds=BOUND_SECONDS)
    assert isinstance(answer, NotRun)
    assert not answer.started


def test_one_that_is_too_slow_is_ended_with_its_children() -> None:
    began = time.monotonic()
    answer = run_command(["sh", "-c", "sleep 200 & sleep 200"], timeout_seconds=0.3)
    assert isinstance(answer, NotRun)
    assert "within 0.3 s" in answer.why
    assert time.monotonic() - began < BOUND_SECONDS


def test_it_reads_nothing_and_gets_the_environment_it_is_given() -> None:
    argv = ["/bin/sh", "-c", 'cat; echo "$A"']
    assert run_command(argv, timeout_seconds=BOUND_SECONDS, env={"A": "1", "PATH": "/bin:/usr/bin"}) == CommandResult(
        0, "1\n", ""
    )
