"""Boxes as files: what Linux shows in /proc and /sys, written below a folder. The readers take it as their root."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from onbox.contract.readings import Absent, Unseen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onbox.contract.readings import Maybe

T = TypeVar("T")
GIB = 1 << 30
NO_LIMIT_V1 = "9223372036854771712\n"  # LONG_MAX, rounded down to a page

# The lines that a container has beside those of its cgroups.
OTHER_MOUNTS = """\
1523 1021 0:285 / / rw,relatime master:313 - overlay overlay rw,lowerdir=/l/A:/l/B,upperdir=/u/diff,workdir=/u/work
1524 1523 0:288 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw
1525 1523 0:289 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755,inode64
1526 1525 0:290 / /dev/pts rw,nosuid,noexec,relatime - devpts devpts rw,gid=5,mode=620,ptmxmode=666
1527 1523 0:291 / /sys ro,nosuid,nodev,noexec,relatime - sysfs sysfs ro
"""


def seen(reading: Maybe[T]) -> T:
    """A reading that must have been observed."""
    assert not isinstance(reading, Absent | Unseen), reading
    return reading


def plant(root: Path, files: Mapping[str, str]) -> str:
    """Write the files; a name that ends with "/" is an empty folder. The root for the readers."""
    for name, text in files.items():
        path = root / name.rstrip("/")
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text(text)
    return str(root)


def v2_mount(
    shown: str = "/", point: str = "/sys/fs/cgroup", options: str = "rw,nsdelegate,memory_recursiveprot"
) -> str:
    """The mountinfo line of a v2 tree of which `shown` is mounted."""
    return f"30 23 0:26 {shown} {point} rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 {options}\n"


def v1_mount(controllers: str, shown: str = "/", point: str | None = None) -> str:
    point = point or f"/sys/fs/cgroup/{controllers}"
    return f"34 25 0:29 {shown} {point} ro,nosuid,nodev,noexec,relatime master:15 - cgroup cgroup rw,{controllers}\n"


def process(cgroup: str, mounts: str, pid: str = "self") -> dict[str, str]:
    """What /proc tells of where a process stands."""
    return {f"proc/{pid}/cgroup": cgroup, f"proc/{pid}/mountinfo": OTHER_MOUNTS + mounts}


def meminfo(total_bytes: int, available_bytes: int | None = None) -> dict[str, str]:
    available = "" if available_bytes is None else f"MemAvailable:   {available_bytes // 1024} kB\n"
    total = f"MemTotal:       {total_bytes // 1024} kB\n"
    return {"proc/meminfo": f"{total}MemFree:        12345 kB\n{available}HugePages_Total: 0\n"}


def v2_memory(folder: str, current: int, limit: str | None = "max\n", **stat: int) -> dict[str, str]:
    """A v2 group with the memory controller; limit None: the root of the tree, which lacks the files of a group."""
    keys = {"anon": 0, "file": 0, "kernel_stack": 0, "shmem": 0, "inactive_file": 0, "slab_unreclaimable": 0, **stat}
    files = {f"{folder}/memory.stat": "".join(f"{key} {value}\n" for key, value in keys.items())}
    if limit is not None:
        files |= {
            f"{folder}/cgroup.events": "populated 1\nfrozen 0\n",
            f"{folder}/memory.current": f"{current}\n",
            f"{folder}/memory.max": limit,
            f"{folder}/memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n",
        }
    return files


def v1_memory(
    folder: str, usage: int, limit: str = NO_LIMIT_V1, above: str = NO_LIMIT_V1, hierarchy: str = "1\n", **stat: int
) -> dict[str, str]:
    """A v1 memory group. above: hierarchical_memory_limit, the tightest of all its ancestors."""
    keys = {
        "cache": 0,
        "rss": 0,
        "inactive_file": 7,
        "total_rss": 0,
        "total_shmem": 0,
        "total_inactive_file": 0,
        **stat,
    }
    return {
        f"{folder}/memory.usage_in_bytes": f"{usage}\n",
        f"{folder}/memory.limit_in_bytes": limit,
        f"{folder}/memory.max_usage_in_bytes": f"{usage * 2}\n",
        f"{folder}/memory.use_hierarchy": hierarchy,
        f"{folder}/memory.stat": f"hierarchical_memory_limit {above}"
        + "".join(f"{key} {value}\n" for key, value in keys.items()),
        f"{folder}/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
    }
