"""Modules that lie in the working directory, in the project, say, are imported by no command and by no child of one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from handbook.box.records import ask_stdin
from patrol.act.resume import resume_stdin
from tests.box import REPOSITORY, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.box import Box

PACKAGES = ("onbox", "patrol", "sentinels", "handbook")
MODULES = ("json", "re", "requests", "sitecustomize", "usercustomize", "shlex", "onbox_")
COMMANDS = {"onbox": "onbox", "patrol": "patrol", "sentinel": "sentinels", "handbook": "handbook"}


def lay_bait(folder: Path, proof: Path) -> None:
    bait = f"open({os.fspath(proof)!r}, 'a').write(__name__ + ' ')\n"
    for module in MODULES:
        (folder / f"{module}.py").write_text(bait)
    for package in PACKAGES:
        (folder / package).mkdir()
        for name in ("__init__", "__main__", "cli"):
            (folder / package / f"{name}.py").write_text(bait)


@pytest.fixture
def command(tmp_path: Path, box: Box) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command as its installed script does, without PYTHONPATH, in the project."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    for name, package in COMMANDS.items():
        boot = f"import sys; sys.path.insert(0, {os.fspath(REPOSITORY)!r})\nfrom {package}.cli import entry\nentry()\n"
        (scripts / name).write_text(f"#!{sys.executable}\n{boot}")
        (scripts / name).chmod(0o755)
    env = {**box.env, "XDG_STATE_HOME": os.fspath(tmp_path / "state"), "PATH": f"{scripts}:{os.environ['PATH']}"}
    env.pop("PYTHONPATH")

    def run(words: str, folder: Path) -> subprocess.CompletedProcess[str]:
        name, *rest = words.split()
        return subprocess.run(
            [str(scripts / name), *rest],
            cwd=folder,
            env=env,
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )

    return run


def test_no_command_imports_from_the_working_directory(
    box: Box, tmp_path: Path, command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    proof, local = tmp_path / "proof", tmp_path / "local"
    local.mkdir()
    for folder in (box.project, local):
        lay_bait(folder, proof)
    (box.project / "onbox.toml").write_text(
        '[run]\nname = "digits"\n[stages.train]\ncmd = "false"\n[notify]\nurls = ["env:ONBOX_TEST_URL"]\n'
    )
    (local / "onbox.toml").write_text(f'[boxes.here]\nhost = "here"\nbackend = "local"\nproject = "{box.project}"\n')
    command("onbox chain -d", box.project)
    wait_until(lambda: box.events("chain_failed"), "the chain's end")
    on_the_box = ("resume", "status", "triage", "check", "stats", "boot run", "notify flush --limit 1")
    for words in (*(f"onbox {one}" for one in on_the_box), "handbook build --here"):
        told = command(words, box.project)
        assert "Error" not in told.stderr, told.stderr
    assert command("patrol tick", local).returncode == 2, "the run failed"
    for words in ("handbook build --look", "handbook resume", "handbook verify", "patrol check"):
        told = command(words, local)
        assert "Error" not in told.stderr, told.stderr
    page = local / "handbook.json"
    page.unlink()
    command("patrol tick", local)
    wait_until(page.exists, "the page to be renewed after the tick")
    assert command("sentinel wait --timeout 60 here:digits", local).returncode == 1
    assert not proof.exists(), proof.read_text()


@pytest.mark.parametrize("what", ["look", "resume"])
@pytest.mark.parametrize("with_script", [True, False])
def test_a_box_is_looked_at_without_the_modules_of_its_project(
    box: Box, tmp_path: Path, what: str, *, with_script: bool
) -> None:
    """By the interpreter that started the run; nothing that has the name of a module is imported there."""
    proof = tmp_path / "proof"
    assert box.onbox("chain", "--inline", "train=true").returncode == 0
    lay_bait(box.project, proof)
    python = sys.executable if not with_script else "/no/such/python"
    if with_script:
        script = box.project / ".venv" / "bin" / "onbox"
        script.parent.mkdir(parents=True)
        script.write_text(f'#!/bin/sh\necho "script $*" >>{tmp_path / "started"}\n')
        script.chmod(0o755)
    said = _ask(box, what, python)
    assert not proof.exists(), proof.read_text()
    if with_script:
        assert "resume" in (tmp_path / "started").read_text(), "the project's own environment is the login's"
    else:
        assert ("is done already" if what == "resume" else '"would": "nothing"') in said


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files away")
@pytest.mark.parametrize("what", ["look", "resume"])
def test_a_program_of_another_owner_in_the_project_is_not_started(box: Box, tmp_path: Path, what: str) -> None:
    """Nor an interpreter that a run's records name which another user could have written."""
    proof = tmp_path / "proof"
    assert box.onbox("chain", "--inline", "train=true").returncode == 0
    script = box.project / ".venv" / "bin" / "onbox"
    script.parent.mkdir(parents=True)
    for path in (script, tmp_path / "python"):
        path.write_text(f"#!/bin/sh\necho $0 >>{proof}\n")
        path.chmod(0o755)
    os.chown(script, 65534, 65534)
    os.chown(box.state, 65534, 65534)
    _ask(box, what, os.fspath(tmp_path / "python"))
    assert not proof.exists(), proof.read_text()
    os.chown(box.state, 0, 0)
    os.chown(script, 0, 0)
    _ask(box, what, os.fspath(tmp_path / "python"))
    assert proof.exists(), "what is root's own is believed"


def _ask(box: Box, what: str, python: str) -> str:
    mark = "<<<word>>>"
    stdin = (
        ask_stdin(os.fspath(box.project), ".onbox", mark, {"digits": python})
        if what == "look"
        else resume_stdin(os.fspath(box.project), "digits", python)
    )
    env = {**box.env, "PATH": "/usr/local/bin:/usr/bin:/bin"}  # a login that finds no onbox
    done = subprocess.run(["sh", "-s"], input=stdin, capture_output=True, env=env, check=False, timeout=60)
    said = done.stdout.decode()
    if what == "resume":
        return said
    *_, forecast = said.split(f"{mark} forecast\n")
    try:
        return json.dumps(json.loads(forecast.partition(f"\n{mark} end")[0]))
    except ValueError:
        return said
