"""What a box holds is found by one read-only look, also where paths are odd."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from onbox.contract.names import run_name_from
from onbox.model.boxes import BoxSettings
from onbox.project import parse_toml
from patrol.commands.add import nothing_found
from patrol.discover import END_MARK, Discovered, Training, discover_stdin, parse_found, state_dir_of
from patrol.ssh.client import Answer, NoAnswer, find_mark
from tests.alone import alone
from tests.box import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def look(home: Path, project: str = "", *, shell: Sequence[str] = ("sh",), path: str = "") -> Discovered:
    env = {"HOME": os.fspath(home), "PATH": path + os.environ["PATH"]}
    words = [*alone(home), *shell, "-s"]
    done = subprocess.run(words, input=discover_stdin(project), capture_output=True, env=env, check=True)
    at = find_mark(done.stdout, END_MARK)
    assert at is not None
    found = parse_found(Answer(done.stdout[:at], 0, 0.1, 0.1))
    assert isinstance(found, Discovered)
    return found


def make_run(project: Path, state_dir: str = ".onbox", run: str = "digits") -> Path:
    folder = project / state_dir / run
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"schema": 1, "project": os.fspath(project)}, ensure_ascii=False))
    (folder / "events.jsonl").touch()
    return folder


def test_projects_are_found_once_each(tmp_path: Path) -> None:
    one, other = tmp_path / "it's $(x) ü", tmp_path / "deep" / "er" / "llm"
    make_run(one)
    make_run(one, run="second")
    make_run(other, "runs of mine")
    (tmp_path / "no" / "run").mkdir(parents=True)
    (tmp_path / "no" / "run" / "run.json").write_text("{}")
    mine = {project: state for project, state in look(tmp_path).projects if project.startswith(os.fspath(tmp_path))}
    assert mine == {os.fspath(one): f"{one}/.onbox", os.fspath(other): f"{other}/runs of mine"}


def test_what_moved_last_comes_first_and_a_project_that_is_gone_is_none(tmp_path: Path) -> None:
    old, new, gone = tmp_path / "old", tmp_path / "new", tmp_path / "examples" / "copied"
    for project, age in ((old, 9000.0), (new, 60.0), (gone, 0.0)):
        journal = make_run(project) / "events.jsonl"
        os.utime(journal, (journal.stat().st_mtime - age,) * 2)
    (gone / ".onbox").rename(gone.parent / "case")
    gone.rmdir()
    mine = [project for project, _ in look(tmp_path).projects if project.startswith(os.fspath(tmp_path))]
    assert mine == [os.fspath(new), os.fspath(old)]


def test_many_runs_and_cells_of_an_old_project_hide_no_newer_one(tmp_path: Path) -> None:
    old = tmp_path / "a" / "old"
    made = [make_run(old, run=name) for name in ("sweep", *(f"r{number:03}" for number in range(120)))]
    made += [make_run(old, ".onbox/sweep/cells", run=f"{number:06}") for number in range(450)]
    for run in made:
        os.utime(run / "events.jsonl", (1e9, 1e9))
    newer = [tmp_path / str(number) / "llm" for number in range(10)]
    for project in newer:
        make_run(project)
    assert {project for project, _ in look(tmp_path).projects} == {os.fspath(one) for one in (old, *newer)}


@pytest.mark.parametrize("shell", [("sh",), ("busybox", "sh")])
def test_many_newer_runs_of_one_project_hide_no_other(tmp_path: Path, shell: tuple[str, ...]) -> None:
    if not shutil.which(shell[0]):
        pytest.skip("no busybox")
    older, crowded = tmp_path / "a" / "older", tmp_path / "b" / "crowded"
    os.utime(make_run(older) / "events.jsonl", (1e9, 1e9))
    for number in range(450):
        make_run(crowded, run=f"r{number:03}")
    applets = tmp_path / "applets"
    if shell[0] == "busybox":
        applets.mkdir()
        for name in ("awk", "find", "head", "sed", "sort", "stat", "tr", "xargs"):
            (applets / name).symlink_to(str(shutil.which("busybox")))
    found = look(tmp_path, shell=shell, path=f"{applets}:")
    assert [project for project, _ in found.projects] == [os.fspath(crowded), os.fspath(older)]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_many_newer_runs_of_others_hide_none_of_ones_own(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    os.utime(make_run(mine) / "events.jsonl", (1e9, 1e9))
    for number in range(120):
        theirs = make_run(tmp_path / "theirs" / f"{number:03}")
        os.chown(theirs / "run.json", 12345, 12345)
    fakes = tmp_path / "fakes"
    fakes.mkdir()
    (fakes / "id").write_text("#!/bin/sh\necho 1\n")  # to root all files would be its own
    (fakes / "id").chmod(0o755)
    projects = [project for project, _ in look(tmp_path, path=f"{fakes}:").projects]
    assert projects[0] == os.fspath(mine)
    assert len(projects) > 1, "those of others come after it"


def test_ones_own_projects_come_before_newer_ones_of_others() -> None:
    runs = b"F 900\t/data/theirs\t/data/theirs/.onbox/r\nR 100\t/data/mine\t/data/mine/.onbox/r\n"
    found = parse_found(Answer(b"H /home/me\n" + runs, 0, 0.1, 0.1))
    assert isinstance(found, Discovered)
    assert [project for project, _ in found.projects] == ["/data/mine", "/data/theirs"]
    training = b"P 7 1\t/home/me/llm\t/home/me/llm/out.log\tpython train.py\n"
    by_hand = parse_found(Answer(b"H /home/me\n" + runs.splitlines(keepends=True)[0] + training, 0, 0.1, 0.1))
    assert isinstance(by_hand, Discovered)
    assert (by_hand.projects, [one.folder for one in by_hand.trainings]) == ((), ["/home/me/llm"])


def test_the_workers_of_one_training_hide_no_other(tmp_path: Path) -> None:
    loaders = "import os, sys, time\nfor _ in range(120):\n    os.fork() or (sys.stdin.read(), os._exit(0))\n"
    folder = tmp_path / "wide"
    folder.mkdir()
    (folder / "train.py").write_text(loaders + "print('begun', flush=True)\nsys.stdin.read()\n")
    with (folder / "run.log").open("wb") as log:
        wide = subprocess.Popen([sys.executable, "train.py"], cwd=folder, stdin=subprocess.PIPE, stdout=log)
    try:
        wait_until(lambda: (folder / "run.log").read_text() == "begun\n", "all of them to run")
        with job(tmp_path / "other"):
            found = look(tmp_path)
            assert [len(_in(tmp_path / name, found)) for name in ("wide", "other")] == [1, 1]
    finally:
        assert wide.stdin
        wide.stdin.close()
        wide.wait()


def test_a_training_whose_parent_may_not_be_looked_at_is_found(tmp_path: Path) -> None:
    """As one that another account's `torchrun` began for this one."""
    folder = tmp_path / "llm"
    folder.mkdir()
    begin = "import subprocess, sys\nsubprocess.run([sys.executable, 'train.py'])\n"
    (folder / "launch.py").write_text(begin)
    (folder / "train.py").write_text("import sys\nprint('begun', flush=True)\nsys.stdin.read()\n")
    fakes = tmp_path / "fakes"
    fakes.mkdir()
    with (folder / "run.log").open("wb") as log:
        words = [sys.executable, "launch.py"]
        parent = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE, stdout=log)
    try:
        wait_until(lambda: (folder / "run.log").read_text() == "begun\n", "it to begin")
        refuse = f'#!/bin/sh\n[ "$1" != /proc/{parent.pid}/cwd ] && exec {shutil.which("readlink")} "$@"\nexit 1\n'
        (fakes / "readlink").write_text(refuse)
        (fakes / "readlink").chmod(0o755)
        found = _in(folder, look(tmp_path, path=f"{fakes}:"))
    finally:
        assert parent.stdin
        parent.stdin.close()
        parent.wait()
    assert [(one.name, one.log) for one in found] == [("train", "run.log")]


def test_the_state_dir_is_written_only_where_it_is_another() -> None:
    assert state_dir_of("/p", "/p/.onbox", ".onbox") is None
    assert state_dir_of("/p", "/p/runs", ".onbox") == "runs"
    assert state_dir_of("/p", "/data/runs", ".onbox") == "/data/runs"


def test_no_answer_is_not_an_empty_box() -> None:
    silence = NoAnswer("cut", "x", b"R /p\t/p/.onbox/r\n", 1.0)
    assert parse_found(silence) == silence


def test_a_training_that_onbox_did_not_start_is_found_where_it_works(tmp_path: Path) -> None:
    """With the file that its stdout goes to; a worker of it is not a training of its own."""
    folder = tmp_path / "it's llm"
    folder.mkdir()
    script = f"train_{tmp_path.name[-6:].strip('_')}.py"
    fork = "import os, sys\nos.fork()\nsys.stdin.read()\n"
    (folder / script).write_text(fork)
    with (folder / "run.log").open("wb") as log:
        job = subprocess.Popen([sys.executable, script, "--lr", "0.1"], cwd=folder, stdin=subprocess.PIPE, stdout=log)
        try:
            wait_until(lambda: bool(_in(folder, look(tmp_path))), "it to be seen")
            mine = _in(folder, look(tmp_path))
        finally:
            assert job.stdin
            job.stdin.close()
            job.wait()
    assert [(one.log, one.pattern, one.name) for one in mine] == [
        ("run.log", script.replace(".", "\\."), run_name_from(script.removesuffix(".py")))
    ]


@contextmanager
def job(folder: Path, *, python: str = sys.executable, script: str = "train.py", **env: str) -> Iterator[None]:
    """A bare training that works in the folder until the end of the block."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / script).write_text("import sys\nprint('begun', flush=True)\nsys.stdin.read()\n")
    with (folder / "run.log").open("wb") as log:
        words, whole = [python, script], {**os.environ, **env}
        begun = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE, stdout=log, env=whole)
    try:
        wait_until(lambda: (folder / "run.log").read_text() == "begun\n", "it to begin")
        yield
    finally:
        assert begun.stdin
        begun.stdin.close()
        begun.wait()


def test_a_training_by_the_python_that_onbox_lies_beside_is_found(tmp_path: Path) -> None:
    """`~/onbox/bin/python train.py` is somebody's training, whatever its environment is called."""
    python = tmp_path / "onbox" / "bin" / "python3"
    python.parent.mkdir(parents=True)
    python.symlink_to(os.path.realpath(sys.executable))
    with job(tmp_path / "onbox-experiments", python=os.fspath(python)):
        assert [one.log for one in _in(tmp_path / "onbox-experiments", look(tmp_path))] == ["run.log"]


def test_what_a_run_started_is_that_run_wherever_its_project_lies(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "else where" / "digits"
    home.mkdir()
    run = make_run(project)
    with job(project, ONBOX_RUN_DIR=os.fspath(run)):
        found = look(home)
    assert (os.fspath(project), f"{project}/.onbox") in found.projects
    assert _in(project, found) == [], "its stage is not a training beside it"


def test_in_a_named_project_without_runs_what_works_there_is_found(tmp_path: Path) -> None:
    project, link = tmp_path / "llm", tmp_path / "link"
    with job(project), job(tmp_path / "other"), job(project / "sub", script="sweep.py"):
        link.symlink_to(project)
        found = {one.name: one.log for one in look(tmp_path, os.fspath(link)).trainings_in_place()}
        assert found == {"train": "run.log", "sweep": f"{project}/sub/run.log"}
        make_run(project)
        assert look(tmp_path, os.fspath(project)).trainings_in_place() == (), "its runs are looked at"
    assert look(tmp_path, f"{tmp_path}/nowhere").trainings_in_place() == ()


def _in(folder: Path, found: Discovered) -> list[Training]:
    return [one for one in found.trainings if one.folder == os.fspath(folder)]


HOSTILE_SESSION = 'x" }[ssh] command="touch PWNED" #'


def test_advice_for_onbox_toml_is_toml_whatever_a_session_is_called() -> None:
    names = (HOSTILE_SESSION, "a\u202eb", "a\x1b[2Jb")
    lines = "".join(f"S {name}\n" for name in names)
    found = parse_found(Answer(lines.encode(), 0, 0.1, 0.1))
    assert isinstance(found, Discovered)
    assert found.sessions == (HOSTILE_SESSION,)
    box = BoxSettings("gpu1", 'h"x', None, "local")
    advice = "\n".join(nothing_found(box, found).splitlines()[2:])
    read = parse_toml(advice.encode(), "advice")
    watch = {"log": "/path/to/train.log", "session": HOSTILE_SESSION}
    assert read == {"boxes": {"gpu1": {"host": 'h"x', "backend": "local", "watch": watch}}}
