"""Where a process stands in the cgroup trees: version 1, version 2, both at once, namespaced or bind-mounted.

A controller's *levels* are the directories from the process's own group up to the top that can be seen. A limit at any
of them binds (cgroup-v2.rst "Top-down Constraint"), so none alone tells the truth.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.collectors.reading import read_text
from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple

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


class ControlGroup(NamedTuple):
    """One controller's view of a process. levels: own group first, then up to the top that can be seen; absolute.

    Own is the group that is charged for the process, which in v2 may be above the one that it stands in.
    """

    version: int
    levels: tuple[str, ...]

    @property
    def own(self) -> str:
        return self.levels[0]


def parse_memberships(text: str) -> dict[str, str]:
    """/proc/<pid>/cgroup: the group's path by controller; "" is version 2 (cgroups(7))."""
    found = {}
    for line in text.split("\n"):  # not splitlines: a group's name may hold other line ends
        parts = line.split(":", 2)
        if len(parts) == 3:
            for controller in parts[1].split(","):
                found[controller] = parts[2]
    return found


def unescape(field: str) -> str:
    """A path or source of mountinfo: blank, tab, newline, backslash and "#" stand there as octal (proc(5))."""
    if "\\" not in field:
        return field
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\043", "#"), ("\\134", "\\")):
        field = field.replace(code, char)
    return field


def parse_group_mounts(mountinfo: str) -> list[GroupMount]:
    """The cgroup mounts of a mountinfo text, in its order."""
    found = []
    for line in mountinfo.split("\n"):
        before, separator, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if not separator or len(fields) < 5 or kind[0] not in ("cgroup", "cgroup2"):
            continue
        options = kind[-1].split(",")
        controllers = () if kind[0] == "cgroup2" else tuple(name for name in CONTROLLERS if name in options)
        if kind[0] == "cgroup2" or controllers:
            found.append(GroupMount(2 if not controllers else 1, controllers, unescape(fields[3]), unescape(fields[4])))
    return found


def path_below(mount: GroupMount, path: str) -> str | None:
    """Where the group `path` lies below a mount: `point` + what `path` has more than the mounted root. None: it is not
    below that root. Pure.
    """
    if path == mount.root:
        return mount.point
    root = "" if mount.root == "/" else mount.root
    rest = path[len(root) :]
    return mount.point + rest if path.startswith(root + "/") and not _is_outside(rest) else None


def may_be_whole_group(mount: GroupMount, path: str) -> bool:
    """Whether the mount itself may be the group that `path` names: in nested containers joining can name nothing.

    Never where one of them lies outside of the cgroup namespace ("/.."): it is another one (cgroup_namespaces(7)).
    """
    return not _is_outside(mount.root) and not _is_outside(path)


def _is_outside(path: str) -> bool:
    return path == "/.." or path.startswith("/../")


def find_group(controller: str, pid: int | str = "self", root: str = "/") -> Maybe[ControlGroup]:
    """The levels of one controller for a process. Absent: not mounted here; Unseen: /proc cannot be read, or what is
    mounted does not show the process's group.
    """
    memberships = read_text(os.path.join(root, "proc", str(pid), "cgroup"))
    mountinfo = read_text(os.path.join(root, "proc", str(pid), "mountinfo"))
    for text in (memberships, mountinfo):
        if isinstance(text, Absent | Unseen):
            return Unseen(text.why)
    assert isinstance(memberships, str)
    assert isinstance(mountinfo, str)
    return locate(controller, parse_memberships(memberships), parse_group_mounts(mountinfo), root)


def locate(controller: str, paths: dict[str, str], mounts: list[GroupMount], root: str) -> Maybe[ControlGroup]:
    """The group of `controller`: in version 1 if a v1 mount has it, else in version 2. An empty `0::` line beside v1
    mounts (hybrid) means nothing: what counts is where the controller is.
    """
    first = [mount for mount in mounts if controller in mount.controllers]
    if first and controller in paths:
        group = _group(first, paths[controller], root)
        return group or Unseen(f"the {controller} group {paths[controller]} is not below what is mounted here")
    second = [mount for mount in mounts if mount.version == 2]
    if second and "" in paths:
        group = _group(second, paths[""], root)
        if group is None:
            return Unseen(f"the group {paths['']} is not below what is mounted here")
        if _has_controller(group, controller):
            return group._replace(levels=_charged_levels(group.levels, controller))
    return Absent(f"no cgroup with the {controller} controller is mounted here")


def _group(mounts: list[GroupMount], path: str, root: str) -> ControlGroup | None:
    """The group `path` below one of the mounts of its hierarchy; one that has it by name goes before a guess."""
    named = [(mount, path_below(mount, path)) for mount in mounts]
    guessed = [(mount, mount.point) for mount in mounts if may_be_whole_group(mount, path)]
    for mount, way in (*named, *guessed):
        own = None if way is None else os.path.normpath(os.path.join(root, way.lstrip("/")))
        if own is not None and os.path.isdir(own):
            top = os.path.normpath(os.path.join(root, mount.point.lstrip("/")))
            return ControlGroup(mount.version, tuple(_levels(own, top)))
    return None


def _levels(own: str, top: str) -> list[str]:
    levels = [own]
    while own != top and own.startswith(top + "/"):
        own = os.path.dirname(own)
        levels.append(own)
    return levels


_PROOFS = {"memory": "memory.current", "cpu": "cpu.weight", "pids": "pids.current", "cpuset": "cpuset.cpus.effective"}


def _has_controller(group: ControlGroup, controller: str) -> bool:
    """Whether any level of a v2 group has the controller's files, or lists it as available."""
    if any(_is_enabled(level, controller) for level in group.levels):
        return True
    listed = read_text(f"{group.levels[-1]}/cgroup.controllers")
    return isinstance(listed, str) and controller in listed.split()


def _is_enabled(level: str, controller: str) -> bool:
    return os.path.exists(f"{level}/{_PROOFS.get(controller, controller)}")


def _charged_levels(levels: tuple[str, ...], controller: str) -> tuple[str, ...]:
    """The levels from the one that is charged for the process: the nearest where the controller is enabled (v2). CPU
    time is told at every level, enabled or not.
    """
    if controller == "cpu":
        return levels
    first = next((index for index, level in enumerate(levels) if _is_enabled(level, controller)), 0)
    return levels[first:]


def tightest(values: list[tuple[str, float]]) -> tuple[str, float] | None:
    """The level with the smallest limit; the innermost of several equal ones. None: no level has a limit. Pure."""
    return min(values, key=lambda pair: pair[1], default=None)
