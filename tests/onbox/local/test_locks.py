"""Locks of the local side: one holder, freed by the kernel, and the same lock as older installations take."""

from __future__ import annotations

import errno
import os
import signal
from typing import TYPE_CHECKING

import pytest

from onbox.local.locks import take
from onbox.system.files import StateNotWritten
from onbox.system.lock import LockUnsupported, is_locked, try_lock

if TYPE_CHECKING:
    from pathlib import Path


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "lock")
    first = take(path)
    assert first is not None
    assert take(path) is None
    assert take(path, patience_seconds=0.05) is None
    first.release()
    again = take(path)
    assert again is not None
    again.release()


def test_it_is_the_lock_that_flock_takes(tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "lock")
    fd = try_lock(path)
    assert fd is not None
    assert take(path) is None
    os.close(fd)
    lock = take(path)
    assert (lock is not None, is_locked(path), try_lock(path)) == (True, True, None)
    assert lock is not None
    lock.release()


def test_a_forked_child_does_not_hold_it(tmp_path: Path) -> None:
    """Or a tick that was killed while it looked at boxes would keep the next one from looking."""
    path = os.fspath(tmp_path / "lock")
    lock = take(path)
    assert lock is not None
    child = os.fork()
    if not child:
        signal.pause()
    try:
        lock.release()
        assert is_locked(path) is False
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "other")
    with pytest.raises(StateNotWritten):
        take(os.fspath(tmp_path / "lock"))
    assert not (tmp_path / "other").exists()


def test_where_it_cannot_be_written_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StateNotWritten):
        take(os.fspath(tmp_path / "file" / "lock"))


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_without_working_locks_nothing_is_pretended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(LockUnsupported):
        take(os.fspath(tmp_path / "lock"))
