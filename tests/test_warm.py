"""A command that is forked does what it does in an interpreter of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests import warm

if TYPE_CHECKING:
    from pathlib import Path

ENV = {**os.environ, "PYTHONPATH": str(warm.REPOSITORY)}


@pytest.mark.parametrize(
    "words",
    [
        ("onbox", "--version"),
        ("onbox", "chain", "--inline", "train=echo $HOME; pwd; exit 3"),
        ("patrol", "tikc"),
        ("handbook", "build"),
        ("sentinels", "wait", "DONE", "--timeout", "5s"),
    ],
    ids=" ".join,
)
def test_it_says_and_ends_the_same(tmp_path: Path, words: tuple[str, ...]) -> None:
    said = []
    for run in (warm.run, run_cold):
        folder = tmp_path / "box"
        folder.mkdir()
        env = {**ENV, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
        done = run([sys.executable, "-m", *words], env=env, cwd=folder, timeout=60)
        logs = [path.read_text() for path in folder.glob(".onbox/*/logs/train.log")]
        said.append((done.returncode, without_numbers(done.stdout), without_numbers(done.stderr), logs))
        shutil.rmtree(folder)
    assert said[0] == said[1]


def run_cold(words: list[str], **settings: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, check=False, capture_output=True, text=True, **settings)


def without_numbers(text: str) -> str:
    """Two processes have their own times and pids."""
    return "".join(letter for letter in text if not letter.isdigit())


def test_what_takes_too_long_is_killed(tmp_path: Path) -> None:
    env = {**ENV, "XDG_STATE_HOME": str(tmp_path)}
    with pytest.raises(subprocess.TimeoutExpired):
        warm.run(
            [sys.executable, "-m", "sentinels", "wait", "DONE", "--timeout", "1h"], env=env, cwd=tmp_path, timeout=1
        )


@pytest.mark.parametrize("asked", [{"LC_ALL": "C"}, {"PYTHONSAFEPATH": "1"}, {"PYTHONPATH": "/elsewhere"}])
def test_what_the_interpreter_itself_reads_asks_for_one(asked: dict[str, str]) -> None:
    words = [sys.executable, "-m", "onbox", "status"]
    assert warm.can_run(words, ENV)
    assert not warm.can_run(words, {**ENV, **asked})
