"""Which mounted file system a path lies on, found without touching it: a stale network mount would hang who looks.

Source: proc_pid_mountinfo(5).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.collectors.groups import unescape
from onbox.collectors.reading import read_text
from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.readings import Maybe

# File systems that answer from memory or a local disk. Any other may wait for a server or a user's process.
_LOCAL = frozenset(
    """
    ext2 ext3 ext4 xfs btrfs zfs f2fs bcachefs tmpfs ramfs devtmpfs overlay squashfs erofs vfat exfat iso9660 proc sysfs
    devpts cgroup cgroup2 mqueue hugetlbfs rootfs nilfs2 jfs reiserfs ntfs3 efivarfs tracefs debugfs securityfs
    """.split()
)
LINK_LIMIT = 40  # as the kernel follows (path_resolution(7))


class Mount(NamedTuple):
    """point: where; kind: the file system's name; source: device or server; device: `major:minor`."""

    point: str
    kind: str
    source: str
    device: str
    read_only: bool

    @property
    def is_local(self) -> bool:
        return self.kind in _LOCAL


def parse_mounts(mountinfo: str) -> list[Mount]:
    """The mounts of a mountinfo text, in its order. Lines of another shape are passed over."""
    found = []
    for line in mountinfo.split("\n"):  # not splitlines: a path may hold other line ends
        before, separator, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if separator and len(fields) >= 6 and len(kind) >= 2:
            options = {*fields[5].split(","), *(kind[2].split(",") if len(kind) > 2 else ())}
            found.append(Mount(unescape(fields[4]), kind[0], unescape(kind[1]), fields[2], "ro" in options))
    return found


def read_mounts(root: str = "/") -> Maybe[list[Mount]]:
    text = read_text(os.path.join(root, "proc/self/mountinfo"))
    return text if isinstance(text, Absent | Unseen) else parse_mounts(text)


def mount_of(path: str, mounts: list[Mount]) -> Mount | None:
    """The mount whose point is the longest beginning of an absolute path; of several there, the last. Pure."""
    best = None
    for mount in mounts:
        inside = mount.point in ("/", path) or path.startswith(mount.point + "/")
        if inside and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best


def read_link(path: str) -> str | None:
    """Where a symbolic link points to; None if `path` is none."""
    try:
        return os.readlink(path)
    except OSError:
        return None


def locate(path: str, mounts: list[Mount], link: Callable[[str], str | None] = read_link) -> Mount | None:
    """The mount on which an absolute `path` lies, symbolic links followed; the way ends at the first mount that is not
    local, because the next look could hang. The root is walked whatever it is (FUSE and virtiofs roots of containers):
    were it stuck, so were we. None: a loop of links. `link`: as `read_link`.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    here = "/"
    for _ in range(LINK_LIMIT * 64):
        mount = mount_of(here, mounts)
        if not parts or mount is None or not _can_walk(mount):
            return mount
        part, parts = parts[0], parts[1:]
        if part == "..":
            here = os.path.dirname(here)
            continue
        following = os.path.join(here, part)
        ahead = mount_of(following, mounts)
        target = link(following) if ahead is not None and _can_walk(ahead) else None
        if target is None:
            here = following
        else:
            parts = [piece for piece in target.split("/") if piece not in ("", ".")] + parts
            here = "/" if target.startswith("/") else here
    return None


def _can_walk(mount: Mount) -> bool:
    return mount.is_local or mount.point == "/"
