"""A snapshot as a sample: the numbers worth a line in samples.jsonl. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.readings import Absent, Unseen, observed
from onbox.system.clock import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.collectors.cpu import CpuReading
    from onbox.collectors.disk import Disk
    from onbox.collectors.gpu.nvml import GpuCard, GpuReading, LostGpu
    from onbox.collectors.memory import MemoryReading
    from onbox.collectors.pressure import PressureReading
    from onbox.collectors.snapshot import Snapshot
    from onbox.collectors.tree import Tree
    from onbox.contract.readings import Maybe

GPU_FIELDS = (
    "number",
    "utilization_percent",
    "memory_used_bytes",
    "temperature_celsius",
    "power_watts",
    "sm_clock_mhz",
)


def sample_of(snapshot: Snapshot, gpus: Maybe[GpuReading] | None = None) -> dict[str, Any]:
    """The sample of a snapshot. gpus: None: not asked."""
    parts: dict[str, Any] = {}
    for value, numbers in (
        (snapshot.memory, _memory),
        (snapshot.cpu, _cpu),
        (snapshot.pressure, _pressure),
        (snapshot.tree, _tree),
    ):
        if not isinstance(value, Absent | Unseen):
            parts |= numbers(value)  # type: ignore[arg-type]
    if not isinstance(snapshot.pids, Absent | Unseen):
        parts |= {"pids": snapshot.pids.current, "pids_limit": snapshot.pids.limit}
    if not isinstance(snapshot.disks, Absent | Unseen):
        parts["disks"] = _disks(snapshot.disks)
    if gpus is not None and not isinstance(gpus, Absent | Unseen):
        parts["gpus"] = [_gpu(gpu) for gpu in gpus.gpus]
    known = {key: value for key, value in parts.items() if _is_known(value)}
    return {"at": utc_text(snapshot.at_seconds), **known}


def _is_known(value: Any) -> bool:
    return value is not None and value != {} and not isinstance(value, Absent | Unseen)


def _memory(memory: MemoryReading) -> dict[str, Any]:
    return {
        "memory_current_bytes": memory.current_bytes,
        "memory_working_set_bytes": memory.working_set_bytes,
        "memory_held_bytes": memory.held_bytes,
        "memory_limit_bytes": memory.limit_bytes,
        "host_memory_available_bytes": memory.host.available_bytes,
        "oom_kills_total": memory.oom_kills_total,
    }


def _cpu(cpu: CpuReading) -> dict[str, Any]:
    return {
        "cpu_seconds_total": _rounded(observed(cpu.used_seconds_total)),
        "throttled_seconds_total": _rounded(observed(cpu.throttled_seconds_total)),
        "usable_cores": cpu.usable_cores,
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _pressure(pressure: PressureReading) -> dict[str, Any]:
    stalls = {"memory": pressure.memory, "io": pressure.io, "cpu": pressure.cpu}
    found: dict[str, Any] = {
        f"{name}_stall_percent_60s": stall.some_percent_60s
        for name, stall in stalls.items()
        if not isinstance(stall, Absent | Unseen)
    }
    if found and pressure.of_host:
        found["stall_of_host"] = True
    return found


def _tree(tree: Tree) -> dict[str, Any]:
    return {
        "tree_processes": tree.processes,
        "tree_threads": tree.threads,
        "tree_rss_bytes": tree.rss_bytes,
        "tree_cpu_seconds": tree.cpu_seconds,
        "tree_held": len(tree.held),
    }


def _disks(disks: Iterable[Disk]) -> dict[str, list[int | None]]:
    """By mount: bytes free and in all, inodes free and in all (null: not counted)."""
    return {
        disk.mount: [
            disk.room.bytes_free,
            disk.room.bytes_total,
            observed(disk.room.inodes_free),
            observed(disk.room.inodes_total),
        ]
        for disk in disks
        if not isinstance(disk.room, Absent | Unseen) and disk.room.bytes_total
    }


def _gpu(gpu: GpuCard | LostGpu) -> dict[str, Any]:
    """The numbers of a card that were seen; of a lost one only which it is."""
    values = {key: getattr(gpu, key, None) for key in GPU_FIELDS}
    return {key: value for key, value in values.items() if isinstance(value, int | float)}
