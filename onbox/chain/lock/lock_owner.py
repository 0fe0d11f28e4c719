"""Who holds a run's lock: written into the lock file by the runner, read by those who find it taken."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from onbox.named_tuple import NamedTuple
from onbox.system.files import pwrite_all, read_file
from onbox.system.process import Identity


class Holder(NamedTuple):
    """A runner. `boot_id` is None where the kernel does not tell."""

    pid: int
    start_ticks: int
    boot_id: str | None
    host: str
    run_id: str
    chain_fingerprint: str

    @property
    def identity(self) -> Identity:
        return Identity(self.pid, self.start_ticks)


def clear_holder(lock_fd: int) -> None:
    """Whoever just took the lock forgets the one before, so that nobody attaches to the wrong runner."""
    with suppress(OSError):
        os.ftruncate(lock_fd, 0)


def write_holder(lock_fd: int, holder: Holder) -> None:
    """Say who holds the lock. On a full disk it stays unsaid: then others are told "a runner" instead of which."""
    with suppress(OSError):
        pwrite_all(lock_fd, json.dumps(holder._asdict()).encode("ascii") + b"\n", 0)


def read_holder(path: str) -> Holder | None:
    """Who holds the lock; None while that is not written (yet)."""
    text = read_file(path, 65536) or b""
    if not text.endswith(b"\n"):
        return None
    try:
        data = json.loads(text)
        return Holder(**{field: data[field] for field in Holder._fields})
    except (ValueError, KeyError, TypeError):
        return None
