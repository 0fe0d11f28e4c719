"""Memory of the container: what is in use against the limit that binds, and how often the OOM killer struck.

Sources: Linux Documentation/admin-guide/cgroup-v2.rst (memory), cgroup-v1/memory.rst, proc_meminfo(5).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.collectors.groups import ControlGroup, tightest
from onbox.collectors.reading import key_of, parse_count, parse_keys, read_int, read_text, to_int
from onbox.contract.readings import Absent, Unseen, observed
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe

NO_LIMIT_V1 = 1 << 60  # v1 writes LONG_MAX rounded down to a page (or beyond) for "no limit"


class HostMemory(NamedTuple):
    """The whole machine, shared with strangers. available: what could be had without swapping (MemAvailable)."""

    total_bytes: Maybe[int]
    available_bytes: Maybe[int]


class MemoryReading(NamedTuple):
    """Memory at the level that has the least room below its limit (or at the process's own group, where there is no
    limit). version: of the cgroup tree; 0: the process is in none, and every field but `host` says why.

    working_set: current less the file pages that can be dropped at once (inactive_file), as the kubelet counts it.
    held: current less all page cache and what else the kernel can give back: what a new process cannot have. Shared
    memory (tmpfs, /dev/shm) is part of it: it cannot be dropped without swap.
    peak: of the group's whole life. oom_kills_total: of the process's own group, since it was made.
    """

    version: int
    level: str
    limit_bytes: Maybe[int]
    current_bytes: Maybe[int]
    working_set_bytes: Maybe[int]
    held_bytes: Maybe[int]
    peak_bytes: Maybe[int]
    swap_bytes: Maybe[int]
    oom_kills_total: Maybe[int]
    host: HostMemory


class _Files(NamedTuple):
    """How the two versions name the same thing."""

    current: str
    limit: str
    peak: str
    swap: str
    inactive_file: str
    reclaimable: tuple[str, ...]


_FILES = {
    2: _Files(
        "memory.current",
        "memory.max",
        "memory.peak",
        "memory.swap.current",
        "inactive_file",
        ("inactive_file", "active_file", "slab_reclaimable"),
    ),
    1: _Files(
        "memory.usage_in_bytes",
        "memory.limit_in_bytes",
        "memory.max_usage_in_bytes",
        "memory.memsw.usage_in_bytes",
        "total_inactive_file",
        ("total_inactive_file", "total_active_file"),
    ),
}


def parse_host_memory(text: Maybe[str]) -> HostMemory:
    """/proc/meminfo; kB there are KiB."""
    if isinstance(text, Absent | Unseen):
        return HostMemory(Unseen(text.why), Unseen(text.why))
    keys = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        count = parse_count(words[0]) if words else None
        if count is not None:
            keys[name] = count * 1024
    missing = Absent("/proc/meminfo does not tell it")
    return HostMemory(keys.get("MemTotal", missing), keys.get("MemAvailable", missing))


def read_host_memory(root: str = "/") -> HostMemory:
    return parse_host_memory(read_text(os.path.join(root, "proc/meminfo")))


def read_memory(group: Maybe[ControlGroup], root: str = "/") -> MemoryReading:
    """Memory of a process that stands in `group` (of the memory controller); without one, the machine's."""
    host = read_host_memory(root)
    if isinstance(group, Absent | Unseen):
        return MemoryReading(0, "", group, group, group, group, group, group, group, host)
    level, limit = _binding_limit(group, host)
    names = _FILES[group.version]
    current = read_int(f"{level}/{names.current}")
    stat = read_text(f"{level}/memory.stat")
    return MemoryReading(
        version=group.version,
        level=level,
        limit_bytes=limit,
        current_bytes=current,
        working_set_bytes=working_set(current, key_of(stat, names.inactive_file, f"{level}/memory.stat")),
        held_bytes=held(current, stat, names.reclaimable, level),
        peak_bytes=read_int(f"{level}/{names.peak}"),
        swap_bytes=_swap(group.version, level, current),
        oom_kills_total=read_oom_kills(group.version, group.own),
        host=host,
    )


def working_set(current: Maybe[int], inactive_file: Maybe[int]) -> Maybe[int]:
    if isinstance(current, Absent | Unseen):
        return current
    if isinstance(inactive_file, Absent | Unseen):
        return Unseen(f"page cache unknown: {inactive_file.why}")
    return max(0, current - inactive_file)  # two files, read one after the other


def held(current: Maybe[int], stat: Maybe[str], reclaimable: tuple[str, ...], level: str) -> Maybe[int]:
    """Current less the reclaimable keys that there are; the first one must be there."""
    first = key_of(stat, reclaimable[0], f"{level}/memory.stat")
    for seen in (current, first):
        if isinstance(seen, Absent | Unseen):
            return seen
    keys = parse_keys(observed(stat) or "")
    return max(0, (observed(current) or 0) - sum(keys.get(name, 0) for name in reclaimable))


def _room(version: int, level: str, limit: float) -> float:
    """What a level has left below its limit; without any usage to read, all of it."""
    names = _FILES[version]
    used = held(read_int(f"{level}/{names.current}"), read_text(f"{level}/memory.stat"), names.reclaimable, level)
    return limit - (observed(used) or 0)


def _swap(version: int, level: str, current: Maybe[int]) -> Maybe[int]:
    swap = read_int(f"{level}/{_FILES[version].swap}")
    if version == 2 or isinstance(swap, Absent | Unseen):
        return swap
    return Unseen("memory is not known") if isinstance(current, Absent | Unseen) else max(0, swap - current)


def _binding_limit(group: ControlGroup, host: HostMemory) -> tuple[str, Maybe[int]]:
    """The level to read at, the one with the least room, and its limit: a wider limit may be nearly used up by others.
    Levels that are unreadable are told of only if no other limit was seen.
    """
    found: list[tuple[str, float]] = []
    trouble: Unseen | None = None
    for index, level in enumerate(group.levels):
        limit = read_limit(group.version, level)
        if isinstance(limit, Unseen):
            trouble = trouble or limit
        elif isinstance(limit, int) and (index == 0 or _counts_children(group.version, level)):
            found.append((level, limit))
    hidden = _hidden_limit(group) if group.version == 1 else None
    best = tightest(found)
    if len(found) > 1:
        best = min(found, key=lambda pair: _room(group.version, *pair))
    if hidden is not None and (best is None or all(hidden < limit for _, limit in found)):
        best = (group.own, hidden)  # set above what can be seen: our own usage is the nearest there is
    total = observed(host.total_bytes)
    if best is not None and (total is None or best[1] <= total):
        return best[0], int(best[1])
    if trouble is not None:
        return group.own, trouble
    return group.own, Absent(_no_limit_text(group, best))


def _no_limit_text(group: ControlGroup, best: tuple[str, float] | None) -> str:
    if best is not None:
        return f"the tightest limit, {int(best[1])} bytes at {best[0]}, is above what the machine has"
    return f"no limit visible from {group.own} up to {group.levels[-1]}"


def read_limit(version: int, level: str) -> Maybe[int]:
    """The memory limit at one level. The root of a v2 tree has no such file: no limit there."""
    path = f"{level}/{_FILES[version].limit}"
    text = read_text(path)
    if isinstance(text, str) and text.strip() == "max":
        return Absent("max")
    limit = to_int(text, path)
    if isinstance(limit, int) and (limit >= NO_LIMIT_V1 or limit < 0):
        return Absent("no limit")
    return limit


def _counts_children(version: int, level: str) -> bool:
    """Whether an ancestor's limit binds its children: always in v2; in v1 unless use_hierarchy is 0 (before 5.11)."""
    return version == 2 or read_int(f"{level}/memory.use_hierarchy") != 0


def _hidden_limit(group: ControlGroup) -> int | None:
    """v1 tells the tightest limit of all ancestors in memory.stat, also of those that are not mounted here."""
    limit = key_of(read_text(f"{group.own}/memory.stat"), "hierarchical_memory_limit", "memory.stat")
    return limit if isinstance(limit, int) and limit < NO_LIMIT_V1 else None


def read_oom_kills(version: int, level: str) -> Maybe[int]:
    """How many processes of this group any OOM killer has killed: v2 memory.events, v1 memory.oom_control (4.13)."""
    path = f"{level}/memory.events" if version == 2 else f"{level}/memory.oom_control"
    return key_of(read_text(path), "oom_kill", path)
