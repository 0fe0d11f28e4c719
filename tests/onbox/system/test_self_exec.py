"""How this installation starts itself once more."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from onbox.system.self_exec import bare_child_words, child_words, program_words

if TYPE_CHECKING:
    from pathlib import Path


def test_the_running_script_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "patrol"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script), "install"])
    assert program_words("patrol") == (str(script),)


def test_another_command_is_found_beside_the_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("python", "onbox"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "handbook")])
    assert program_words("onbox") == (str(tmp_path / "onbox"),)
    assert program_words("patrol")[:2] == (str(tmp_path / "python"), "-c")


def test_a_folder_of_that_name_is_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "onbox").mkdir()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "onbox")])
    assert program_words("onbox")[:2] == (str(tmp_path / "python"), "-c")


def test_a_bare_child_finds_us_and_nothing_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(9)\n")
    words = bare_child_words("onbox.system.self_exec", "sys.argv[2] == 'told' and 7", "told")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert subprocess.run(words, env=env, cwd=tmp_path, check=False, timeout=60).returncode == 7


BAIT = ("json.py", "re.py", "requests.py", "sitecustomize.py", "onbox/__init__.py", "patrol/__init__.py")


def lay_bait(folder: Path, proof: Path) -> None:
    """Modules that a careless start would import."""
    for name in BAIT:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"open({os.fspath(proof)!r}, 'a').write({name!r})\n")


@pytest.mark.parametrize("name", ["onbox", "patrol", "sentinel", "handbook"])
def test_without_a_script_a_command_is_not_taken_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "pytest")])
    monkeypatch.setattr("os.access", lambda *_: False)
    words = program_words(name)
    monkeypatch.undo()
    lay_bait(tmp_path, tmp_path / "proof")
    done = subprocess.run([*words, "--help"], cwd=tmp_path, check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"Usage: {name}" in done.stdout
    assert not (tmp_path / "proof").exists()


@pytest.mark.parametrize("safe_path", ["", "1"])
def test_a_child_is_not_taken_from_the_working_directory(tmp_path: Path, safe_path: str) -> None:
    lay_bait(tmp_path, tmp_path / "proof")
    call = "import json, re, requests, onbox, patrol; sys.exit(sys.argv[1:] != ['told'])"
    env = {**os.environ, "PYTHONSAFEPATH": safe_path}
    assert subprocess.run(child_words(call, "told"), env=env, cwd=tmp_path, check=False, timeout=60).returncode == 0
    assert not (tmp_path / "proof").exists()
