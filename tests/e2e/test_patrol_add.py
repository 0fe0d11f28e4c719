"""`patrol add`: what it finds on a box that nobody has described yet, and what it writes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.alone import alone
from tests.box import wait_until
from tests.patrolled import Patrolled, patrolled, running, start_chain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Patrolled]:
    """Its boxes hold no project that the test has not made."""
    with patrolled(tmp_path, inside=alone(tmp_path)) as made:
        yield made


def test_add_finds_the_project_and_looks(place: Patrolled) -> None:
    box = place.add_box("unused")
    project = place.sshd.home / "work" / "digits"
    project.parent.mkdir(parents=True)
    box.project = box.project.rename(project)
    running(box)
    text = "# mine\n[run]\nname = 'x' # keep\n"
    (place.local / "onbox.toml").write_text(text)
    done = place.patrol("add", "gpu7")
    assert "gpu7/digits" in done.stdout, done.stderr
    written = (place.local / "onbox.toml").read_text()
    assert written.startswith(text)
    assert f'project = "{project}"' in written
    again = place.patrol("add", "gpu7")
    assert again.returncode == 64
    assert "already" in again.stderr
    assert (place.local / "onbox.toml").read_text() == written


def test_add_tells_of_the_other_projects_as_commands_that_can_be_typed(place: Patrolled) -> None:
    box = place.add_box("unused")
    for name in ("one", "it's $(x) two", "three"):
        project = place.sshd.home / name
        project.mkdir()
        box.project = project
        start_chain(box, "train=echo ok")
    (place.local / "onbox.toml").unlink()
    said = place.patrol("add", "gpu1").stderr
    commands = re.findall(r"too: (patrol add .*)", said)
    assert len(commands) == 2, said
    for command in commands:
        added = place.patrol(*shlex.split(command)[1:])
        assert added.returncode in (0, 1), added.stderr  # 1: the disk of this very machine is nearly full
        again = place.patrol(*shlex.split(command)[1:], "--name", "another")
        assert (again.returncode, "already" in again.stderr) == (64, True), "one place under two names says all twice"
    assert len(place.tick()) == 3


def test_add_local_finds_the_runs_of_this_very_folder(place: Patrolled) -> None:
    box = place.add_box("unused")
    start_chain(box, "train=echo ok")
    done = place.patrol("add", "here", "--local", cwd=box.project)
    assert "here/digits" in done.stdout, done.stderr


def test_add_without_any_file_makes_one(place: Patrolled) -> None:
    box = running(place.add_box("unused"))
    (place.local / "onbox.toml").unlink()
    done = place.patrol("add", "gpu1", "--project", os.fspath(box.project))
    assert "gpu1/digits RUNNING" in done.stdout, done.stderr
    assert "gpu1/digits" in place.patrol("status").stdout


def test_add_finds_a_training_that_onbox_did_not_start(place: Patrolled) -> None:
    """By where it works and where its stdout goes; the first line follows within seconds."""
    place.add_box("unused")
    folder = place.sshd.home / "it's llm"
    folder.mkdir()
    script = f"pretrain_{os.getpid()}.py"
    (folder / script).write_text("import sys\nprint('step 7/100 loss 0.5', flush=True)\nsys.stdin.read()\n")
    (place.local / "onbox.toml").unlink()
    with (folder / "out.log").open("wb") as log:
        job = subprocess.Popen([sys.executable, script], cwd=folder, stdin=subprocess.PIPE, stdout=log)
    try:
        wait_until(lambda: (folder / "out.log").stat().st_size > 0, "its first line")
        asked = place.patrol("add", "gpu1")
        assert (asked.returncode, (place.local / "onbox.toml").exists()) == (64, False), "a guess is never written"
        command = asked.stderr.rpartition("to watch it: ")[2].strip()
        done = place.patrol(*shlex.split(command)[1:], "--done-regex", "^saved", "--resume-command", "sh go.sh")
        assert done.returncode in (0, 1), (command, done.stdout, done.stderr)  # 1: as above
        written = (place.local / "onbox.toml").read_text()
        assert f'project = "{folder}"' in written
        assert 'log = "out.log"' in written
        assert 'done_regex = "^saved"' in written
        assert 'resume = "sh go.sh"' in written
        assert "gpu1/it-s-llm RUNNING ~7/100" in done.stdout, done.stderr
    finally:
        job.communicate(b"", timeout=60)


def test_add_of_an_unreachable_box_writes_nothing(place: Patrolled) -> None:
    (place.local / "onbox.toml").write_text("# mine\n")
    place.sshd.stop()
    done = place.patrol("add", "gpu1")
    place.sshd.start()
    assert done.returncode == 64
    assert "Nothing was written" in done.stderr
    assert (place.local / "onbox.toml").read_text() == "# mine\n"
