"""Which code runs: asked of a real git, and what it cannot tell is said in words."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from onbox.chain.command.code_identity import look_at_git

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


def hostile(project: Path, place: str, ran: Path) -> None:
    """A repository whose own configuration, in `place`, names a program wherever git lets it."""
    (project / "train.py").write_text("1")
    (project / ".gitattributes").write_text("*.py filter=a=b diff=shown\n")
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "x")
    (project / "train.py").write_text("22")
    program = project / "program.sh"
    program.write_text(f"#!/bin/sh\necho $0 >>{ran}\ncat\n")
    program.chmod(0o755)
    hooks = project / "hooks"
    hooks.mkdir()
    (hooks / "post-index-change").symlink_to(program)
    for key in ("core.fsmonitor", "diff.external", "diff.shown.textconv", "filter.a=b.clean"):
        git(project, "config", "--file", place, key, os.fspath(program))
    git(project, "config", "--file", place, "filter.a=b.required", "true")
    git(project, "config", "--file", place, "core.hooksPath", os.fspath(hooks))


def test_a_look_runs_no_program_that_the_repository_names(tmp_path: Path) -> None:
    project, ran = tmp_path / "project", tmp_path / "ran"
    project.mkdir()
    hostile(project, os.fspath(project / ".git" / "config"), ran)
    (project / "onbox.toml").write_text('[run]\nname = "digits"\n[stages.train]\ncmd = "python train.py"\n')
    found = look_at_git(os.fspath(project), looks=True)
    assert found.get("dirty") is True, found
    assert len(found["patch_sha256"]) == 64
    done = subprocess.run(
        [sys.executable, "-m", "handbook", "contract"], cwd=project, capture_output=True, text=True, check=False
    )
    assert "train.py" in done.stdout, done.stdout + done.stderr
    assert not ran.exists(), ran.read_text()


def test_a_bare_repository_that_a_clone_brings_is_not_asked(tmp_path: Path) -> None:
    project, ran = tmp_path / "project", tmp_path / "ran"
    project.mkdir()
    git(project, "init", "-q")
    inner = project / "inner"
    subprocess.run(["git", "init", "-q", "--bare", inner], check=True)
    for key, value in (("core.bare", "false"), ("core.worktree", f"{inner}"), ("core.fsmonitor", f"echo >>{ran}")):
        git(project, "config", "--file", os.fspath(inner / "config"), key, value)
    for looks in (True, False):
        assert "git refused" in look_at_git(os.fspath(inner), looks=looks)["unknown"]
    assert not ran.exists()
