"""Next commands, run by real shells."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from onbox.model.boxes import BoxSettings
from patrol.decide.remote_command import Untypeable, Way, here, way_to

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOSTILE = ["plain", "with space", "it's", 'dou"ble', "new\nline", "$(touch hacked)", "-dash", "*;|&", "`id`", "名前"]


@pytest.fixture
def ssh(tmp_path: Path) -> str:
    """Does what sshd does with the words after the host: joins them, and gives them to a shell."""
    program = tmp_path / "my ssh"
    program.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift 2; done\nshift\nexec sh -c "$*"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


@pytest.mark.parametrize("name", [name for name in HOSTILE if name.isprintable()])
def test_a_hostile_project_is_entered_and_nothing_else_happens(tmp_path: Path, ssh: str, name: str) -> None:
    project = tmp_path / name
    project.mkdir()
    (project / "here").write_text("yes")
    way = Way("gpu1", "gpu1", str(project), (ssh, "-F", "a config"))
    command = way.there(("cat", "here"), ("printf", "%s", name))
    result = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert result.stdout == "yes" + name
    assert not list(tmp_path.rglob("hacked"))


HIDDEN = ["\n", "\x1b", "\t", "\r", "\0", "\x9b", "\u202e", "\u200b", "\u2028", "\udcff", "\U000e0041"]


@pytest.mark.parametrize("letter", HIDDEN)
def test_what_is_not_shown_as_it_is_is_not_typed(letter: str) -> None:
    word = f"/a{letter}b"
    makes: tuple[Callable[[], str], ...] = (
        lambda: Way("gpu1", "gpu1", word).there(("pwd",)),
        lambda: Way("gpu1", "gpu1", "/a", (word,)).there(("pwd",)),
        lambda: Way("gpu1", None, "/a").there(("tail", word)),
        lambda: Way("gpu1", "gpu1", "/a").copy(word, "data"),
        lambda: here("patrol", "ack", word),
    )
    for make in makes:
        with pytest.raises(Untypeable) as error:
            make()
        assert letter not in str(error.value)


def test_a_relative_project_that_looks_like_an_option_is_a_directory(tmp_path: Path, ssh: str) -> None:
    (tmp_path / "-P").mkdir()
    command = Way("gpu1", "gpu1", "-P", (ssh,)).there(("pwd",))
    result = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert result.stdout.strip() == str(tmp_path / "-P")


def test_a_project_of_the_home_directory_is_entered(tmp_path: Path, ssh: str) -> None:
    project = tmp_path / "my $project"
    project.mkdir()
    (project / "log").write_text("yes")
    way = Way("gpu1", "gpu1", "~/my $project", (ssh,))
    command = way.there(("cat", "--", "log", "~/my $project/log"))
    env = {**os.environ, "HOME": str(tmp_path)}
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=env, timeout=60, check=False)
    assert result.stdout == "yesyes", command
    assert way.copy("data", "data").endswith("'gpu1:my $project/data/'")
    assert way.copy("data", "~").endswith(" gpu1:./")


def test_the_command_of_the_plain_case_reads_well() -> None:
    way = way_to(BoxSettings("gpu1", "gpu1", "/root/digits"))
    assert way.there(("onbox", "resume", "-d", "digits")) == "ssh gpu1 'cd /root/digits && onbox resume -d digits'"


def test_this_machine_needs_no_ssh() -> None:
    way = way_to(BoxSettings("here", "here", "/root/digits", backend="local"))
    assert way.there(("onbox", "status")) == "cd /root/digits && onbox status"


@pytest.mark.skipif(shutil.which("rsync") is None, reason="needs rsync")
@pytest.mark.parametrize("name", ["data", "with space", "-dash", "co:lon"])
def test_what_is_missing_is_copied(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "one").write_text("1")
    box = tmp_path / "box"
    box.mkdir()
    command = Way("here", None, str(box)).copy(name, "data/train in")
    os.makedirs(box / "data")
    subprocess.run(["sh", "-c", command], cwd=tmp_path, timeout=60, check=True)
    assert (box / "data" / "train in" / "one").read_text() == "1"


def test_a_copy_uses_the_configured_ssh() -> None:
    command = Way("gpu1", "gpu1", "/root/digits", ("ssh", "-F", "my config")).copy("data/train", "data/train")
    assert (
        command == "rsync -as --partial -e 'ssh -F '\"'\"'my config'\"'\"'' ./data/train/ gpu1:/root/digits/data/train/"
    )
