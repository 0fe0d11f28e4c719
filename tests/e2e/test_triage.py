"""`onbox triage` as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.box import ONBOX

if TYPE_CHECKING:
    from tests.box import Box

KEYS = {
    "schema",
    "class",
    "terminal",
    "state",
    "line",
    "line_number",
    "remedy",
    "retry",
    "confidence",
    "rule",
    "signature",
    "where",
    "small_fix",
    "secondary",
    "traceback",
}
NO_SPACE = "step 1 loss 2\nOSError: [Errno 28] No space left on device\n"


def test_a_verdict_is_printed(box: Box) -> None:
    (box.project / "x.log").write_text(NO_SPACE)
    done = box.onbox("triage", "x.log")
    assert done.returncode == 0
    assert done.stdout.startswith("disk_full: dead (")
    assert "line 2: OSError" in done.stdout


def test_without_a_path_it_is_the_log_of_the_run(box: Box) -> None:
    (box.project / "onbox.toml").write_text("[progress]\nmax = 5155\n")
    failed = box.onbox("chain", "a=echo step 7", "b=echo step 8 of it; echo 'OSError: [Errno 28] No space'; exit 1")
    assert failed.returncode == 1
    told = box.onbox("triage")
    assert told.stdout.startswith("disk_full: dead (")
    assert told.stderr == f"onbox: the log is {box.state}/logs/b.1.log\n"
    assert "No space" not in box.onbox("triage", "--stage", "a").stdout
    assert json.loads(box.onbox("progress", "--stage", "a", "--json").stdout)["current"] == 7
    assert box.onbox("progress").stderr.endswith("/logs/b.1.log\n")
    assert "there are: a, b" in box.onbox("triage", "--stage", "c").stderr


def test_a_loop_that_is_over_is_done_as_its_progress_says(box: Box) -> None:
    steps = "".join(f"step {at}/9 loss 0.{at}\n" for at in range(1, 10))
    for name, log, state in (("whole", steps + "took 3.2 s\n", "done"), ("half", steps[:60], "running")):
        (box.project / name).write_text(log)
        assert json.loads(box.onbox("triage", name, "--json").stdout)["state"] == state
        assert json.loads(box.onbox("progress", name, "--json").stdout)["finished"] == (state == "done")
        later = json.loads(box.onbox("triage", name, "--json", "--age", "2h").stdout)
        assert (later["state"], later["class"]) == {
            "done": ("done", "success_healthy"),
            "running": ("stalled", "hang_stall"),
        }[state]


@pytest.mark.parametrize(
    ("settings", "last", "finished"),
    [
        ("max = 20", "step 9/9 loss 0.9", False),
        ("max = 9", "step 9/20 loss 0.9", True),
        ("regex = 'doc (?P<current>[0-9]+) of (?P<max>[0-9]+)'", "step 9/9 doc 1 of 5", False),
    ],
)
def test_both_read_the_progress_as_onbox_toml_says(box: Box, settings: str, last: str, finished: bool) -> None:  # noqa: FBT001 - a case
    (box.project / "onbox.toml").write_text(f"[progress]\n{settings}\n")
    (box.project / "x.log").write_text("".join(f"step {at}/20 loss 0.{at}\n" for at in range(1, 9)) + last + "\nbye\n")
    assert json.loads(box.onbox("progress", "x.log", "--json").stdout)["finished"] is finished
    assert json.loads(box.onbox("triage", "x.log", "--json").stdout)["state"] == ("done" if finished else "running")


def test_a_runs_log_is_read_as_the_run_was_frozen(box: Box) -> None:
    """Also where onbox.toml cannot be read any more: else `onbox status` would say another thing."""
    (box.project / "onbox.toml").write_text("[progress]\nmax = 20\n")
    assert box.onbox("chain", "a=echo step 9/9").returncode == 0
    (box.project / "onbox.toml").write_text("[progress\n")
    assert json.loads(box.onbox("progress", "--json").stdout)["exact_max"] == 20


def test_of_a_run_it_says_that_another_stage_has_a_warning(box: Box) -> None:
    nan = "for i in 1 2 3; do echo step $i loss nan; done"
    assert box.onbox("chain", f"train={nan}", "eval=echo acc 0.5", "--run", "nan").returncode == 0
    told = json.loads(box.onbox("triage", "--run", "nan", "--json").stdout)
    assert told["class"] == "success_healthy"
    assert "stage eval alone; stage train has a warning: the last loss in its log is nan" in told["remedy"]
    assert told["remedy"].endswith("onbox triage --run nan --stage train")
    assert json.loads(box.onbox("triage", "--run", "nan", "--stage", "train", "--json").stdout)["class"] == "divergence"


def test_of_a_stopped_run_it_says_what_status_says(box: Box) -> None:
    box.onbox("chain", "-d", "a=sh -c 'echo step 3/9 loss 0.5; sleep 60'")
    box.wait_for_log("step 3/9", "a")
    assert box.onbox("stop", "--now").returncode == 0
    assert "STOPPED" in box.onbox("status").stdout
    said = box.onbox("triage").stdout
    assert said.startswith("user_interrupt: dead")
    assert "resume only on request" in said


def test_the_proof_stands_before_what_to_do_which_is_the_last_line(box: Box) -> None:
    frames = "".join(f'  File "a.py", line {at}, in f{at}\n    go()\n' for at in range(7))
    text = f"Traceback (most recent call last):\n{frames}ValueError: columns are missing: ['y']\n"
    (box.project / "x.log").write_text(text)
    failed = box.onbox("chain", "a=echo step 3/9 eta 0:40; cat x.log; exit 1")
    assert failed.returncode == 1
    told = box.onbox("triage").stdout.splitlines()
    assert [line.split()[0] for line in told[-2:]] == ["automatic", "Repair,"]
    shown = box.onbox("status").stdout
    assert shown.index("proof") < shown.index('File "a.py"') < shown.index("remedy") < shown.index("next")


def test_a_run_that_is_dead_needs_no_more_time(box: Box) -> None:
    assert box.onbox("chain", "a=echo step 3/9 eta 0:40; kill -9 $$").returncode == 1
    assert box.onbox("progress").stdout == "~3/9 (33%)\n"
    assert json.loads(box.onbox("progress", "--json").stdout)["eta_seconds"] is None


def test_json_has_exactly_its_keys(box: Box) -> None:
    (box.project / "x.log").write_text(NO_SPACE)
    verdict = json.loads(box.onbox("triage", "x.log", "--json", "--inodes-free", "0", "--disk-free", "5GB").stdout)
    assert set(verdict) == KEYS
    assert (verdict["schema"], verdict["class"]) == (1, "inode_exhausted")


def test_a_log_comes_from_standard_input(box: Box) -> None:
    done = subprocess.run(
        [*ONBOX, "triage", "-", "--json", "--exit-code", "137", "--oom-kill-delta", "1"],
        check=True,
        input=b"step 1\nKilled\n",
        capture_output=True,
        env=box.env,
        cwd=box.project,
    )
    verdict = json.loads(done.stdout)
    assert (verdict["class"], verdict["confidence"]) == ("host_oom", "high")


def test_the_files_age_tells_a_stall(box: Box) -> None:
    path = box.project / "x.log"
    path.write_text("opening the index\n")
    assert json.loads(box.onbox("triage", "x.log", "--json").stdout)["state"] == "running"
    old = time.time() - 7200
    os.utime(path, (old, old))
    assert json.loads(box.onbox("triage", "x.log", "--json").stdout)["class"] == "hang_stall"


def test_of_a_copy_it_tells_what_its_age_may_be(box: Box) -> None:
    """`scp` makes an old log new: its last line says when it was written."""
    old = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() - 3 * 86400))
    (box.project / "copy.log").write_text(f"{old} INFO step 1/10 loss 0.5\n{old} INFO step 2/10 loss 0.4\n")
    told = box.onbox("triage", "copy.log")
    assert told.stdout.startswith("success_healthy: running")
    assert told.stderr.endswith("ago, and its file is newer: if it is a copy, give --age 3d00h\n"), told.stderr
    assert box.onbox("triage", "copy.log", "--age", "3d00h").stdout.startswith("hang_stall: stalled")


def test_a_row_of_the_configuration_comes_first(box: Box) -> None:
    (box.project / "onbox.toml").write_text("[[triage]]\nregex = 'Errno 28'\nclass = 'my_disk'\nretry = true\n")
    (box.project / "x.log").write_text(NO_SPACE)
    verdict = json.loads(box.onbox("triage", "x.log", "--json").stdout)
    assert (verdict["class"], verdict["retry"], verdict["rule"]) == ("my_disk", True, "user-1")


def test_exit_code_0_of_a_log_that_stops_half_way_is_told(box: Box) -> None:
    (box.project / "x.log").write_text("".join(f"Epoch {at}/20 loss 0.5\n" for at in range(1, 8)))
    told = box.onbox("triage", "x.log", "--exit-code", "0").stdout
    assert told.startswith("success_healthy: done (confidence low")
    assert told.endswith("but the log stops at 7/20: see whether it was meant to.\n")
    with (box.project / "x.log").open("a") as log:
        log.write("Early stopping at epoch 7\n")
    assert "confidence high" in box.onbox("triage", "x.log", "--exit-code", "0").stdout


WRONG = [
    ("nope.log",), (".",), ("x", "--signal", "NOPE"), ("x", "--disk-free", "big"),
    ("x", "--exit-code", "1", "--signal", "9"), (),
]  # fmt: skip


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_command_line_is_one_clear_line(box: Box, words: tuple[str, ...]) -> None:
    done = box.onbox("triage", *words)
    assert done.returncode == 64
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
