"""A few stages of a run that has more: the others are not forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.box import Box

CONFIG = """
[stages.train]
cmd = "echo train >>ran; test -e go || exec sleep 60"
[stages.eval]
cmd = "echo eval >>ran"
"""


@pytest.fixture
def stopped(box: Box) -> Box:
    """A run of two stages, stopped in the first."""
    (box.project / "onbox.toml").write_text(CONFIG)
    assert box.onbox("chain", "-d", "--launch-check", "0").returncode == 0
    box.wait_for_file("ran")
    assert box.onbox("stop", "--now").returncode == 0
    (box.project / "go").touch()
    return box


def test_an_unfinished_stage_is_not_forgotten(stopped: Box) -> None:
    refused = stopped.onbox("chain", "eval")
    assert refused.returncode == 78
    assert "stage train is not done" in refused.stderr
    assert "onbox resume" in refused.stderr
    assert "onbox chain --run digits-eval eval" in refused.stderr
    assert stopped.ran == ["train"]
    assert stopped.status()["stages_done"] == 0
    assert len(stopped.status()["stages"]) == 2
    assert stopped.onbox("chain", "--run", "digits-eval", "eval").returncode == 0
    assert stopped.onbox("resume").returncode == 0
    assert stopped.ran == ["train", "eval", "train", "eval"]


def test_one_stage_again_leaves_the_run_whole(stopped: Box) -> None:
    assert stopped.onbox("chain").returncode == 0
    assert stopped.onbox("chain", "eval", "--redo", "eval").returncode == 0
    status = stopped.status()
    assert (status["state"], status["stages_done"], len(status["stages"])) == ("done", 2, 2)
    assert stopped.ran == ["train", "train", "eval", "eval"]


def test_a_run_does_not_begin_behind_a_stage_that_never_ran(box: Box) -> None:
    (box.project / "onbox.toml").write_text(CONFIG)
    refused = box.onbox("chain", "eval")
    assert refused.returncode == 78
    assert "onbox.toml has train before eval, and it is not done" in refused.stderr
    assert box.ran == []
    assert box.onbox("chain", "--run", "digits-eval", "eval").returncode == 0
    assert box.ran == ["eval"]
