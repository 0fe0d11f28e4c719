"""Which code runs: asked of a real git, and what it cannot tell is said in words."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from onbox.chain.identity import look_at_git

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NAMED = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, env={**os.environ, **NAMED})


def test_a_folder_without_git_or_without_a_commit_has_none(tmp_path: Path) -> None:
    assert look_at_git(os.fspath(tmp_path)) == {"absent": "not a git work tree"}
    git(tmp_path, "init", "-q")
    assert look_at_git(os.fspath(tmp_path)) == {"absent": "its git work tree holds no commit yet"}


def test_a_commit_and_what_differs_from_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "train.py").write_text("1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "x")
    assert look_at_git(os.fspath(tmp_path))["dirty"] is False
    (tmp_path / "train.py").write_text("2")
    assert look_at_git(os.fspath(tmp_path))["dirty"] is True


def test_git_that_refuses_is_quoted(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    assert look_at_git(os.fspath(tmp_path)) == {"unknown": "git refused: fatal: not a git repository: /nowhere"}


def test_git_that_is_not_there_is_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert look_at_git(os.fspath(tmp_path)) == {"unknown": "git is not installed here"}
