"""What a detached start tells before it returns."""

from __future__ import annotations

import json
import re
import shutil
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.box import Box


def test_it_ends_with_the_first_line_and_shows_it(box: Box) -> None:
    began = time.monotonic()
    said = box.onbox(
        "chain", "-d", "--launch-check", "600", "train=sleep 3; echo loading the model; sleep 300", "eval=true"
    )
    assert said.returncode == 0
    assert time.monotonic() - began < 300, "not the whole time"
    assert "said    loading the model" in said.stdout
    assert "will appear: train_DONE, eval_DONE, CHAIN_DONE; or CHAIN_FAILED" in said.stdout


def test_a_crash_after_a_slow_import_is_seen(box: Box) -> None:
    crashed = box.onbox("chain", "-d", "train=sleep 4; exit 3")
    assert crashed.returncode == 1


def test_a_line_of_an_earlier_attempt_is_not_taken_for_this_ones(box: Box) -> None:
    words = ["train=test -e go && exec sleep 300; echo first attempt; exit 1"]
    assert box.onbox("chain", *words).returncode == 1
    (box.project / "go").touch()
    said = box.onbox("chain", "-d", "--launch-check", "0.5", "--json", *words)
    assert json.loads(said.stdout.splitlines()[-1])["first_line"] is None


def test_a_later_stage_that_cannot_start_is_told_before_the_first_one(box: Box) -> None:
    said = box.onbox("chain", "train=true", "eval=pyhton eval.py", "report=python report.py")
    before, _, _ = said.stdout.partition("started")
    assert "stage eval: no program 'pyhton' on PATH" in before
    assert "stage report: no file 'report.py'" in before


def test_a_first_stage_that_is_soon_done_is_enough(box: Box) -> None:
    began = time.monotonic()
    said = box.onbox("chain", "-d", "--launch-check", "600", "prep=sleep 0.3; echo prepared", "train=sleep 300")
    assert said.returncode == 0
    assert time.monotonic() - began < 300
    assert "said    prepared" in said.stdout


def test_a_launch_says_who_would_not_notice_its_end(box: Box) -> None:
    said = box.onbox("chain", "-d", "train=echo begun; sleep 600").stdout
    assert "  missing a message to you when it ends: onbox.toml has no [notify]" in said
    assert "  missing a patrol that looks at this machine" in said
    (box.state.parent / ".patrolled").write_text("3600")
    assert "a patrol that looks" not in box.onbox("chain", "-d", "--run", "two", "train=echo begun; sleep 600").stdout
    for run in ("digits", "two"):
        box.onbox("stop", run, "--now")


def test_the_runs_of_this_user_are_known_from_anywhere(box: Box, tmp_path: Path) -> None:
    box.env["XDG_STATE_HOME"] = str(tmp_path / "home")
    box.onbox("chain", "train=echo 'step 7/7 loss 0.5'")
    box.onbox("chain", "--run", "other", "train=exit 3")
    said = box.onbox("runs", "--all", cwd=tmp_path).stdout
    assert f"{box.project}:\n" in said
    assert re.search(r"^  digits +DONE +1/1", said, re.M)
    assert re.search(r"^  other +FAILED +0/1 train", said, re.M)
    assert max(map(len, said.splitlines()[1:])) <= 80
    shutil.rmtree(box.state)
    assert "digits   " not in box.onbox("runs", "--all", cwd=tmp_path).stdout


def test_a_silent_stage_is_waited_for_with_a_word(box: Box) -> None:
    said = box.onbox("chain", "-d", "--launch-check", "8", "train=sleep 600")
    assert said.stderr == "onbox: stage train runs; its first line is waited for, at most 8 s\n"
