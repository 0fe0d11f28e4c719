"""CPU of the container: how many cores it may use, whether it is throttled, and how many processes it may have.

Sources: cgroup-v2.rst (cpu, pids), scheduler/sched-bwc.rst (v1), proc_pid_status(5).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.collectors.groups import tightest
from onbox.collectors.reading import parse_count, parse_keys, read_int, read_text, to_int
from onbox.contract.readings import Absent, Unseen, observed
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.collectors.groups import ControlGroup
    from onbox.contract.readings import Maybe


class CpuReading(NamedTuple):
    """quota_cores: the tightest quota (may be fractional). allowed_cores: those of the cpuset and the affinity.
    usable_cores: the smaller of both. throttled: periods and seconds cut off at the level of that quota (the process's
    own group, where there is none) since it was made. host_load: 1, 5, 15 minutes, of the whole machine.
    """

    quota_cores: Maybe[float]
    allowed_cores: Maybe[int]
    usable_cores: Maybe[float]
    used_seconds_total: Maybe[float]
    throttled_periods_total: Maybe[int]
    throttled_seconds_total: Maybe[float]
    host_load: Maybe[tuple[float, float, float]]
    host_cores: Maybe[int]


class PidsReading(NamedTuple):
    """Processes and threads, threads counted one by one, of the level with the least room."""

    current: Maybe[int]
    limit: Maybe[int]


def read_cpu(
    cpu: Maybe[ControlGroup], cpuacct: Maybe[ControlGroup], pid: int | str = "self", root: str = "/"
) -> CpuReading:
    """CPU of the process `pid`, which stands in these groups (v1 has a second one for accounting)."""
    level, quota = find_quota(cpu)
    allowed = parse_allowed(read_text(os.path.join(root, "proc", str(pid), "status")))
    periods, seconds = _throttling(level)
    return CpuReading(
        quota_cores=quota,
        allowed_cores=allowed,
        usable_cores=usable(quota, allowed),
        used_seconds_total=_used(cpu, cpuacct),
        throttled_periods_total=periods,
        throttled_seconds_total=seconds,
        host_load=parse_load(read_text(os.path.join(root, "proc/loadavg"))),
        host_cores=parse_online(read_text(os.path.join(root, "sys/devices/system/cpu/online"))),
    )


def usable(quota: Maybe[float], allowed: Maybe[int]) -> Maybe[float]:
    """What of both binds; what is not known does not."""
    known = [float(value) for value in (quota, allowed) if isinstance(value, int | float)]
    return min(known) if known else Unseen("neither quota nor affinity is known")


def find_quota(group: Maybe[ControlGroup]) -> tuple[Maybe[str], Maybe[float]]:
    """The level with the tightest quota (else the own group), and that quota in cores; Absent where none has one. A
    level that is unreadable is told of only if no other quota was seen.
    """
    if isinstance(group, Absent | Unseen):
        return group, group
    found: list[tuple[str, float]] = []
    trouble: Unseen | None = None
    for level in group.levels:
        quota = _quota_v2(level) if group.version == 2 else _quota_v1(level)
        if isinstance(quota, float):
            found.append((level, quota))
        elif isinstance(quota, Unseen):
            trouble = trouble or quota
    return tightest(found) or (group.own, trouble or Absent(f"no quota visible up to {group.levels[-1]}"))


def _quota_v2(level: str) -> Maybe[float]:
    """cpu.max: `max 100000` or `<quota> <period>` in microseconds."""
    text = read_text(f"{level}/cpu.max")
    if isinstance(text, Absent | Unseen):
        return text
    words = text.split()
    if len(words) == 2 and words[0] == "max":
        return Absent("max")
    quota, period = (parse_count(word) for word in words) if len(words) == 2 else (None, None)
    return quota / period if quota and period else Unseen(f"{level}/cpu.max holds {text[:40]!r}")


def _quota_v1(level: str) -> Maybe[float]:
    """cfs_quota_us: -1 for none, else microseconds in each cfs_period_us."""
    quota, period = read_int(f"{level}/cpu.cfs_quota_us"), read_int(f"{level}/cpu.cfs_period_us")
    if isinstance(quota, Absent | Unseen):
        return quota
    if quota <= 0:
        return Absent("no quota")
    if isinstance(period, Absent | Unseen):
        return Unseen(period.why)
    return quota / period if period > 0 else Unseen(f"{level}/cpu.cfs_period_us is {period}")


def _throttling(level: Maybe[str]) -> tuple[Maybe[int], Maybe[float]]:
    if isinstance(level, Absent | Unseen):
        return level, level
    text = read_text(f"{level}/cpu.stat")
    if isinstance(text, Absent | Unseen):
        return text, text
    keys = parse_keys(text)
    none = Absent(f"{level}/cpu.stat counts no throttling")
    seconds: Maybe[float] = none
    if "throttled_usec" in keys:
        seconds = keys["throttled_usec"] / 1e6
    elif "throttled_time" in keys:
        seconds = keys["throttled_time"] / 1e9
    return keys.get("nr_throttled", none), seconds


def _used(cpu: Maybe[ControlGroup], cpuacct: Maybe[ControlGroup]) -> Maybe[float]:
    if not isinstance(cpu, Absent | Unseen) and cpu.version == 2:
        text = read_text(f"{cpu.own}/cpu.stat")
        keys = parse_keys(text) if isinstance(text, str) else {}
        return keys["usage_usec"] / 1e6 if "usage_usec" in keys else Unseen("cpu.stat has no usage_usec")
    if isinstance(cpuacct, Absent | Unseen):
        return cpuacct
    used = read_int(f"{cpuacct.own}/cpuacct.usage")
    return used if isinstance(used, Absent | Unseen) else used / 1e9


def parse_cpu_list(text: str) -> int | None:
    """The number of CPUs in a list such as `0-3,8`; None if it is none."""
    count = 0
    for part in text.strip().split(","):
        first, dash, last = part.partition("-")
        low = parse_count(first)
        high = parse_count(last) if dash else low
        if low is None or high is None or high < low:
            return None
        count += high - low + 1
    return count


def parse_allowed(status: Maybe[str]) -> Maybe[int]:
    """Cpus_allowed_list of /proc/<pid>/status: cpuset and affinity together."""
    if isinstance(status, Absent | Unseen):
        return Unseen(status.why)
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name == "Cpus_allowed_list":
            return parse_cpu_list(value) or Unseen(f"Cpus_allowed_list is {value.strip()!r}")
    return Absent("/proc/<pid>/status has no Cpus_allowed_list")


def parse_online(text: Maybe[str]) -> Maybe[int]:
    if isinstance(text, Absent | Unseen):
        return text
    return parse_cpu_list(text) or Unseen(f"cpu/online is {text.strip()!r}")


def parse_load(text: Maybe[str]) -> Maybe[tuple[float, float, float]]:
    """/proc/loadavg: of the whole machine, in nearly every container."""
    if isinstance(text, Absent | Unseen):
        return text
    try:
        one, five, fifteen = (float(word) for word in text.split()[:3])
    except ValueError:
        return Unseen(f"/proc/loadavg is {text[:40]!r}")
    return one, five, fifteen


def read_pids(group: Maybe[ControlGroup]) -> Maybe[PidsReading]:
    """Of the level with the least room. A fork fails with EAGAIN when it is used up."""
    if isinstance(group, Absent | Unseen):
        return group
    rooms: list[tuple[float, PidsReading]] = []
    trouble: Unseen | None = None
    for level in group.levels:
        current, limit = read_int(f"{level}/pids.current"), _pids_limit(level)
        if isinstance(limit, int):
            rooms.append((limit - (observed(current) or 0), PidsReading(current, limit)))
        elif isinstance(limit, Unseen):
            trouble = trouble or limit
    if rooms:
        return min(rooms, key=lambda room: room[0])[1]
    return PidsReading(read_int(f"{group.own}/pids.current"), trouble or Absent("no limit visible"))


def _pids_limit(level: str) -> Maybe[int]:
    text = read_text(f"{level}/pids.max")  # the root of a tree has none
    return Absent("max") if isinstance(text, str) and text.strip() == "max" else to_int(text, f"{level}/pids.max")
