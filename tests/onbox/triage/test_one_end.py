"""Whether a run has ended: `onbox triage` and `onbox progress` give one answer on one log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onbox.cli.app import main
from onbox.logs.progress import read_progress
from onbox.triage.beside_progress import with_progress, with_verdict
from onbox.triage.classify import classify

if TYPE_CHECKING:
    from pathlib import Path

EPOCHS = "Epoch 1/2 loss 0.5\nEpoch 2/2 loss 0.4\n"
BUILD = "-- Configuring done\n-- Build files have been written to: /b\n" + "".join(
    f"[ {share}%] Building CXX object core.dir/f{share}.cpp.o\n" for share in range(10, 64, 3)
)


@pytest.mark.parametrize(
    "log",
    [
        EPOCHS + "disk full, cannot write model.pt\n",
        EPOCHS + 'Traceback (most recent call last):\n  File "t.py", line 3, in save\n'
        "OSError: [Errno 28] No space left on device\nexit status: 0\n",
        "100%|##########| 40/40 [00:09<00:00, 4.4it/s]\nslurmstepd: error: Detected 1 oom_kill event in StepId=1.0.\n",
        EPOCHS + "uploading model.pt\nConnectionError: store did not answer, giving up after 5 tries\n",
    ],
)
def test_what_died_at_a_full_counter_has_not_finished(log: str) -> None:
    verdict, progress = classify(log.encode()), read_progress(log.encode())
    assert verdict.state == "dead"
    assert with_verdict(progress, verdict).finished is not True


def test_a_suite_with_failed_tests_has_come_to_its_end() -> None:
    log = b"tests/a.py ....F [100%]\n1 failed, 4 passed in 0.31s\n"
    verdict = classify(log)
    assert verdict.failure_class == "code_error"
    assert with_verdict(read_progress(log)._replace(finished=True), verdict).finished


@pytest.mark.parametrize(
    "lines",
    [
        [f"14:17:{at} training: {at}% complete, running loss 0.4" for at in range(30, 59)],
        ["data: search done", *(f"[stage 2] Epoch {at}/40 loss 0.4" for at in range(1, 9))],
        BUILD.splitlines(),
    ],
)
def test_both_commands_say_that_it_is_under_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[str]
) -> None:
    log = tmp_path / "log"
    log.write_text("\n".join(lines) + "\n")
    assert main(["triage", str(log), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] in ("running", "unknown")
    assert main(["progress", str(log), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["finished"] is False


def test_a_part_that_is_done_ends_no_build() -> None:
    verdict = with_progress(classify(BUILD.encode()), read_progress(BUILD.encode()))
    assert (verdict.failure_class, verdict.state) == ("success_healthy", "unknown")
    whole = f"{BUILD}[100%] Built target core\n".encode()
    assert with_progress(classify(whole), read_progress(whole)).state == "done"
