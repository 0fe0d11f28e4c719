"""Two plain users of one machine, played by root with setpriv(1): one who works, and one who wants his rights."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.box import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

VICTIM, ATTACKER = 1001, 65534
need_users = [
    pytest.mark.root,
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv, to be two other users"
    ),
]


def words_as(uid: int, words: list[str]) -> list[str]:
    """The words that run `words` as this user. It may read everything, so that an interpreter that lies in root's own
    folder can be used; it may write only what is its own.
    """
    kept = [f"--{which}=-all,+dac_read_search" for which in ("inh-caps", "ambient-caps", "bounding-set")]
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *kept, *words]


def environment_of(home: Path, **more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "ONBOX"))}
    home_ = os.fspath(home)
    mine = {"HOME": home_, "PYTHONPATH": os.fspath(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": "/tmp"}
    return {**kept, **mine, **more}


def run_as(uid: int, module: str, *words: str, cwd: Path, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """One of our commands, as this user, to its end."""
    return run_words_as(uid, [sys.executable, "-m", module, *words], cwd=cwd, env=environment_of(home, **env))


def run_words_as(uid: int, words: list[str], **settings: Any) -> subprocess.CompletedProcess[str]:
    argv = words if uid == os.geteuid() else words_as(uid, words)
    return subprocess.run(
        argv, check=False, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, **settings
    )


def give(path: Path, uid: int) -> None:
    """Path, with all below it, belongs to this user now."""
    os.chown(path, uid, uid, follow_symlinks=False)
    if path.is_dir() and not path.is_symlink():
        for one in path.rglob("*"):
            os.chown(one, uid, uid, follow_symlinks=False)
