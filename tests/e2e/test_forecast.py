"""`onbox resume --dry-run` says what a resume would do, and does none of it; a relaunch tells first what it changes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from tests.box import Box, wait_until

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """
[run]
name = "digits"
[stages.train]
cmd = "echo began >>starts; until test -e go; do sleep 0.05; done"
artifacts = [{ glob = "ckpt/step-*" }]
"""
MINE = '{"step": 4000, "run_id": "mine"}'
WAIT = "train=echo began >>starts; until test -e go; do sleep 0.05; done"


def forecast(box: Box) -> dict[str, Any]:
    done = box.onbox("resume", "--dry-run", "--json")
    assert done.returncode in (0, 78), done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def picture(folder: Path) -> str:
    """A hash over names and contents of everything in the state directory."""
    seen = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        seen.update(os.fsencode(path))
        if path.is_file():
            seen.update(path.read_bytes())
    return seen.hexdigest()


def test_each_state_has_its_word_and_nothing_changes(box: Box) -> None:
    assert box.onbox("chain", "-d", "--launch-check", "0.1", WAIT).returncode == 0
    wait_until((box.project / "starts").exists, "the stage to begin")
    os.kill(box.runner_pid(), signal.SIGSTOP)  # it writes by itself, and this is about what the forecast writes
    before = picture(box.state)
    assert forecast(box)["would"] == "attach"
    assert before == picture(box.state)
    box.kill_runner()
    before = picture(box.state)
    said = forecast(box)
    assert (said["would"], said["stage"]) == ("adopt", "train")
    assert before == picture(box.state)
    box.end_everything()
    before = picture(box.state)
    said = forecast(box)
    assert (said["would"], said["resuming"]) == ("start", True)
    assert before == picture(box.state)
    (box.project / "go").touch()
    assert box.onbox("resume").returncode == 0
    assert forecast(box)["would"] == "nothing"
    assert len((box.project / "starts").read_text().splitlines()) == 2


def test_it_names_the_newest_whole_checkpoint(box: Box) -> None:
    (box.project / "onbox.toml").write_text(CONFIG)
    ckpt = box.project / "ckpt"
    ckpt.mkdir()
    assert box.onbox("chain", "-d", "--launch-check", "0.1").returncode == 0
    for step in (900, 10000, 9000):
        with zipfile.ZipFile(ckpt / f"step-{step}.npz", "w") as file:
            file.writestr("weights", "x" * 1000)
    whole = (ckpt / "step-10000.npz").read_bytes()
    (ckpt / "step-20000.npz").write_bytes(whole[: len(whole) // 2])
    (ckpt / "step-30000").mkdir()
    assert box.onbox("stop", "--now").returncode == 0
    said = forecast(box)
    assert (said["checkpoint"]["chosen"]["step"], said["checkpoint"]["chosen"]["whole"]) == (10000, True)
    assert [one["step"] for one in said["checkpoint"]["passed_over"]] == [30000, 20000]
    text = box.onbox("resume", "--dry-run").stdout
    assert "step 10000, ckpt/step-10000.npz: whole" in text
    (ckpt / "step-30000" / "metadata.json").write_text("{}")
    assert forecast(box)["checkpoint"]["chosen"]["step"] == 30000


def test_results_that_are_gone_are_named(box: Box) -> None:
    (box.project / "onbox.toml").write_text(
        '[run]\nname = "digits"\n[stages.train]\ncmd = "echo x >best.npz"\nartifacts = ["best.npz"]\n'
    )
    assert box.onbox("chain").returncode == 0
    assert forecast(box)["missing"] == []
    (box.project / "best.npz").unlink()
    assert forecast(box)["missing"] == [{"stage": "train", "path": "best.npz"}]
    assert "onbox resume --redo train digits" in box.onbox("resume", "--dry-run").stdout


def test_results_of_another_command_refuse(box: Box) -> None:
    assert box.onbox("chain", "train=true", "eval=false").returncode == 1
    marker = box.state / "markers" / "train_DONE"
    marker.write_text(json.dumps({**json.loads(marker.read_text()), "fingerprint": "0" * 16}))
    done = box.onbox("resume", "--dry-run")
    assert done.returncode == 78
    assert "a word of yours" in done.stdout


@pytest.fixture
def repository(box: Box) -> Box:
    for words in (
        ["init", "-q"],
        ["config", "user.email", "a@example.com"],
        ["config", "user.name", "a"],
        ["commit", "-q", "--allow-empty", "-m", "one"],
    ):
        subprocess.run(["git", "-C", box.project, *words], check=True)
    return box


def test_a_relaunch_tells_first_what_it_changes(repository: Box) -> None:
    box = repository
    assert box.onbox("chain", "train=exit 3").returncode == 1
    subprocess.run(["git", "-C", box.project, "commit", "-q", "--allow-empty", "-m", "two"], check=True)
    done = box.onbox("chain", "train=echo --token=abcdef123 && true", env={**box.env, "CUDA_VISIBLE_DEVICES": "3"})
    assert done.returncode == 0, done.stderr
    text, _, after = done.stdout.partition("started")
    assert "- train cmd: exit 3" in text, "before anything starts"
    assert "+ train cmd: echo --token=***" in text
    assert "commit: " in text
    assert "environment: CUDA_VISIBLE_DEVICES" in text
    assert "abcdef123" not in done.stdout
    assert after
    first, second = box.events("chain_started")
    assert "changed" not in first
    assert [one[0] for one in second["changed"]] == ["train cmd", "commit", "environment"]
    assert second["git"]["commit"]
    assert second["host"]


def test_a_resume_that_changes_nothing_says_nothing(box: Box) -> None:
    assert box.onbox("chain", "train=test -e go").returncode == 1
    (box.project / "go").touch()
    done = box.onbox("resume")
    assert done.returncode == 0
    assert "differs" not in done.stdout
    assert all("changed" not in one for one in box.events("chain_started"))


@pytest.mark.parametrize(
    ("older", "metadata", "contract", "why"),
    [
        (MINE, '{"step": 5}', "", "its metadata says step 5"),
        (MINE, '{"run_id": "other"}', 'tracker = "lab/mine"', "its metadata says run other, not mine"),
        ('{"step": 4000}', '{"run_id": "other"}', "", "its metadata says run other, the others name none"),
        (MINE, "{}", 'rejected = ["ckpt/step-30000"]', "[contract] rejected names it"),
    ],
)
def test_a_newer_checkpoint_of_another_lineage_holds_a_resume_back(
    box: Box, older: str, metadata: str, contract: str, why: str
) -> None:
    (box.project / "onbox.toml").write_text(f"{CONFIG}[contract]\n{contract}\n")
    assert box.onbox("chain", "-d", "--launch-check", "0.1").returncode == 0
    for step, text in ((4000, older), (30000, metadata)):
        folder = box.project / "ckpt" / f"step-{step}"
        folder.mkdir(parents=True)
        (folder / "metadata.json").write_text(text)
    assert box.onbox("stop", "--now").returncode == 0
    told = box.onbox("resume", "--dry-run")
    assert told.returncode == 3
    assert "step 4000, ckpt/step-4000: whole" in told.stdout
    refused = box.onbox("resume", "-d")
    assert (refused.returncode, why in refused.stderr) == (3, True), refused.stderr
    assert len(box.events("attempt_started")) == 1
    (box.project / "go").touch()
    box.onbox("resume", "--any-checkpoint")
    assert len(box.events("attempt_started")) == 2, "on somebody's word"


def test_a_branch_that_was_given_up_is_named_and_holds_nothing_back(box: Box) -> None:
    (box.project / "onbox.toml").write_text(CONFIG)
    for step, age in ((3000, 0), (20000, 86_400)):
        folder = box.project / "ckpt" / f"step-{step}"
        folder.mkdir(parents=True)
        (folder / "metadata.json").write_text("{}")
        at = time.time() - age + 5
        os.utime(folder / "metadata.json", (at, at))
    assert box.onbox("chain", "-d", "--launch-check", "0.1").returncode == 0
    assert box.onbox("stop", "--now").returncode == 0
    said = forecast(box)
    assert said["checkpoint"]["chosen"]["step"] == 3000
    assert "before the attempt" in said["checkpoint"]["passed_over"][0]["against"]
    (box.project / "go").touch()
    box.onbox("resume")
    assert len(box.events("attempt_started")) == 2


def test_a_resume_names_what_the_file_says_differently(box: Box) -> None:
    (box.project / "onbox.toml").write_text('[stages.train]\ncmd = "test -e go"\n')
    assert box.onbox("chain").returncode == 1
    (box.project / "onbox.toml").write_text('[stages.train]\ncmd = "test -e gone"\n')
    done = box.onbox("resume")
    assert done.returncode == 1
    assert "+ train cmd: test -e gone" in done.stderr
    assert "to run what it says now: onbox chain" in done.stderr


def test_a_resume_without_any_whole_checkpoint_asks_first(box: Box) -> None:
    (box.project / "onbox.toml").write_text(
        '[stages.train]\ncmd = "mkdir -p ckpt/step-1 ckpt/step-2; echo began >>ran; sleep 60"\n'
        '[gates]\ncheckpoints = { path = "ckpt", size = "1KB", keep = 1 }\n'
    )
    assert box.onbox("chain", "-d", "--launch-check", "0").returncode == 0
    box.wait_for_file("ran")
    assert box.onbox("stop", "--now").returncode == 0
    for words in (["resume", "-d"], ["resume", "--dry-run"]):
        refused = box.onbox(*words)
        assert refused.returncode == 3
        assert "no checkpoint is whole (ckpt/step-2: it is empty" in refused.stdout + refused.stderr
    assert box.ran == ["began"]
    assert box.onbox("resume", "-d", "--launch-check", "0", "--any-checkpoint").returncode == 0
    wait_until(lambda: box.ran == ["began", "began"], "the second attempt")
