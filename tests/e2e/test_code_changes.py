"""Code that is another one than a stage ran with is told before anything is skipped or resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.box import wait_until

if TYPE_CHECKING:
    from tests.box import Box


def commit(box: Box, message: str) -> None:
    words = ["-c", "user.email=a@example.com", "-c", "user.name=a", "commit", "-q", "--allow-empty", "-m", message]
    assert box.run_program(["git", *words]).returncode == 0


def write_config(box: Box, more: str = "") -> None:
    (box.project / "onbox.toml").write_text(f'[run]\n{more}\n[stages.train]\ncmd = "sh train.sh"\n')


def test_a_skip_tells_that_the_commit_is_another(box: Box) -> None:
    assert box.run_program(["git", "init", "-q"]).returncode == 0
    commit(box, "one")
    words = ["train=sleep 0.5"]
    assert box.onbox("chain", *words).returncode == 0
    assert "has changed" not in box.onbox("chain", *words).stdout
    commit(box, "two")
    said = box.onbox("chain", *words)
    assert said.returncode == 0
    assert "stage train: the code has changed since it was DONE" in said.stdout
    assert f"commit: {box.marker('train_DONE')['code']['git']['commit'][:12]} → " in said.stdout


def test_a_changed_script_is_told_by_chain_and_check_and_refused_on_request(box: Box) -> None:
    write_config(box)
    (box.project / "train.sh").write_text("echo one >>ran\n")
    assert box.onbox("chain").returncode == 0
    (box.project / "train.sh").write_text("echo two >>ran\n")
    assert "train.sh: has changed" in box.onbox("chain").stdout
    assert "WARN  earlier run    stage train: the code has changed" in box.onbox("check").stdout
    write_config(box, 'code_changed = "refuse"')
    refused = box.onbox("chain")
    assert refused.returncode == 78
    assert "--accept-code" in refused.stderr
    assert "--redo train" in refused.stderr
    assert box.onbox("chain", "--accept-code").returncode == 0
    assert box.ran == ["one"]
    assert box.onbox("chain", "--redo", "train").returncode == 0
    assert box.ran == ["one", "two"]
    assert box.onbox("chain").returncode == 0


def test_a_resume_tells_that_the_script_is_another(box: Box) -> None:
    write_config(box)
    (box.project / "train.sh").write_text("exit 3\n")
    assert box.onbox("chain").returncode == 1
    (box.project / "train.sh").write_text("exit 0\n")
    assert "the code has changed since its attempt 1 began" in box.onbox("resume").stdout


@pytest.mark.parametrize("place", ["conf/exp.yaml", "../shared/exp.yaml"], ids=["ignored", "outside the repository"])
def test_a_configuration_that_git_does_not_know_is_told_at_a_relaunch(box: Box, place: str) -> None:
    assert box.run_program(["git", "init", "-q"]).returncode == 0
    (box.project / ".gitignore").write_text("conf/\n.onbox/\n")
    (box.project / "train.sh").write_text("exit 3\n")
    (box.project / "onbox.toml").write_text(f'[stages.train]\ncmd = "sh train.sh --config={place}"\n')
    assert box.run_program(["git", "add", "."]).returncode == 0
    commit(box, "one")
    settings = box.project / place
    settings.parent.mkdir()
    settings.write_text("lr: 0.001\n")
    assert box.onbox("chain").returncode == 1
    assert "has changed" not in box.onbox("resume").stdout
    settings.write_text("lr: 0.01\n")
    for words in (("resume", "--dry-run"), ("resume",)):
        said = " ".join(box.onbox(*words).stdout.split())
        assert f"{place}: has changed" in said, said


@pytest.mark.parametrize("code", [0, 1])
def test_a_script_that_was_replaced_under_its_shell_is_named(box: Box, code: int) -> None:
    write_config(box)
    script = box.project / "train.sh"
    script.write_text(f"echo begins >>ran; until test -e go; do sleep 0.02; done; exit {code}\n")
    viewer = box.start("chain")
    wait_until(lambda: box.ran, "the stage to begin")
    script.write_text("echo another\n")
    (box.project / "go").touch()
    assert viewer.wait(60) == code
    if code == 0:
        assert box.marker("train_DONE")["warnings"] == ["train.sh was changed while it ran"]
        return
    failed = box.marker("train_FAILED")
    assert "script train.sh: was changed while it ran" in failed["reason"]
    assert (failed["failure_class"], failed["rule"]) == ("unknown", "script-changed")
