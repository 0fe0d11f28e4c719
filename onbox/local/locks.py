"""Locks of the local side, with filelock: the tick, the crontab, the register of waits, the pages.

They are flock(2) locks on the same files as ever, so that an older installation beside this one excludes it, and is
excluded. What a child must inherit (the run, a stage's slot) stays with `onbox.system.lock`.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from onbox.system.files import StateNotWritten
from onbox.system.lock import LockUnsupported

if TYPE_CHECKING:
    from filelock import FileLock

LOOK_SECONDS = 0.02  # flock has no wait with a limit, so it is tried again and again
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL})


def take(path: str, *, patience_seconds: float = 0.0) -> FileLock | None:
    """The lock on `path`, to be released; None if another process has held it for so long. The kernel frees it with
    this process; one that is forked off does not hold it. Raises StateNotWritten, this also where `path` is a symbolic
    link, and LockUnsupported.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - 15 ms, which who only reads does not pay

    lock = FileLock(path, mode=0o600, thread_local=False, poll_interval=LOOK_SECONDS, fallback_to_soft=False)
    try:
        lock.acquire(timeout=patience_seconds)
    except Timeout:
        return None
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            raise LockUnsupported(path, error) from error
        raise StateNotWritten(path, error) from error
    return lock
