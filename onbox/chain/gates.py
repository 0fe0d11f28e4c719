"""Gates before a stage: what must be free where the run works. Refusing starts nothing and loses nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from onbox.chain.checks import Finding
from onbox.contract.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onbox.contract.manifest import Amount, Gates


class Room(NamedTuple):
    """One file system as statvfs(3) tells it. inodes_total is None where the file system does not count inodes
    (btrfs and some network file systems answer 0): that is not "none free".
    """

    path: str
    bytes_free: int
    bytes_total: int
    inodes_free: int
    inodes_total: int | None


def look_at_room(path: str) -> Room:
    """Room on the file system of `path`. Raises OSError."""
    seen = os.statvfs(path)
    return Room(
        path,
        seen.f_bavail * seen.f_frsize,
        seen.f_blocks * seen.f_frsize,
        seen.f_favail,
        seen.f_files or None,
    )


def check_gates(gates: Gates, paths: Iterable[str], look: Callable[[str], Room] = look_at_room) -> list[Finding]:
    """Every gate that refuses, for every path. A path that cannot be looked at refuses too, and says so."""
    findings = []
    if gates.disk_free is None and gates.inodes_free is None:
        return []
    for path in dict.fromkeys(paths):
        try:
            room = look(path)
        except OSError as error:
            findings.append(Finding("disk", f"could not look at {path} ({error.strerror})", "a readable file system"))
            continue
        findings += _judge_room(gates, room)
    return findings


def _judge_room(gates: Gates, room: Room) -> list[Finding]:
    findings = []
    if gates.disk_free is not None:
        wanted = _wanted(gates.disk_free, room.bytes_total)
        if room.bytes_free < wanted:
            seen = f"{format_size(room.bytes_free)} free at {room.path}"
            findings.append(Finding("disk_free", seen, f"{format_size(round(wanted))}"))
    if gates.inodes_free is not None and room.inodes_total is not None:
        wanted = _wanted(gates.inodes_free, room.inodes_total)
        if room.inodes_free < wanted:
            seen = f"{room.inodes_free} of {room.inodes_total} inodes free at {room.path}"
            findings.append(Finding("inodes_free", seen, f"{round(wanted)}"))
    return findings


def _wanted(amount: Amount, total: int) -> float:
    return float(amount.number) if amount.number is not None else total * (amount.percent or 0.0) / 100
