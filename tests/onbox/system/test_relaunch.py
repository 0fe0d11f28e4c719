"""How this installation starts itself once more."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from onbox.system.relaunch import bare_child_words, program_words

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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
    assert program_words("patrol") == (str(tmp_path / "python"), "-m", "patrol")


def test_a_folder_of_that_name_is_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "onbox").mkdir()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "onbox")])
    assert program_words("onbox") == (str(tmp_path / "python"), "-m", "onbox")


def test_a_bare_child_finds_us_and_nothing_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(9)\n")
    words = bare_child_words("onbox.system.relaunch", "sys.argv[2] == 'told' and 7", "told")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert subprocess.run(words, env=env, cwd=tmp_path, check=False, timeout=30).returncode == 7
