"""Memory and pressure of the group that a run's process stands in, and room on the disks that runs touch.

The reasoning is that of `onbox.collectors` (memory, groups, pressure, disk), here with a shell as the reader.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.collectors.disk import NOT_COUNTED
from onbox.collectors.memory import NO_LIMIT_V1, held
from onbox.collectors.pressure import Stall, parse_stall
from onbox.collectors.reading import parse_keys
from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from patrol.snapshot import DiskLook, MemoryLook, Pressure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.readings import Maybe
    from patrol.probe.frames import SectionPart

LEVELS_LIMIT = 8

# p_memory LOCKS [PID]...: of the first process that lives (known from earlier looks), else of this login, and then of
# one that the runs' locks name: the last group told counts. Files of the user are touched last, they may hang.
# All levels from the group up are read by one grep, by relative names. A container may show less of the tree than the
# group's path has levels: as many of the first ones are left out. Only where the tree is not in its usual place is the
# list of mounts read, which may be long.
# p_disks PATH...: bytes and inodes by GNU df; by df and stat, in the same order, where df is another one.
SHELL = r"""
p_memory() {
  p_at "$1"
  shift
  p_who=self
  for p_pid in "$@"; do
    [ $p_who != self ] || [ ! -r /proc/$p_pid/cgroup ] || p_who=$p_pid
  done
  p_group
  [ $p_who = self ] || return 0
  for p_file in "$p_path"/*/lock; do
    p_line=
    read -r p_line <"$p_file"
    [ ${#p_line} -lt 999 ] || continue
    p_line=${p_line#*'"pid": '}
    p_line=${p_line%%,*}
    case $p_line in
      ''|*[!0-9]*) ;;
      *) [ ! -r /proc/$p_line/cgroup ] || p_who=$p_line;;
    esac
  done
  [ $p_who = self ] || p_group
}
p_group() {
  p_first= p_second= p_version=0 p_top=/ p_group=
  while read -r p_line; do
    case $p_line in
      0::*) p_second=${p_line#0::};;
      *[:,]memory[:,]*) p_first=${p_line#*:*:};;
    esac
  done </proc/$p_who/cgroup
  if [ "$p_first" ] && [ -e /sys/fs/cgroup/memory/memory.usage_in_bytes ]; then
    p_version=1 p_top=/sys/fs/cgroup/memory p_group=$p_first
  elif [ ! "$p_first" ] && [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    p_version=2 p_top=/sys/fs/cgroup p_group=$p_second
  else
    p_mounted
  fi
  until [ -d "$p_top$p_group" ] || [ ! "$p_group" ]; do
    case $p_group in
      /*/*) p_group=/${p_group#/*/};;
      *) p_group=;;
    esac
  done
  p_mark "group $p_who $p_version"
  p_back=$PWD p_up= p_rest=$p_group
  cd "$p_top$p_group"
  set --
  while :; do
    for p_file in max current stat limit_in_bytes usage_in_bytes; do
      set -- "$@" "${p_up}memory.$p_file"
    done
    case $p_rest in
      */?*) p_rest=${p_rest%/*} p_up=../$p_up;;
      *) break;;
    esac
    [ $# -lt 40 ] || break
  done
  p_keys='oom_kill|(in)?active_file|slab_reclaimable'
  [ $p_version = 2 ] || p_keys='oom_kill|total_(in)?active_file|hierarchical_memory_limit'
  set -- "$@" memory.events memory.oom_control
  [ ! -e memory.pressure ] || set -- "$@" memory.pressure io.pressure cpu.pressure
  [ -e memory.pressure ] || set -- "$@" /proc/pressure/*
  grep -E "^([0-9]+|max)$|^($p_keys) |^some|^Mem[TA].*a" "$@" /proc/meminfo
  [ ! -e cgroup.events ] || echo cgroup.events:1
  cd "$p_back"
}
p_mounted() {
  while read -r p_a p_b p_c p_root p_point p_rest; do
    case $p_rest in
      *' - cgroup2 '*) [ $p_version = 0 ] && p_version=2 p_group=$p_second || continue;;
      *' - cgroup '*[\ ,]memory|*' - cgroup '*[\ ,]memory,*)
        [ "$p_first" ] && p_version=1 p_group=$p_first || continue;;
      *) continue;;
    esac
    p_top=$p_point p_group=${p_group#"${p_root%/}"}
    [ $p_version = 2 ] || break
  done </proc/self/mountinfo
}
p_disks() {
  for p_file in "$@"; do
    p_at "$p_file"
    set -- "$@" "$p_path"
    shift
  done
  p_found=$(df -k --output=size,used,avail,iavail,itotal,target "$@")
  if [ "$p_found" ]; then
    printf '%s\n' "$p_found"
  else
    df -Pk "$@"
    p_mark inodes
    stat -f -c '%d %c' "$@"
  fi
}
"""


class Looked(NamedTuple):
    """pid: the process whose group it is; None: the login's own, for want of a run's."""

    pid: int | None
    memory: MemoryLook
    pressure: Pressure


def parse_memory(part: SectionPart) -> Looked | Unseen:
    """What the last group that was told shows; the part may be late: then the first one is there."""
    head = next((block for block in reversed(part.blocks) if block.words[0] == "group" and block.data.strip()), None)
    if head is None or len(head.words) != 3:
        return Unseen("the control groups could not be looked at")
    files = _files(head.data.decode("utf-8", "replace"))
    host = _host(files.get("/proc/meminfo", ""))
    version = 2 if head.words[2] == "2" else 1
    held_bytes, limit = _binding(files, version, host.get("MemTotal"))
    if head.words[2] == "0":
        held_bytes = limit = Absent("no memory control group is mounted here")
    unknown = Unseen("/proc/meminfo could not be read")
    memory = MemoryLook(
        held_bytes,
        limit,
        _oom_kills(files, version),
        host.get("MemAvailable", unknown),
        host.get("MemTotal", unknown),
    )
    pid = int(head.words[1]) if head.words[1].isdecimal() else None
    return Looked(pid, memory, _pressure(files))


def _files(text: str) -> dict[str, str]:
    """The output of a grep over several files: the lines found, by file."""
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        name, colon, rest = line.partition(":")
        if colon:
            found.setdefault(name, []).append(rest)
    return {name: "\n".join(lines) for name, lines in found.items()}


def _host(text: str) -> dict[str, int]:
    """Lines of /proc/meminfo; kB there are KiB."""
    pattern = re.compile(r"^(\w+):\s*(\d{1,18}) kB$", re.MULTILINE)
    return {name: int(number) * 1024 for name, number in pattern.findall(text)}


class _Names(NamedTuple):
    current: str
    limit: str
    reclaimable: tuple[str, ...]


_NAMES = {
    1: _Names("memory.usage_in_bytes", "memory.limit_in_bytes", ("total_inactive_file", "total_active_file")),
    2: _Names("memory.current", "memory.max", ("inactive_file", "active_file", "slab_reclaimable")),
}


def _binding(files: Mapping[str, str], version: int, host_bytes: int | None) -> tuple[Maybe[int], Maybe[int]]:
    """Held and limit of the level with the least room; of the own group where no level has a limit."""
    names = _NAMES[version]
    levels: list[tuple[int, Maybe[int]]] = []
    for up in range(LEVELS_LIMIT):
        limit = _number(files.get("../" * up + names.limit))
        if limit is not None and limit < NO_LIMIT_V1 and (host_bytes is None or limit <= host_bytes):
            levels.append((limit, _held(files, "../" * up, names)))
    own = next((up for up in range(LEVELS_LIMIT) if "../" * up + names.current in files), 0)
    held_own = _held(files, "../" * own, names)
    hidden = parse_keys(files.get("memory.stat", "")).get("hierarchical_memory_limit", NO_LIMIT_V1)
    if hidden < NO_LIMIT_V1 and (host_bytes is None or hidden <= host_bytes):
        levels.append((hidden, held_own))  # of a level that cannot be seen: the own usage is the nearest there is
    if not levels:
        return held_own, Absent("no limit visible from the group up")
    limit, used = min(levels, key=lambda level: level[0] - (level[1] if isinstance(level[1], int) else 0))
    return used, limit


def _held(files: Mapping[str, str], up: str, names: _Names) -> Maybe[int]:
    current = _number(files.get(up + names.current))
    if current is None:
        return Unseen(f"{up}{names.current} could not be read")
    stat: Maybe[str] = files.get(f"{up}memory.stat", Unseen(f"{up}memory.stat could not be read"))
    return held(current, stat, names.reclaimable, up)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 20 else None


def _oom_kills(files: Mapping[str, str], version: int) -> Maybe[int]:
    name = "memory.events" if version == 2 else "memory.oom_control"
    kills = parse_keys(files.get(name, "")).get("oom_kill")
    return Unseen(f"no count of OOM kills in {name}") if kills is None else kills


def _pressure(files: Mapping[str, str]) -> Pressure:
    own = {name: files[f"{name}.pressure"] for name in ("memory", "io", "cpu") if f"{name}.pressure" in files}
    of_host = not own or "cgroup.events" not in files  # the tree's root has no such file: its numbers are the host's
    values = own or {name: text for name in ("memory", "io", "cpu") if (text := files.get(f"/proc/pressure/{name}"))}
    return Pressure(_share(values.get("memory")), _share(values.get("io")), _share(values.get("cpu")), of_host=of_host)


def _share(text: str | None) -> Maybe[float]:
    if text is None:
        return Absent("this kernel tells no pressure")
    stall = parse_stall(text)
    return stall.some_percent_60s if isinstance(stall, Stall) else stall


_SIZES = r"(\d{1,19})\s+(-?\d{1,19})\s+(-?\d{1,19})\s+"
_DF = re.compile(rf"\s{_SIZES}(?:\d+%|-)\s+(/.*)$")
_DF_WITH_INODES = re.compile(rf"^\s*{_SIZES}(\d{{1,19}}|-)\s+(\d{{1,19}}|-)\s+(/.*)$")


class _Row(NamedTuple):
    """A row of df: 1024-byte blocks, free for a plain user. inodes: words for free and all."""

    size: int
    used: int
    free: int
    inodes: list[str]
    mount: str


def parse_disks(part: SectionPart) -> Maybe[tuple[DiskLook, ...]]:
    """Bytes and inodes of each file system. 0 inodes of 0: not counted."""
    rows = _rows(part)
    if not rows:
        return Unseen("df told of no file system")
    disks: dict[str, DiskLook] = {}
    for row in rows:
        # What is kept for root is neither used nor free: df's own percentage leaves it out too.
        free = max(0, row.free)
        total = row.used + free if row.used >= 0 else row.size
        free_inodes, all_inodes = _inodes(row.inodes) if row.inodes else (Unseen("not told"), Unseen("not told"))
        if total > 0:
            disks[row.mount] = DiskLook(row.mount, free * 1024, total * 1024, free_inodes, all_inodes)
    return tuple(disks.values())


def _rows(part: SectionPart) -> list[_Row]:
    lines = part.data.decode("utf-8", "replace").split("\n")
    inodes = part.block("inodes")
    if inodes is None:
        found = [match for line in lines if (match := _DF_WITH_INODES.match(line))]
        return [_Row(int(one[1]), int(one[2]), int(one[3]), [one[4], one[5]], safe_line(one[6])) for one in found]
    found = [match for line in lines if (match := _DF.search(line))]
    pairs = [line.split() for line in inodes.decode("ascii", "replace").split("\n") if line.strip()]
    if len(pairs) != len(found):
        pairs = [[] for _ in found]
    return [
        _Row(int(one[1]), int(one[2]), int(one[3]), pair, safe_line(one[4]))
        for one, pair in zip(found, pairs, strict=True)
    ]


def _inodes(words: list[str]) -> tuple[Maybe[int], Maybe[int]]:
    numbers = [int(word) for word in words if word.isascii() and word.isdigit() and len(word) < 20]
    if len(numbers) != 2:
        return NOT_COUNTED, NOT_COUNTED
    free, total = numbers
    return (free, total) if 0 < total < 1 << 63 and free <= total else (NOT_COUNTED, NOT_COUNTED)
