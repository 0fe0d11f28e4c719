"""Room on file systems: bytes and inodes, as a user who is not root can use them.

Source: statvfs(3). Free for us is f_bavail and f_favail, not f_bfree: the rest is reserved for root.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.collectors.mounts import Mount, locate, read_mounts
from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onbox.contract.readings import Maybe

NO_SIZE = 1 << 63  # bytes: -1 as an unsigned number, and what is near it
NOT_COUNTED = Absent("this file system does not count inodes")


class Room(NamedTuple):
    """What a file system has and what is free. Inodes are Absent where they are not counted (btrfs, vfat, many network
    file systems answer 0 of 0): that is not "none free". bytes_used: of all that is not free for root.
    """

    bytes_free: int
    bytes_total: int
    bytes_used: int
    inodes_free: Maybe[int]
    inodes_total: Maybe[int]

    @property
    def bytes_used_percent(self) -> float | None:
        """As df(1) counts: used of what a user could ever use; None for a file system of no size."""
        whole = self.bytes_used + self.bytes_free
        return 100.0 * self.bytes_used / whole if whole else None

    @property
    def inodes_used_percent(self) -> float | None:
        """None where inodes are not counted."""
        if not isinstance(self.inodes_total, int) or not isinstance(self.inodes_free, int):
            return None
        return 100.0 * (self.inodes_total - self.inodes_free) / self.inodes_total


class Disk(NamedTuple):
    """One mounted file system that the run touches. paths: what of the run lies there."""

    mount: str
    kind: str
    source: str
    read_only: bool
    paths: tuple[str, ...]
    room: Maybe[Room]


def room_from(seen: os.statvfs_result) -> Room:
    """The meaning of a statvfs answer. f_files 0, or more free than there are (cephfs), means: not counted."""
    counted = 0 < seen.f_files < 1 << 63 and 0 <= seen.f_favail <= seen.f_files
    return Room(
        seen.f_bavail * seen.f_frsize,
        seen.f_blocks * seen.f_frsize,
        (seen.f_blocks - seen.f_bfree) * seen.f_frsize,
        seen.f_favail if counted else NOT_COUNTED,
        seen.f_files if counted else NOT_COUNTED,
    )


def look_at_room(path: str) -> Maybe[Room]:
    """Room on the file system of `path`, or of the nearest folder above it that exists (of a link's target, if that is
    what is missing). One that tells no size (some FUSE, a stale NFS mount with -1) is Unseen: that is not "none free".
    """
    while True:
        try:
            seen = os.statvfs(path)
            sized = 0 < seen.f_blocks * seen.f_frsize < NO_SIZE
            return room_from(seen) if sized else Unseen(f"{path}: its file system tells no size")
        except FileNotFoundError:
            parent = os.path.dirname(os.path.realpath(path))
            if parent == path:
                return Unseen(f"{path}: no such folder")
            path = parent
        except OSError as error:
            return Unseen(f"{path}: {error.strerror}")


def read_disks(
    paths: Iterable[str],
    root: str = "/",
    look: Callable[[str], Maybe[Room]] = look_at_room,
    look_remote: Callable[[str], Maybe[Room]] = look_at_room,
) -> Maybe[tuple[Disk, ...]]:
    """The file systems on which `paths` (absolute) lie, each once, in that order.

    look_remote: used where the file system may hang; it must be bounded in time.
    """
    mounts = read_mounts(root)
    if isinstance(mounts, Absent | Unseen):
        return Unseen(mounts.why)
    found: dict[Mount | None, list[str]] = {}
    for path in dict.fromkeys(paths):
        found.setdefault(locate(path, mounts), []).append(path)
    return tuple(_disk(mount, inside, look, look_remote) for mount, inside in found.items())


def _disk(
    mount: Mount | None,
    paths: Sequence[str],
    look: Callable[[str], Maybe[Room]],
    look_remote: Callable[[str], Maybe[Room]],
) -> Disk:
    if mount is None:
        return Disk("?", "?", "?", False, tuple(paths), look_remote(paths[0]))
    room = look(paths[0]) if mount.is_local else look_remote(paths[0])
    return Disk(mount.point, mount.kind, mount.source, mount.read_only, tuple(paths), room)
