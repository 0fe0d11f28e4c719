"""The commands that a refusal names can be pasted as they stand, and do what they say."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess

    from tests.box import Box

TRAIN = "train=echo train >>ran; echo best >best.pt"


def command_behind(label: str, text: str) -> list[str]:
    """The words of the command that stands behind the label, without `onbox`."""
    told = next(line for line in text.splitlines() if line.strip().startswith(label))
    name, *words = shlex.split(told.partition(label)[2])
    assert name == "onbox"
    return words


def paste(box: Box, label: str, said: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    return box.onbox(*command_behind(label, said.stdout + said.stderr))


@pytest.mark.parametrize(("way", "ran"), [("keep the result:", []), ("run it again:", ["again"])])
def test_another_command_of_a_run_with_its_own_name_and_file(box: Box, way: str, ran: list[str]) -> None:
    (box.project / "own.toml").write_text('[run]\nstate_dir = "kept"\n')
    assert box.onbox("chain", "-c", "own.toml", "--run", "seven", "train=true").returncode == 0
    refused = box.onbox("chain", "-c", "own.toml", "--run", "seven", "train=echo again >>ran", "eval=true")
    assert refused.returncode == 78
    done = paste(box, way, refused)
    assert (done.returncode, box.ran) == (0, ran), done.stderr
    assert (box.project / "kept/seven/markers/CHAIN_DONE").exists()


def test_a_resume_that_finds_a_broken_marker_names_the_resume_that_goes_on(box: Box) -> None:
    assert box.onbox("chain", TRAIN, "eval=exit 3").returncode == 1
    (box.state / "markers/train_DONE").write_text("{")
    refused = box.onbox("resume")
    assert refused.returncode == 78, refused.stderr
    assert command_behind("run it again:", refused.stderr) == ["resume", "--redo", "train", "digits"]
    assert paste(box, "run it again:", refused).returncode == 1, "the evaluation fails as before"
    assert box.ran == ["train", "train"]


def test_stages_of_a_longer_run_that_are_accepted_stay_in_their_run(box: Box) -> None:
    assert box.onbox("chain", "--run", "seven", "train=exit 3", "eval=echo eval >>ran").returncode == 1
    refused = box.onbox("chain", "--run", "seven", "eval=echo eval >>ran")
    assert "stage train is not done" in refused.stderr
    assert paste(box, "accept the results that are there:", refused).returncode == 0
    assert box.ran == ["eval"]
    assert not box.state.exists(), "no second run, of the folder's name"


def test_changed_code_that_is_refused_names_whole_commands(box: Box) -> None:
    script = box.project / "train.sh"
    (box.project / "own.toml").write_text('[run]\ncode_changed = "refuse"\n')
    script.write_text("echo one >>ran\n")
    typed = ["chain", "-c", "own.toml", "--run", "seven", "train=sh train.sh"]
    assert box.onbox(*typed).returncode == 0
    script.write_text("echo two >>ran\n")
    refused = box.onbox(*typed)
    assert command_behind("continue with today's code:", refused.stderr) == [*typed[:5], "--accept-code", typed[5]]
    assert paste(box, "run it again:", refused).returncode == 0
    assert box.ran == ["one", "two"]


def test_a_check_names_the_file_and_the_run(box: Box) -> None:
    (box.project / "own.toml").write_text("[run]\nname = 'seven'\n[stages.train]\ncmd = 'echo x >>ran'\n")
    assert box.onbox("chain", "-c", "own.toml").returncode == 0
    (box.project / "own.toml").write_text("[run]\nname = 'seven'\n[stages.train]\ncmd = 'echo y >>ran'\n")
    told = " ".join(box.onbox("check", "-c", "own.toml").stdout.split())
    words = shlex.split(told.partition("run it again: `onbox ")[2].partition("`")[0])
    assert words == ["chain", "--run", "seven", "-c", "own.toml", "--redo", "train"]
    assert box.onbox(*words).returncode == 0
    assert box.ran == ["x", "y"]


def test_a_gate_that_still_fails_names_a_command_for_stages_that_were_typed(box: Box) -> None:
    assert box.onbox("chain", "--run", "seven", "train=exit 3").returncode == 1
    failed = box.onbox("chain", "--run", "seven", "--recheck", "train")
    assert paste(box, "keep its result by your own word:", failed).returncode == 0, failed.stdout + failed.stderr


@pytest.mark.parametrize("typed", ["chain", "resume"])
def test_a_chain_that_is_done_says_how_it_is_done_again(box: Box, typed: str) -> None:
    words = ["chain", TRAIN, "eval=echo eval >>ran"]
    assert box.onbox(*words).returncode == 0
    done = box.onbox(*words) if typed == "chain" else box.onbox("resume")
    assert paste(box, "or one", done).returncode == 0
    assert box.ran == ["train", "eval", "eval"]
    assert paste(box, "again", done).returncode == 0
    assert box.ran == ["train", "eval", "eval", "train", "eval"]
