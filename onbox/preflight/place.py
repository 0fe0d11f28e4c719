"""The place: where state, results and temporary files go, and the clock."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from typing import TYPE_CHECKING

from onbox.collectors.mounts import locate, read_mounts
from onbox.contract.readings import Absent, Unseen
from onbox.model.units import format_duration, format_size
from onbox.preflight.report import CheckResult, failed, passed, unseen, warned
from onbox.system.clock import wall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.collectors.disk import Disk, Room
    from onbox.preflight.report import CheckFacts

FULL_PERCENT = 95.0
INODES_FULL_PERCENT = 90.0
SMALL_SHM_BYTES = 1 << 30  # Docker's default is 64 MB; a DataLoader with a few workers wants more than that
SKEW_SECONDS = 5.0
EARLIEST_SECONDS = 1.7e9  # November 2023: a clock before this has lost its battery
_FLEETING = ("tmpfs", "ramfs", "rootfs")


def existing(path: str) -> str:
    """The nearest folder at or above `path` that is there."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def check_state(facts: CheckFacts) -> Iterator[CheckResult]:
    """A file is made, locked and removed where the state will lie."""
    folder = existing(facts.paths.root)
    if os.path.lexists(facts.paths.root) and not os.path.isdir(facts.paths.root):
        yield failed("state", f"{facts.paths.root} is not a folder", "move it away, or set another state_dir or name")
        return
    parent = os.path.dirname(facts.paths.root)
    if os.path.lexists(parent) and not os.path.isdir(parent):
        yield failed("state", f"{parent} is not a folder", "move it away, or set another state_dir")
        return
    try:
        skew = _try_folder(folder)
    except OSError as error:
        remedy = "set state_dir in onbox.toml to a place that you may write to, on a local disk where flock(2) works"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = "make room there (df, df -i, quota), or set state_dir in onbox.toml to another disk"
        yield failed("state", f"{folder}: {error.strerror}", remedy)
        return
    mounts = read_mounts(facts.root)
    mount = None if isinstance(mounts, Absent | Unseen) else locate(folder, mounts)
    kind = mount.kind if mount is not None else "?"
    if kind in _FLEETING:
        yield warned(
            "state", f"{facts.paths.root} lies in memory ({kind}): gone after a reboot", "set state_dir to a disk"
        )
    else:
        yield passed("state", f"{facts.paths.root} can be written and locked ({kind})")
    yield from _judge_clock(skew)


def _try_folder(folder: str) -> float:
    """How far the file system's clock is ahead of ours. Raises OSError where nothing can be written or locked."""
    fd, path = tempfile.mkstemp(prefix=".onbox-check-", dir=folder)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(fd, b"x" * 4096)
        os.fsync(fd)
        return os.fstat(fd).st_mtime - wall()
    finally:
        os.close(fd)
        os.unlink(path)


def _judge_clock(skew: float) -> Iterator[CheckResult]:
    if wall() < EARLIEST_SECONDS:
        yield failed("clock", "it shows a date in the past", "set the clock: certificates and logins fail with it")
    elif abs(skew) > SKEW_SECONDS:
        seen = f"files there get times {format_duration(abs(skew))} {'ahead of' if skew > 0 else 'behind'} this machine"
        yield warned("clock", seen, "the file server's or this machine's clock is wrong: ages of logs will be, too")
    else:
        yield passed("clock", "plausible, and files get the same time")


def check_disks(facts: CheckFacts) -> Iterator[CheckResult]:
    disks = facts.snapshot.disks
    if isinstance(disks, Absent | Unseen):
        yield unseen("disks", disks.why)
        return
    for disk in disks:
        if disk.mount == "/dev/shm":
            yield from _judge_shm(disk)
        else:
            yield from _judge_disk(disk)
    if not any(disk.mount == "/dev/shm" for disk in disks):
        yield warned(
            "shm", "/dev/shm is not a separate file system", "DataLoader workers may fail: mount a tmpfs there"
        )


def _judge_disk(disk: Disk) -> Iterator[CheckResult]:
    name = f"disk {disk.mount}"
    if isinstance(disk.room, Absent | Unseen):
        yield unseen(name, disk.room.why, "a sick mount: keep state and results off it")
        return
    room = disk.room
    if disk.read_only:
        yield failed(name, "mounted read-only", f"mount it writable; the run touches {', '.join(disk.paths)}")
    troubles = list(_shortages(room))
    for seen, remedy in troubles:
        yield warned(name, seen, remedy)
    if not troubles and not disk.read_only:
        inodes = room.inodes_used_percent
        counted = "inodes not counted here" if inodes is None else f"{inodes:.0f}% of inodes used"
        yield passed(name, f"{format_size(room.bytes_free)} free ({room.bytes_used_percent or 0:.0f}% used), {counted}")


def _shortages(room: Room) -> Iterator[tuple[str, str]]:
    used, inodes = room.bytes_used_percent, room.inodes_used_percent
    if used is not None and used >= FULL_PERCENT:
        yield f"{used:.1f}% used, {format_size(room.bytes_free)} free", "make room before you start; see `du -xhd1`"
    if inodes is not None and inodes >= INODES_FULL_PERCENT:
        yield (
            f"{inodes:.1f}% of its inodes used, {room.inodes_free} free",
            "delete or pack small files (`find -xdev | cut -d/ -f2 | sort | uniq -c`); bytes do not help",
        )


def _judge_shm(disk: Disk) -> Iterator[CheckResult]:
    if isinstance(disk.room, Absent | Unseen):
        yield unseen("shm", disk.room.why)
    elif disk.room.bytes_total < SMALL_SHM_BYTES:
        remedy = "start the container with --shm-size=8g; or fewer workers, or the file_system sharing strategy"
        yield warned("shm", f"/dev/shm has {format_size(disk.room.bytes_total)}", remedy)
    else:
        yield passed("shm", f"/dev/shm has {format_size(disk.room.bytes_total)}")
