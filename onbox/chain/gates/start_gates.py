"""Gates before a stage: what must be free where the run works. Refusing starts nothing and loses nothing.

A gate that could not look refuses, and says so: what is not known to be free is not free.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.gates.success_gate import GateFinding
from onbox.collectors.gpu.nvml import LostGpu
from onbox.contract.readings import Absent, Unseen, observed
from onbox.model.units import format_size
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onbox.collectors.disk import Disk, Room
    from onbox.collectors.gpu.nvml import GpuCard
    from onbox.collectors.memory import MemoryReading
    from onbox.contract.readings import Maybe
    from onbox.model.manifest import Amount, CheckpointGate, Gates, GpuGate

WALK_LIMIT = 200_000  # files below a checkpoint folder that are looked at; more count as not there


class GateSight(NamedTuple):
    """How the gates look at the box. gpus: the visible GPUs, see `collectors.gpu`.

    present: bytes and files below a folder. resolve: where a path leads to, links followed.
    """

    disks: Callable[[Iterable[str]], Maybe[tuple[Disk, ...]]]
    memory: Callable[[], MemoryReading]
    gpus: Callable[[], Maybe[Sequence[GpuCard | LostGpu]]]
    present: Callable[[str], tuple[int, int]]
    resolve: Callable[[str], str] = os.path.normpath


def check_gates(gates: Gates, root: str, folder: str, sight: GateSight) -> list[GateFinding]:
    """Every gate that refuses. root: where the state lies; folder: where the stage works."""
    findings: list[GateFinding] = []
    if gates.disk_free is not None or gates.inodes_free is not None:
        findings += _check_disks(gates, sight.disks((root, folder)))
    if gates.memory_free is not None:
        findings += judge_memory(gates.memory_free, sight.memory())
    if gates.gpu is not None:
        findings += judge_gpus(gates.gpu, sight.gpus())
    if gates.checkpoints is not None:
        path = sight.resolve(os.path.join(folder, os.path.expanduser(gates.checkpoints.path)))
        findings += _check_checkpoints(gates.checkpoints, path, sight)
    return findings


def _check_disks(gates: Gates, disks: Maybe[tuple[Disk, ...]]) -> list[GateFinding]:
    if isinstance(disks, Absent | Unseen):
        return [GateFinding("disk", f"could not look ({disks.why})", "a readable file system")]
    findings = []
    for disk in disks:
        if isinstance(disk.room, Absent | Unseen):
            findings.append(
                GateFinding("disk", f"could not look at {disk.paths[0]} ({disk.room.why})", "a file system")
            )
        else:
            findings += judge_room(gates, disk.paths[0], disk.room)
    return findings


def judge_room(gates: Gates, path: str, room: Room) -> list[GateFinding]:
    """Bytes and inodes of one file system; inodes that are not counted refuse nothing."""
    findings = []
    if gates.disk_free is not None:
        wanted = _wanted(gates.disk_free, room.bytes_total)
        if room.bytes_free < wanted:
            seen = f"{format_size(room.bytes_free)} free at {path}"
            findings.append(GateFinding("disk_free", seen, f"{format_size(round(wanted))}"))
    total, free = observed(room.inodes_total), observed(room.inodes_free)
    if gates.inodes_free is not None and total is not None and free is not None:
        wanted = _wanted(gates.inodes_free, total)
        if free < wanted:
            findings.append(GateFinding("inodes_free", f"{free} of {total} inodes free at {path}", f"{round(wanted)}"))
    return findings


def judge_memory(amount: Amount, memory: MemoryReading) -> list[GateFinding]:
    """Free is what the limit leaves beside what is held (page cache gives way), and never more than the machine has."""
    if isinstance(memory.limit_bytes, Unseen):
        return [GateFinding("memory_free", f"could not look ({memory.limit_bytes.why})", "a readable limit")]
    limit, used = observed(memory.limit_bytes), observed(memory.held_bytes)
    available, total = observed(memory.host.available_bytes), observed(memory.host.total_bytes)
    within = None if limit is None or used is None else max(0, limit - used)
    known = [free for free in (within, available) if free is not None]
    whole = limit if limit is not None else total
    if not known or whole is None:
        return [
            GateFinding("memory_free", "could not look (neither a limit nor the machine's memory)", "a readable one")
        ]
    free, wanted = min(known), _wanted(amount, whole)
    if free >= wanted:
        return []
    of = f"the container's limit of {format_size(limit)}" if limit is not None else "the whole machine"
    return [GateFinding("memory_free", f"{format_size(free)} free of {of}", format_size(round(wanted)))]


def judge_gpus(gate: GpuGate, gpus: Maybe[Sequence[GpuCard | LostGpu]]) -> list[GateFinding]:
    """Enough GPUs with little enough memory in use. One whose memory is not known does not count."""
    wanted = f"{gate.number}" + (
        f" with at most {gate.max_used_mib} MiB in use" if gate.max_used_mib is not None else ""
    )
    if isinstance(gpus, Unseen):
        return [GateFinding("gpu", f"could not look ({gpus.why})", wanted)]
    if isinstance(gpus, Absent):
        return [GateFinding("gpu", f"none ({gpus.why})", wanted)]
    free = [gpu for gpu in gpus if _is_free(gpu, gate.max_used_mib)]
    if len(free) >= gate.number:
        return []
    return [
        GateFinding("gpu", f"{len(free)} of {len(gpus)} visible: {'; '.join(map(_gpu_text, gpus)) or 'none'}", wanted)
    ]


def _is_free(gpu: GpuCard | LostGpu, max_used_mib: int | None) -> bool:
    if isinstance(gpu, LostGpu):
        return False
    used = gpu.memory_used_bytes
    return max_used_mib is None or (isinstance(used, int) and used <= max_used_mib << 20)


def _gpu_text(gpu: GpuCard | LostGpu) -> str:
    used = getattr(gpu, "memory_used_bytes", None)
    if isinstance(used, int):
        return f"GPU {gpu.number} {used >> 20} MiB in use"
    return f"GPU {gpu.number} not known ({getattr(used or gpu, 'why', '?')})"


def _check_checkpoints(gate: CheckpointGate, path: str, sight: GateSight) -> list[GateFinding]:
    disks = sight.disks((path,))
    room = disks if isinstance(disks, Absent | Unseen) else disks[0].room
    if isinstance(room, Absent | Unseen):
        return [GateFinding("checkpoints", f"could not look at {path} ({room.why})", "a readable file system")]
    # Without a folder of their own, what lies there is the project, and no checkpoint.
    return judge_checkpoints(gate, path, room, *((0, 0) if gate.path == "." else sight.present(path)))


def judge_checkpoints(
    gate: CheckpointGate, path: str, room: Room, present_bytes: int, present_files: int
) -> list[GateFinding]:
    """size * keep + scratch bytes and files * keep inodes, less what is there already, against what is free."""
    bytes_wanted = max(0, gate.size_bytes * gate.keep - present_bytes) + gate.scratch_bytes
    files_wanted = max(0, gate.files * gate.keep - present_files)
    sum_text = f"{gate.keep} x {format_size(gate.size_bytes)} + {format_size(gate.scratch_bytes)} scratch"
    there = (
        f" less {format_size(min(present_bytes, gate.size_bytes * gate.keep))} there already" if present_bytes else ""
    )
    findings = []
    if room.bytes_free < bytes_wanted:
        seen = f"{format_size(room.bytes_free)} free at {path}"
        findings.append(GateFinding("checkpoints", seen, f"{format_size(bytes_wanted)} ({sum_text}{there})"))
    inodes = observed(room.inodes_free)
    if inodes is not None and inodes < files_wanted:
        wanted = f"{files_wanted} ({gate.keep} x {gate.files} files, {present_files} there already)"
        findings.append(GateFinding("checkpoints", f"{inodes} inodes free at {path}", wanted))
    return findings


def bytes_present(folder: str) -> tuple[int, int]:
    """Bytes on disk and number of files below a folder, on its own file system, a file of several names once; (0, 0) if
    there is none. Bounded; what cannot be read counts as not there, which can only make the gate stricter.
    """
    size, seen = 0, set()
    try:
        device = os.stat(folder).st_dev
    except OSError:
        return 0, 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if _is_on(os.path.join(place, name), device)]
        for name in names:
            try:
                found = os.lstat(os.path.join(place, name))
            except OSError:
                continue
            if found.st_ino not in seen:
                seen.add(found.st_ino)
                size += found.st_blocks * 512
            if len(seen) >= WALK_LIMIT:
                return size, len(seen)
    return size, len(seen)


def _is_on(folder: str, device: int) -> bool:
    try:
        return os.lstat(folder).st_dev == device
    except OSError:
        return False


def _wanted(amount: Amount, total: int) -> float:
    return float(amount.number) if amount.number is not None else total * (amount.percent or 0.0) / 100
