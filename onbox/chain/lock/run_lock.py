"""The run's lock: one runner per run. Taken, or held by somebody who can be named."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.lock.lock_owner import Holder, clear_holder, read_holder
from onbox.chain.lock.run_owner import refuse_foreign_run
from onbox.chain.state.folders import make_run_folders
from onbox.chain.state.read_status import read_status
from onbox.named_tuple import NamedTuple
from onbox.system.clock import pause
from onbox.system.lock import try_lock
from onbox.system.process import Identity, boot_id, is_alive

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths

HOLDER_PATIENCE_SECONDS = 10.0
HOLDER_LOOK_SECONDS = 0.02


class Taken(NamedTuple):
    """The lock is ours: free to start."""

    lock_fd: int


class StillAlive(Exception):
    """The state directory is new, yet processes of a run in this very place are alive: it was removed under them."""

    def __init__(self, pids: list[int]) -> None:
        self.pids = pids
        super().__init__(f"pids {pids}")


class HolderUnknown(Exception):
    """The lock is held and nobody says by whom."""


def take_lock(paths: RunPaths) -> Taken | Holder:
    """The run's lock, or who has it. Raises HolderUnknown, LockUnsupported, StateNotWritten; Trouble where others could
    have written what the run says.
    """
    make_run_folders(paths)
    refuse_foreign_run(paths)
    if not os.path.exists(paths.lock):
        _refuse_removed_lock(paths)
    waited = 0.0
    while waited < HOLDER_PATIENCE_SECONDS:
        fd = try_lock(paths.lock)
        if fd is not None:
            clear_holder(fd)
            return Taken(fd)
        holder = read_holder(paths.lock)
        if holder is not None and (holder.host != os.uname().nodename or is_alive(holder.identity)):
            return holder
        # A runner that just took the lock is about to sign it (the signature of one that died may still be there), or
        # a reader probes it for an instant. Neither tells when it is through, so look again.
        pause(HOLDER_LOOK_SECONDS)
        waited += HOLDER_LOOK_SECONDS
    raise HolderUnknown(paths.lock)


def _refuse_removed_lock(paths: RunPaths) -> None:
    """No lock file, yet the last status names a live runner: somebody removed the file under it."""
    status = read_status(paths) or {}
    runner = status.get("runner") or {}
    if runner.get("boot_id") != boot_id() or runner.get("host") != os.uname().nodename:
        return
    if is_alive(Identity(int(runner.get("pid", 0)), int(runner.get("start_ticks", 0)))):
        raise StillAlive([int(runner["pid"])])
