"""What waits and transfers on this machine: a claim is told beside what lives of it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from handbook.local_waits import find_waiters, transfers_among
from onbox.contract.readings import Unseen
from onbox.local.processes import Running
from onbox.system.clock import wall
from tests.box import REPOSITORY, wait_until

if TYPE_CHECKING:
    from pathlib import Path

TABLE = (
    Running(1, "init", ("/sbin/init",)),
    Running(2, "kthreadd"),
    Running(73, "rsync", ("rsync", "-as", "--partial", "ckpt/", "gpu1:ckpt/")),
    Running(74, "sh", ("sh", "-c", "rsync -a x y")),
    Running(75, "vim", ("vim", "rsync.py")),
    Running(76, "scp", ("/usr/bin/scp", "--token=abcdef0123456789", "a", "b")),
)


def waiters(environ: dict[str, str]) -> tuple[str, ...]:
    found = find_waiters(environ, wall())
    assert not isinstance(found, Unseen)
    return found


def test_transfers_are_found_by_their_program() -> None:
    found = transfers_among(TABLE)
    assert [one.pid for one in found] == [73, 76]
    assert "abcdef0123456789" not in found[-1].words


def test_a_real_transfer_is_seen_while_it_lives(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": os.fspath(tmp_path)}
    program = tmp_path / "rsync"
    program.symlink_to("/bin/sleep")
    transfer = subprocess.Popen([program, "60"])
    try:
        wait_until(lambda: any(f"pid {transfer.pid}:" in one for one in waiters(environ)), "it to be seen")
    finally:
        transfer.kill()
        transfer.wait()
    assert not any(f"pid {transfer.pid}:" in one for one in waiters(environ))


def test_a_wait_that_ran_out_of_its_time_long_ago_is_no_dead_one(tmp_path: Path) -> None:
    """It said how it ended: nobody has to arm it anew, and no seal waits for it."""
    environ = {**os.environ, "XDG_STATE_HOME": os.fspath(tmp_path), "PYTHONPATH": str(REPOSITORY)}
    words = [sys.executable, "-m", "sentinels", "wait", os.fspath(tmp_path / "DONE"), "--timeout", "5s"]
    assert subprocess.run(words, env=environ, capture_output=True, check=False).returncode == 124
    soon, later = find_waiters(environ, wall()), find_waiters(environ, wall() + 3600.0)
    assert not isinstance(soon, Unseen)
    assert not isinstance(later, Unseen)
    assert any("ran out of their time" in one for one in soon)
    assert not any("sentinel" in one for one in later)


def test_a_sentinel_that_was_killed_is_called_so(tmp_path: Path) -> None:
    """What a session remembers to have armed may be gone for hours."""
    environ = {**os.environ, "XDG_STATE_HOME": os.fspath(tmp_path), "PYTHONPATH": str(REPOSITORY)}
    words = [sys.executable, "-m", "sentinels", "wait", os.fspath(tmp_path / "DONE"), "--timeout", "60s"]
    armed = subprocess.Popen(words, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: any(f"pid {armed.pid} " in one for one in waiters(environ)), "it to be registered")
        assert "waits" in waiters(environ)[0]
    finally:
        armed.kill()
        armed.wait()
    assert "its process is gone" in waiters(environ)[0]
