"""The picture of `onbox stats` as lines for people. Pure. What is the whole machine's is called so."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from onbox.contract.readings import Absent, Unseen, observed
from onbox.model.screen import hanging
from onbox.model.units import format_duration, format_size
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.clock import utc_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.collectors.cpu import CpuReading, PidsReading
    from onbox.collectors.disk import Disk
    from onbox.collectors.memory import MemoryReading
    from onbox.collectors.pressure import PressureReading, Stall
    from onbox.collectors.tree import Tree
    from onbox.commands.stats import Picture
    from onbox.contract.readings import Maybe


LABEL = 11  # columns


class StatsLine(NamedTuple):
    """One resource in words. full_percent: of what must not become full; None: it is not known, or has no end."""

    label: str
    text: str
    full_percent: float | None = None


def render_picture(picture: Picture) -> str:
    """All lines, one resource each; several for disks and GPUs."""
    lines = hanging("", safe_line(picture_head(picture)), LABEL)
    for line in picture_lines(picture):
        lines += hanging(f"  {line.label:<9}", safe_line(line.text), LABEL)
    return "\n".join(lines)


def picture_head(picture: Picture) -> str:
    return f"{picture.subject.name} · {utc_text(picture.snapshot.at_seconds)[:19]}Z"


def picture_lines(picture: Picture) -> list[StatsLine]:
    snapshot = picture.snapshot
    lines: list[StatsLine] = []
    lines += _lines("memory", snapshot.memory, _memory_lines, lambda memory: [_memory_percent(memory)])
    lines += _lines("oom", snapshot.memory, lambda memory: [_oom_text(memory, picture.oom_kills_since)])
    lines += _lines("cpu", snapshot.cpu, lambda cpu: [_cpu_text(cpu, picture.rates)])
    lines += _lines("pids", snapshot.pids, lambda pids: [_pids_text(pids)])
    lines += _lines("pressure", snapshot.pressure, lambda pressure: [_pressure_text(pressure)])
    lines += _lines(
        "disk", snapshot.disks, lambda disks: [_disk_text(disk, picture.trends) for disk in disks], _disk_percents
    )
    lines += _lines("gpu", picture.gpus, _gpu_lines)
    lines += _lines("tree", snapshot.tree, lambda tree: [_tree_text(tree)])
    return [*lines, StatsLine("host", _host_text(picture))]


def _lines(name: str, value: Maybe[Any], texts: Any, full: Any = lambda _: ()) -> list[StatsLine]:
    """The lines of one reading; one line with the reason where there is none. full: for each line how full it is."""
    if isinstance(value, Absent):
        return [StatsLine(name, f"none ({value.why})")]
    if isinstance(value, Unseen):
        return [StatsLine(name, f"could not look: {value.why}")]
    return [StatsLine(name, text, percent) for text, percent in zip_longest(texts(value), full(value))]


def _size(value: Maybe[int]) -> str:
    return format_size(value) if isinstance(value, int) else "?"


def _pids_text(pids: PidsReading) -> str:
    used = str(pids.current) if isinstance(pids.current, int) else f"not counted ({pids.current.why})"
    return f"{used} of {pids.limit}" if isinstance(pids.limit, int) else f"{used} · {pids.limit.why}"


def _memory_percent(memory: MemoryReading) -> float | None:
    used, limit = observed(memory.working_set_bytes), observed(memory.limit_bytes)
    return 100 * used / limit if used is not None and limit else None


def _disk_percents(disks: Sequence[Disk]) -> list[float | None]:
    """Of bytes or of inodes, whichever is nearer to its end."""
    rooms = [observed(disk.room) for disk in disks]
    shares = [(room.bytes_used_percent, room.inodes_used_percent) if room else () for room in rooms]
    return [max((one for one in pair if one is not None), default=None) for pair in shares]


def percent_of(part: Maybe[int], whole: Maybe[int]) -> str:
    """`64%`, or "" where either is not known."""
    return f"{100 * part / whole:.0f}%" if isinstance(part, int) and isinstance(whole, int) and whole else ""


def _memory_lines(memory: MemoryReading) -> list[str]:
    if isinstance(memory.working_set_bytes, Absent | Unseen) and not memory.version:
        return [f"of this container not known: {memory.working_set_bytes.why}"]
    used = f"{_size(memory.working_set_bytes)} working set"
    if isinstance(memory.limit_bytes, int):
        share = percent_of(memory.working_set_bytes, memory.limit_bytes)
        head = f"{used} of {_size(memory.limit_bytes)} ({share or '?'})"
    else:
        head = f"{used} · {'no limit visible' if isinstance(memory.limit_bytes, Absent) else memory.limit_bytes.why}"
    rest = f"held {_size(memory.held_bytes)} · with cache {_size(memory.current_bytes)}"
    peak = f" · peak {_size(memory.peak_bytes)}" if isinstance(memory.peak_bytes, int) else ""
    return [f"{head} · {rest}{peak}"]


def _oom_text(memory: MemoryReading, since: int | None) -> str:
    if isinstance(memory.oom_kills_total, Absent | Unseen):
        return f"not counted: {memory.oom_kills_total.why}"
    recent = f" · {since} since the run's first sample" if since is not None else ""
    return f"{memory.oom_kills_total} killed in this group so far{recent}"


def _cpu_text(cpu: CpuReading, rates: dict[str, float]) -> str:
    parts = []
    if "cores_used" in rates:
        parts.append(f"{rates['cores_used']:.2f} cores used")
    if isinstance(cpu.quota_cores, float):
        parts.append(f"quota {cpu.quota_cores:g} cores")
    parts.append(f"{cpu.allowed_cores} allowed" if isinstance(cpu.allowed_cores, int) else "affinity unknown")
    if not isinstance(cpu.quota_cores, float):
        parts.append("no quota" if isinstance(cpu.quota_cores, Absent) else f"quota unknown: {cpu.quota_cores.why}")
    periods, seconds = observed(cpu.throttled_periods_total), observed(cpu.throttled_seconds_total)
    if periods:
        now = f", {100 * rates['throttled_share']:.0f}% now" if "throttled_share" in rates else ""
        parts.append(f"throttled in {periods} periods, {format_duration(seconds or 0.0)}{now}")
    return " · ".join(parts)


def _pressure_text(pressure: PressureReading) -> str:
    stalls: tuple[tuple[str, Maybe[Stall]], ...] = (
        ("memory", pressure.memory),
        ("io", pressure.io),
        ("cpu", pressure.cpu),
    )
    parts = [
        f"{name} ?" if isinstance(stall, Absent | Unseen) else f"{name} {stall.some_percent_60s:.1f}%"
        for name, stall in stalls
    ]
    whose = "of the whole host, not only yours" if pressure.of_host else "of this container"
    return f"{' '.join(parts)} of the last minute ({whose})"


def _disk_text(disk: Disk, trends: dict[str, dict[str, float | None]]) -> str:
    if isinstance(disk.room, Absent | Unseen):
        return f"{disk.mount} ({disk.kind}) could not look: {disk.room.why}"
    room, trend = disk.room, trends.get(disk.mount, {})
    used = room.bytes_used_percent
    parts = [f"{disk.mount} {'?' if used is None else f'{used:.0f}%'} used, {format_size(room.bytes_free)} free"]
    inodes = room.inodes_used_percent
    parts.append("inodes not counted here" if inodes is None else f"inodes {inodes:.0f}% used, {room.inodes_free} free")
    for what in ("bytes", "inodes"):
        left = trend.get(f"{what}_full_in_seconds")
        if left is not None:
            parts.append(f"{'disk' if what == 'bytes' else 'inodes'} full in {format_duration(left)}")
    if disk.read_only:
        parts.append("READ-ONLY")
    return " · ".join(parts)


def _gpu_lines(reading: Any) -> list[str]:
    return [_gpu_text(gpu) for gpu in reading.gpus]


def _gpu_text(gpu: Any) -> str:
    if not hasattr(gpu, "utilization_percent"):
        return f"{gpu.number} LOST: {gpu.why}"
    parts = [f"{gpu.number} {observed(gpu.name) or 'GPU'}"]
    busy = gpu.utilization_percent
    parts.append(f"{busy}%" if isinstance(busy, int) else f"use {'n/a' if isinstance(busy, Absent) else 'unknown'}")
    parts.append(f"{_size(gpu.memory_used_bytes)} of {_size(gpu.memory_total_bytes)}")
    for value, unit in ((gpu.temperature_celsius, "°C"), (gpu.power_watts, "W")):
        if isinstance(value, int | float):
            parts.append(f"{value:.0f} {unit}")
    if isinstance(gpu.sm_clock_mhz, int) and isinstance(gpu.max_sm_clock_mhz, int):
        parts.append(f"{gpu.sm_clock_mhz} of {gpu.max_sm_clock_mhz} MHz")
    reasons = [name for name in observed(gpu.throttle_reasons) or () if name != "idle"]
    if reasons:
        parts.append("throttled: " + ", ".join(reasons))
    return " · ".join(parts)


def _tree_text(tree: Tree) -> str:
    biggest = tree.biggest[0] if tree.biggest else None
    parts = [f"{tree.processes} processes, {tree.threads} threads", f"{format_size(tree.rss_bytes)} resident"]
    if isinstance(tree.open_files, int):
        parts.append(f"{tree.open_files} open files")
    if biggest is not None:
        parts.append(f"biggest {biggest.name} ({biggest.pid}) {format_size(biggest.rss_bytes)}")
    if tree.held:
        parts.append(f"held by the kernel (D): {', '.join(map(str, tree.held))}")
    return " · ".join(parts)


def _host_text(picture: Picture) -> str:
    """The machine's own numbers, and whose they are."""
    snapshot, parts = picture.snapshot, []
    if not isinstance(snapshot.memory, Absent | Unseen):
        host = snapshot.memory.host
        parts.append(f"memory {_size(host.available_bytes)} of {_size(host.total_bytes)} available")
    if not isinstance(snapshot.cpu, Absent | Unseen):
        parts.append(load_text(snapshot.cpu, picture.rates.get("cores_used")))
    return "(the whole machine) " + " · ".join(parts)


def load_text(cpu: CpuReading, cores_used: float | None) -> str:
    """The host's load, and whether it is ours. Ours is said only where our own use is known."""
    load, cores = observed(cpu.host_load), observed(cpu.host_cores)
    if load is None:
        return "load unknown"
    text = f"load {load[0]:.0f}" + (f" on {cores} cores" if cores else "")
    if cores and load[0] > cores and cores_used is not None and cores_used < load[0] / 2:
        return f"{text}: mostly neighbours, not you ({cores_used:.1f} cores are yours)"
    return text
