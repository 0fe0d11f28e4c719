"""A DONE belongs to its project and to its files; what a person says about it is carried out and put on record."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.box import Box, wait_until

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """
[stages.train]
cmd = "echo train >>ran; echo best >best.pt; for i in 1 2 3; do echo $i >epoch_$i.pt; done"
artifacts = ["best.pt", { glob = "epoch_*.pt", min_count = 2 }]
[stages.eval]
cmd = "echo eval >>ran"
"""


def test_who_has_stages_is_told_to_start_those(box: Box) -> None:
    (box.project / "onbox.toml").write_text(CONFIG)
    for words in (["runs"], ["status"]):
        said = box.onbox(*words)
        assert (
            (said.stdout + said.stderr).partition("\nin other projects")[0].strip().endswith("start one: onbox chain")
        )


@pytest.fixture
def done(box: Box) -> Box:
    (box.project / "onbox.toml").write_text(CONFIG)
    assert box.onbox("chain").returncode == 0
    return box


def test_a_run_of_another_project_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    boxes = []
    for name in "ab":
        folder = tmp_path / name / "proj"
        folder.mkdir(parents=True)
        (folder / "onbox.toml").write_text(
            f'[run]\nstate_dir = "{tmp_path}/state"\n[stages.t]\ncmd = "echo x >out"\nartifacts = ["out"]\n'
        )
        boxes.append(Box(folder))
    assert boxes[0].onbox("chain").returncode == 0
    for words in (["chain"], ["resume"]):
        refused = boxes[1].onbox(*words)
        assert refused.returncode == 78
        assert f"{tmp_path}/a/proj" in refused.stderr
        assert f"{tmp_path}/b/proj" in refused.stderr
    assert not (boxes[1].project / "out").exists()
    assert boxes[1].onbox("chain", "--run", "other").returncode == 0
    assert (boxes[1].project / "out").exists()


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_a_result_that_is_gone_is_not_skipped_in_silence(done: Box, damage: str) -> None:
    best = done.project / "best.pt"
    if damage == "gone":
        best.unlink()
    else:
        best.write_text("of another run")
    status = done.status()
    assert status["next_command"] == "onbox resume --dry-run digits", "as patrol and handbook say"
    assert "stage train is DONE, but best.pt" in status["warnings"][0]
    refused = done.onbox("chain")
    assert refused.returncode == 78
    assert "best.pt is not there any more" in refused.stderr or "best.pt has 14 B, and had 5 B" in refused.stderr
    assert "  keep the result:  onbox chain --run digits --accept-done train\n" in refused.stderr
    assert "  run it again:     onbox chain --run digits --redo train\n" in refused.stderr
    assert "best.pt" in done.onbox("check").stdout
    assert done.onbox("chain", "--accept-done", "train").returncode == 0
    assert done.ran == ["train", "eval"]
    assert "already" in done.onbox("chain").stdout
    assert done.onbox("chain", "--redo", "train").returncode == 0
    assert done.ran == ["train", "eval", "train", "eval"], "what follows is made again, too"


def test_results_that_were_pruned_hold_as_long_as_enough_are_left(done: Box) -> None:
    (done.project / "epoch_1.pt").unlink()
    os.utime(done.project / "best.pt", (1, 1))
    said = done.onbox("chain")
    assert said.returncode == 0
    assert "stage train is DONE, but epoch_1.pt is not there any more" in said.stdout
    assert "best.pt was written again since, with the same size" in said.stdout
    (done.project / "epoch_2.pt").unlink()
    assert done.onbox("chain").returncode == 78


def test_everything_anew_is_one_word(done: Box) -> None:
    assert done.onbox("chain", "--again").returncode == 0
    assert done.ran == ["train", "eval", "train", "eval"]


def test_a_failed_stage_counts_by_a_persons_word(box: Box) -> None:
    """Exit 1 in teardown, after the final checkpoint: the evaluation may go on, and the word is on record."""
    words = ["train=echo best >best.pt; exit 1", "eval=echo eval >>ran"]
    assert box.onbox("chain", *words).returncode == 1
    accepted = box.onbox("chain", *words, "--accept-done", "train")
    assert accepted.returncode == 0
    assert "you accepted its result in spite of: exit_code: 1" in accepted.stdout
    assert "its earlier DONE" not in accepted.stdout
    assert (box.ran, box.markers) == (["eval"], ["CHAIN_DONE", "eval_DONE", "train_DONE"])
    marker, (event,) = box.marker("train_DONE"), box.events("done_accepted")
    assert (marker["exit_code"], marker["accepted_by"]) == (1, event["accepted_by"])
    assert "exit_code: 1" in marker["in_spite_of"]
    assert event["in_spite_of"] == marker["in_spite_of"]


def test_an_accepted_stage_keeps_its_result_and_since_when(box: Box) -> None:
    words = ["train=echo 'step 3/3 loss 0.1'; echo 'acc 0.9'; exit 1"]
    assert box.onbox("chain", *words).returncode == 1
    assert box.onbox("chain", *words, "--accept-done", "train").returncode == 0
    assert "train · 3/3 loss 0.1 · acc 0.9" in box.onbox("status").stdout
    assert box.events("chain_done")[0]["progress"]["text"] == "train 3/3 loss 0.1 · acc 0.9"


def test_a_stage_that_was_stopped_and_accepted_says_since_when_it_is_done(box: Box) -> None:
    words = ["train=echo begins >>ran; sleep 600"]
    assert box.onbox("chain", "-d", "--launch-check", "0", *words).returncode == 0
    wait_until(lambda: box.ran, "the stage at work")
    assert box.onbox("stop", "--now").returncode == 0
    assert box.onbox("chain", *words, "--accept-done", "train").returncode == 0
    since = box.marker("train_DONE")["accepted_at"]
    assert f"DONE since {since}, but of another command" in box.onbox("chain", "train=true").stderr


def test_what_never_ran_cannot_be_accepted(box: Box) -> None:
    refused = box.onbox("chain", "train=true", "--accept-done", "train")
    assert refused.returncode == 78
    assert "it never ran" in refused.stderr
    assert "--accept-done" not in refused.stderr


def test_two_live_runs_do_not_share_an_artifact(box: Box) -> None:
    (box.project / "onbox.toml").write_text('[stages.a]\ncmd = "sleep 60"\nartifacts = ["best.pt"]\n')
    assert box.onbox("chain", "-d", "--launch-check", "0", "--run", "r1").returncode == 0
    refused = box.onbox("chain", "--run", "r2")
    assert refused.returncode == 75
    assert "run r1 is alive and its stage a writes" in refused.stderr
    assert "best.pt" in refused.stderr
    assert box.onbox("stop", "--now", "r1").returncode == 0
    (box.project / "onbox.toml").write_text('[stages.a]\ncmd = "echo x >best.pt"\nartifacts = ["best.pt"]\n')
    assert box.onbox("chain", "--run", "r2").returncode == 0


def test_of_two_runs_that_start_at_once_one_gets_the_artifact(box: Box) -> None:
    (box.project / "onbox.toml").write_text('[stages.a]\ncmd = "sleep 60"\nartifacts = ["best.pt"]\n')
    starts = [box.start("chain", "-d", "--launch-check", "0", "--run", f"r{number}") for number in range(4)]
    assert sorted(start.wait(60) for start in starts) == [0, 75, 75, 75]


def test_what_is_said_to_type_next_means_this_run(done: Box) -> None:
    """Without its name the configured run would be meant, which is another one here."""
    started = done.onbox("chain", "-d", "--run", "second", "s=echo up; sleep 600")
    assert "onbox attach second · onbox status second · onbox logs -f --run second" in started.stdout
    assert "onbox stop second" in started.stdout
    stopped = done.onbox("stop", "second", "--now")
    assert stopped.stdout.endswith("continue with: onbox resume second\n")
