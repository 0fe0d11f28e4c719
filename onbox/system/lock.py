"""Locks that the kernel holds and frees: no stale lock, no unlock command (flock(2)).

The lock lives as long as any process has the opened file, which is how a stage proves that it is alive after its
runner was killed: it inherited the open, locked file.
"""

from __future__ import annotations

import errno
import fcntl
import os

from onbox.system.files import StateNotWritten, open_own

_UNSUPPORTED = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL})


class LockUnsupported(Exception):
    """The file system has no working flock (Lustre without `-o flock`, some NFS and FUSE mounts)."""

    def __init__(self, path: str, cause: OSError) -> None:
        self.path = path
        super().__init__(f"{path}: this file system cannot lock files ({os.strerror(cause.errno or 0)})")


def try_lock(path: str, *, below: int | None = None) -> int | None:
    """Take the exclusive lock on `path`: its file descriptor, or None if another process holds it.

    Closing the descriptor in every process that has it frees the lock. below: `path` is a name in this opened folder.
    Raises LockUnsupported, StateNotWritten, this also where `path` is a symbolic link.
    """
    while True:
        try:
            fd = open_own(path, os.O_RDWR | os.O_CREAT, below=below)
        except OSError as error:
            raise StateNotWritten(path, error) from error
        if not _flock(fd, path, fcntl.LOCK_EX | fcntl.LOCK_NB):
            os.close(fd)
            return None
        if _still_named(fd, path, below):
            return fd
        os.close(fd)  # the file was removed and made anew in between: the lock would guard nothing


def lock_new_file(fd: int, path: str) -> None:
    """Lock a file that was just created. Blocks only while a reader probes it for an instant."""
    _flock(fd, path, fcntl.LOCK_EX)


def is_locked(path: str) -> bool | None:
    """Whether some live process holds the lock on `path`; None if there is no such file. Raises LockUnsupported."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a FIFO would hang who looks
    except FileNotFoundError:
        return None
    try:
        return not _flock(fd, path, fcntl.LOCK_SH | fcntl.LOCK_NB)
    finally:
        os.close(fd)


def _flock(fd: int, path: str, operation: int) -> bool:
    """True if taken, False if another holds it. Raises LockUnsupported."""
    try:
        fcntl.flock(fd, operation)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            raise LockUnsupported(path, error) from error
        raise
    return True


def _still_named(fd: int, path: str, below: int | None) -> bool:
    try:
        named = os.stat(path, dir_fd=below, follow_symlinks=False)
    except FileNotFoundError:
        return False
    opened = os.fstat(fd)
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)
