"""A logbook in git: that file alone, pushed only where nothing else goes along; whatever is in the way is said."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from handbook.log.entry import make_entry
from handbook.log.git_sync import KeptInGit, is_rewritten, keep_in_git, tag_in_git
from handbook.log.logbook import LogbookFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

AT = 1_795_237_380.0
WHO = {
    "GIT_AUTHOR_NAME": "ann", "GIT_AUTHOR_EMAIL": "ann@example.com",
    "GIT_COMMITTER_NAME": "ann", "GIT_COMMITTER_EMAIL": "ann@example.com",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
}  # fmt: skip


class Project:
    """A repository with a remote beside it, and a logbook in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.remote = folder / "project", folder / "remote.git"
        self.env = {**os.environ, **WHO}
        self.folder.mkdir()
        self.git("init", "-q", "--bare", "-b", "main", str(self.remote))
        self.git("init", "-q", "-b", "main")
        (self.folder / "train.py").write_text("print(1)\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "one")
        self.git("remote", "add", "origin", str(self.remote))
        self.git("push", "-q", "-u", "origin", "main")
        self.book = LogbookFile(str(self.folder), "digits", str(folder / "state"))

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=self.env, check=True, capture_output=True, text=True
        )
        return done.stdout

    def log(self, text: str, kind: str = "observation", attempt: int = 0) -> None:
        entry = make_entry(kind, text, at=AT, run="gpu1/digits", actor="ann", attempt=attempt)
        self.book.append([entry], [("DRI", "ann")])

    def keep(self, *, push: bool = False) -> KeptInGit:
        return keep_in_git(self.book.path, "digits", self.env, push=push)

    def subjects(self, where: str = "HEAD") -> list[str]:
        return self.git("log", "--format=%s", where).splitlines()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_each_commit_says_what_is_new(project: Project) -> None:
    for kind, attempt in (("observation", 0), ("launch", 1), ("launch", 2), ("decision", 0)):
        project.log("x", kind, attempt)
        assert project.keep().commit
    assert project.keep() == KeptInGit("", "")
    assert project.subjects() == [
        "digits: log decision", "digits: log relaunch", "digits: log launch", "digits: start logbook", "one",
    ]  # fmt: skip


def test_what_is_staged_stays_staged_and_out_of_the_commit(project: Project) -> None:
    (project.folder / "train.py").write_text("print(2)\n")
    (project.folder / "new.py").write_text("x\n")
    project.git("add", "train.py", "new.py")
    (project.folder / "train.py").write_text("print(3)\n")
    before = project.git("status", "--porcelain", "--untracked-files=no")
    project.log("x")
    assert project.keep().commit
    assert project.git("show", "--name-only", "--format=", "HEAD").split() == ["logbook/digits.md"]
    assert project.git("status", "--porcelain", "--untracked-files=no") == before
    project.log("y")
    assert project.keep().commit
    assert project.git("status", "--porcelain", "--untracked-files=no") == before


def test_it_is_pushed_only_when_asked_for(project: Project) -> None:
    project.log("x")
    assert project.keep().pushed == ""
    assert project.subjects("origin/main") == ["one"]
    assert project.keep(push=True).pushed == "origin main", "also what was committed before"
    assert project.git("ls-remote", "origin", "main").split()[0] == project.git("rev-parse", "HEAD").strip()
    assert project.keep(push=True) == KeptInGit("", "")


def test_nobody_elses_commits_go_along(project: Project) -> None:
    (project.folder / "train.py").write_text("print(2)\n")
    project.git("commit", "-q", "-am", "mine, not yet to be seen")
    project.log("x")
    kept = project.keep(push=True)
    assert kept.commit
    assert "train.py would go along" in kept.trouble
    assert project.subjects("origin/main") == ["one"]


def no_upstream(project: Project) -> None:
    project.git("switch", "-q", "-c", "side")


def no_remote(project: Project) -> None:
    project.git("remote", "remove", "origin")


def offline(project: Project) -> None:
    project.git("remote", "set-url", "origin", "http://user:hunter2secret@127.0.0.1:9/x.git")


def others_were_faster(project: Project) -> None:
    other = project.folder.parent / "other"
    project.git("clone", "-q", str(project.remote), str(other))
    project.git("-C", str(other), "commit", "-q", "--allow-empty", "-m", "two")
    project.git("-C", str(other), "push", "-q")


@pytest.mark.parametrize("trouble", [no_upstream, no_remote, offline, others_were_faster])
def test_a_push_that_cannot_be_leaves_the_commit(project: Project, trouble: Callable[[Project], None]) -> None:
    project.log("x")
    trouble(project)
    kept = project.keep(push=True)
    assert (bool(kept.commit), kept.pushed, bool(kept.trouble)) == (True, "", True)
    assert "hunter2secret" not in kept.trouble
    assert project.subjects() == ["digits: start logbook", "one"]


def in_a_merge(project: Project) -> None:
    (project.folder / ".git" / "MERGE_HEAD").write_text(project.git("rev-parse", "HEAD"))


def on_no_branch(project: Project) -> None:
    project.git("checkout", "-q", "--detach")


def ignored(project: Project) -> None:
    (project.folder / ".gitignore").write_text("logbook\n")


def a_hook_refuses(project: Project) -> None:
    hook = project.folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no commits on a Friday >&2\nexit 1\n")
    hook.chmod(0o755)


def locked(project: Project) -> None:
    (project.folder / ".git" / "index.lock").touch()


@pytest.mark.parametrize("trouble", [in_a_merge, on_no_branch, ignored, a_hook_refuses, locked])
def test_what_is_in_the_way_is_said_and_nothing_is_changed(
    project: Project, trouble: Callable[[Project], None]
) -> None:
    project.log("x")
    trouble(project)
    status, head = project.git("status", "--porcelain"), project.git("rev-parse", "HEAD")
    kept = project.keep(push=True)
    assert (kept.commit, kept.pushed) == ("", "")
    assert kept.trouble
    assert (project.git("status", "--porcelain"), project.git("rev-parse", "HEAD")) == (status, head)
    assert len(project.book.read().entries) == 1


def test_without_a_repository_or_git_it_is_said(tmp_path: Path) -> None:
    book = LogbookFile(str(tmp_path), "digits", str(tmp_path / "state"))
    book.append([make_entry("observation", "x", at=AT, run="gpu1/digits", actor="ann")])
    env = {**os.environ, **WHO, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    assert "not a git repository" in keep_in_git(book.path, "digits", env, push=True).trouble
    assert not is_rewritten(book.path, env)


def test_a_hook_of_another_repository_does_not_mislead_it(project: Project, tmp_path: Path) -> None:
    project.log("x")
    other = tmp_path / "other"
    project.git("init", "-q", str(other))
    project.env |= {"GIT_DIR": str(other / ".git"), "GIT_INDEX_FILE": str(other / "index")}
    assert project.keep().commit
    for name in ("GIT_DIR", "GIT_INDEX_FILE"):
        del project.env[name]
    assert project.subjects()[0] == "digits: start logbook"


def test_a_logbook_that_was_made_anew_with_fitting_hashes_is_found(project: Project) -> None:
    project.log("what was so")
    project.keep()
    project.log("and further")
    assert not is_rewritten(project.book.path, project.env)
    os.remove(project.book.path)
    project.log("what was otherwise")
    assert is_rewritten(project.book.path, project.env)


def test_a_logbook_that_git_ignores_is_told_as_such(project: Project) -> None:
    project.log("x")
    ignored(project)
    assert "git ignores digits.md" in project.keep().trouble


# -- the tag of a seal


def tag(project: Project, folder: Path | None = None, *, push: bool = False) -> tuple[str, str]:
    commit = project.git("rev-parse", "HEAD").strip()[:12]
    return tag_in_git(str(folder or project.folder), "seal/digits", commit, project.env, push=push)


def test_a_tag_is_made_where_the_project_is_the_top_of_its_repository(project: Project) -> None:
    assert tag(project) == ("seal/digits", "")
    assert project.git("rev-parse", "seal/digits^{commit}") == project.git("rev-parse", "HEAD")
    assert tag(project, push=True) == ("seal/digits", ""), "a second time it stands, and is pushed"
    assert project.git("ls-remote", "--tags", "origin").split()[1] == "refs/tags/seal/digits"


def test_a_tag_is_made_where_the_project_is_a_folder_of_its_repository(project: Project) -> None:
    folder = project.folder / "runs" / "digits"
    folder.mkdir(parents=True)
    (folder / "onbox.toml").write_text("")
    project.git("add", ".")
    project.git("commit", "-q", "-m", "two")
    assert tag(project, folder) == ("seal/digits", "")
    assert project.git("tag").split() == ["seal/digits"]


def test_a_repository_above_that_holds_nothing_of_the_project_is_left_alone(project: Project) -> None:
    folder = project.folder / "elsewhere"
    book = LogbookFile(str(folder), "digits", str(project.folder.parent / "state"))
    book.append([make_entry("observation", "x", at=AT, run="gpu1/digits", actor="ann")])
    made, trouble = tag(project, folder)
    assert (made, project.git("tag")) == ("", "")
    assert f"holds nothing of {folder}" in trouble
    kept = keep_in_git(book.path, "digits", project.env, push=True)
    assert "holds nothing of" in kept.trouble
    assert (kept.commit, project.subjects()) == ("", ["one"])


def test_a_tag_that_is_there_at_another_commit_is_not_moved(project: Project) -> None:
    tag(project)
    project.git("commit", "-q", "--allow-empty", "-m", "two")
    made, trouble = tag(project)
    assert made == ""
    assert "is there already" in trouble
    assert project.git("rev-parse", "seal/digits^{commit}") == project.git("rev-parse", "HEAD~")
