"""Where a process stands in the cgroup trees: version 1, version 2, both at once, namespaced or bind-mounted.

A controller's *levels* are the directories from the process's own group up to the top that can be seen. A limit at any
of them binds (cgroup-v2.rst "Top-down Constraint"), so none alone tells the truth.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from onbox.collectors.reading import read_text
from onbox.contract.readings import Absent, Unseen

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe

# Named hierarchies and controllers by which a v1 mount is known; other super options ("rw", "xattr") are passed over.
CONTROLLERS = ("memory", "cpu", "cpuacct", "cpuset", "pids")


class GroupMount(NamedTuple):
    """A mounted cgroup tree. controllers: empty for version 2. root: the group that is mounted; point: where."""

    version: int
    controllers: tuple[str, ...]
    root: str
    point: str


class Group(NamedTuple):
    """One controller's view of a process. levels: own group first, then up to the top that can be seen; absolute."""

    version: int
    levels: tuple[str, ...]

    @property
    def own(self) -> str:
        return self.levels[0]


def parse_memberships(text: str) -> dict[str, str]:
    """/proc/<pid>/cgroup: the group's path by controller; "" is version 2 (cgroups(7))."""
    found = {}
    for line in text.splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3:
            for controller in parts[1].split(","):
                found[controller] = parts[2]
    return found


def unescape(field: str) -> str:
    """A path of mountinfo: blank, tab, newline and backslash stand there as octal (proc(5))."""
    if "\\" not in field:
        return field
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, char)
    return field


def parse_group_mounts(mountinfo: str) -> list[GroupMount]:
    """The cgroup mounts of a mountinfo text, in the order of mounting."""
    found = []
    for line in mountinfo.splitlines():
        before, separator, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if not separator or len(fields) < 5 or kind[0] not in ("cgroup", "cgroup2"):
            continue
        options = kind[-1].split(",")
        controllers = () if kind[0] == "cgroup2" else tuple(name for name in CONTROLLERS if name in options)
        if kind[0] == "cgroup2" or controllers:
            found.append(GroupMount(2 if not controllers else 1, controllers, unescape(fields[3]), unescape(fields[4])))
    return found


def candidate_paths(mount: GroupMount, path: str) -> tuple[str, ...]:
    """Where the group `path` may lie below a mount, best guess first. Pure.

    Usually `point` + what `path` has more than the mounted root. In a container whose process still shows the host's
    path (cgroupns=host) the mount already is the group, and joining names nothing: then it is the mount point.
    """
    if path == mount.root or path.startswith("/.."):
        return (mount.point,)
    root = "" if mount.root == "/" else mount.root
    joined = mount.point + path[len(root) :] if path.startswith(root + "/") and path != "/" else None
    return tuple(dict.fromkeys(way for way in (joined, mount.point) if way is not None))


def find_group(controller: str, pid: int | str = "self", root: str = "/") -> Maybe[Group]:
    """The levels of one controller for a process. Absent: not mounted here; Unseen: /proc cannot be read."""
    memberships = read_text(os.path.join(root, "proc", str(pid), "cgroup"))
    mountinfo = read_text(os.path.join(root, "proc", str(pid), "mountinfo"))
    for text in (memberships, mountinfo):
        if isinstance(text, Absent | Unseen):
            return Unseen(text.why)
    assert isinstance(memberships, str)
    assert isinstance(mountinfo, str)
    return locate(controller, parse_memberships(memberships), parse_group_mounts(mountinfo), root)


def locate(controller: str, paths: dict[str, str], mounts: list[GroupMount], root: str) -> Maybe[Group]:
    """The group of `controller`: in version 1 if a v1 mount has it, else in version 2. An empty `0::` line beside v1
    mounts (hybrid) means nothing: what counts is where the controller is.
    """
    for mount in mounts:
        if controller in mount.controllers and controller in paths:
            group = _group(mount, paths[controller], root)
            if group is not None:
                return group
    for mount in mounts:
        if mount.version == 2 and "" in paths:
            group = _group(mount, paths[""], root)
            if group is not None and _has_controller(group, controller):
                return group
    return Absent(f"no cgroup with the {controller} controller is mounted here")


def _group(mount: GroupMount, path: str, root: str) -> Group | None:
    top = os.path.join(root, mount.point.lstrip("/"))
    for way in candidate_paths(mount, path):
        own = os.path.normpath(os.path.join(root, way.lstrip("/")))
        if os.path.isdir(own):
            return Group(mount.version, tuple(_levels(own, os.path.normpath(top))))
    return None


def _levels(own: str, top: str) -> list[str]:
    levels = [own]
    while own != top and own.startswith(top + "/"):
        own = os.path.dirname(own)
        levels.append(own)
    return levels


_PROOFS = {"memory": "memory.current", "cpu": "cpu.weight", "pids": "pids.current", "cpuset": "cpuset.cpus.effective"}


def _has_controller(group: Group, controller: str) -> bool:
    """Whether any level of a v2 group has the controller's files, or lists it as available."""
    proof = _PROOFS.get(controller, controller)
    if any(os.path.exists(f"{level}/{proof}") for level in group.levels):
        return True
    listed = read_text(f"{group.levels[-1]}/cgroup.controllers")
    return isinstance(listed, str) and controller in listed.split()


def tightest(values: list[tuple[str, float]]) -> tuple[str, float] | None:
    """The level with the smallest limit; the innermost of several equal ones. None: no level has a limit. Pure."""
    return min(values, key=lambda pair: pair[1], default=None)
