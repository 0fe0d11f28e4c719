"""Locks that live as long as some process holds the file."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from onbox.system.files import StateNotWritten
from onbox.system.lock import is_locked, lock_new_file, try_lock
from onbox.system.process import Files, start_detached
from tests.box import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "lock")


@pytest.fixture
def held(path: str) -> Iterator[int]:
    """The lock, held by this process until the test closes it or ends."""
    fd = try_lock(path)
    assert fd is not None
    yield fd
    with suppress(OSError):
        os.close(fd)


def test_nobody_locks_what_is_not_there(path: str) -> None:
    assert is_locked(path) is None
    assert not os.path.exists(path)


def test_a_free_file_is_not_locked(path: str, held: int) -> None:
    os.close(held)
    assert is_locked(path) is False


def test_a_second_open_is_excluded(path: str, held: int) -> None:
    assert is_locked(path) is True
    assert try_lock(path) is None


def test_a_second_process_is_excluded(path: str, held: int) -> None:
    code = "import sys; from onbox.system.lock import try_lock; sys.exit(try_lock(sys.argv[1]) is None)"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code, path]) == 1
    os.close(held)
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code, path]) == 0


def test_looking_takes_nothing(path: str) -> None:
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.close(fd)
    assert is_locked(path) is False
    fd_or_none = try_lock(path)
    assert fd_or_none is not None
    os.close(fd_or_none)


def test_an_heir_keeps_the_lock(path: str, held: int) -> None:
    pid = start_detached(["/bin/sleep", "600"], os.environ, Files(inherited=((held, 9),)))
    try:
        os.close(held)
        assert is_locked(path) is True
        assert try_lock(path) is None
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert is_locked(path) is False


def test_a_program_that_is_not_an_heir_does_not_keep_it(path: str, held: int) -> None:
    pid = start_detached(["/bin/sleep", "600"], os.environ, Files())
    try:
        os.close(held)
        # A parent runs on an instant before its new child has closed what it does not inherit.
        wait_until(lambda: is_locked(path) is False, "the lock to be free")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_a_removed_file_guards_nothing(path: str, held: int) -> None:
    os.unlink(path)
    assert is_locked(path) is None
    fd = try_lock(path)
    assert fd is not None
    assert is_locked(path) is True
    os.close(fd)
    assert is_locked(path) is False


def test_a_new_file_is_locked_at_once(path: str) -> None:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    lock_new_file(fd, path)
    assert is_locked(path) is True
    os.close(fd)


def test_a_lock_that_cannot_be_made_names_its_path(tmp_path: Path) -> None:
    with pytest.raises(StateNotWritten, match="gone/lock: No such file"):
        try_lock(f"{tmp_path}/gone/lock")
