"""One picture of this container: every reading, each with the time it took. Start reading the collectors here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from onbox.collectors.cpu import CpuReading, PidsReading, read_cpu, read_pids
from onbox.collectors.disk import Disk, look_at_room, read_disks
from onbox.collectors.groups import ControlGroup, find_group
from onbox.collectors.memory import MemoryReading, read_memory
from onbox.collectors.pressure import PressureReading, read_pressure
from onbox.collectors.tree import Tree, read_tree
from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple
from onbox.system.clock import wall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onbox.collectors.disk import Room
    from onbox.contract.readings import Maybe
    from onbox.system.process import Identity

T = TypeVar("T")


class Groups(NamedTuple):
    """The cgroups of one process, by controller."""

    memory: Maybe[ControlGroup]
    cpu: Maybe[ControlGroup]
    cpuacct: Maybe[ControlGroup]
    pids: Maybe[ControlGroup]


class Took(NamedTuple):
    """How a collector fared: seconds of wall time; trouble: None, or why it has no reading."""

    collector: str
    seconds: float
    trouble: str | None


class Snapshot(NamedTuple):
    """All readings of one moment (at_seconds: since the epoch)."""

    at_seconds: float
    memory: Maybe[MemoryReading]
    cpu: Maybe[CpuReading]
    pids: Maybe[PidsReading]
    pressure: Maybe[PressureReading]
    disks: Maybe[tuple[Disk, ...]]
    tree: Maybe[Tree]
    took: tuple[Took, ...]


def find_groups(pid: int | str = "self", root: str = "/") -> Groups:
    """Where a process stands; good for as long as it stays in its group."""
    return Groups(*(find_group(name, pid, root) for name in Groups._fields))


def take_snapshot(
    groups: Groups,
    paths: Iterable[str],
    leader: Identity | None,
    root: str = "/",
    look_remote: Callable[[str], Maybe[Room]] = look_at_room,
    tree_of: Callable[[Identity], Maybe[Tree]] | None = None,
) -> Snapshot:
    """Read everything. A collector that fails costs its own reading only.

    groups: of the process that the picture is about. paths: what the run touches. leader: whose processes are its own.
    look_remote: see `read_disks`. tree_of: reads the leader's processes (default: `read_tree`).
    """
    took: list[Took] = []
    pid = leader.pid if leader is not None else "self"
    memory = groups.memory
    return Snapshot(
        wall(),
        _timed(took, "memory", lambda: read_memory(memory, root)),
        _timed(took, "cpu", lambda: read_cpu(groups.cpu, groups.cpuacct, pid, root)),
        _timed(took, "pids", lambda: read_pids(groups.pids)),
        _timed(took, "pressure", lambda: read_pressure(memory, root)),
        _timed(took, "disks", lambda: read_disks(paths, root, look_remote=look_remote)),
        _timed(took, "tree", lambda: _tree(leader, tree_of or (lambda one: read_tree(one, root)))),
        tuple(took),
    )


def _tree(leader: Identity | None, tree_of: Callable[[Identity], Maybe[Tree]]) -> Maybe[Tree]:
    return Absent("no stage runs") if leader is None else tree_of(leader)


def _timed(took: list[Took], name: str, read: Callable[[], Maybe[T]]) -> Maybe[T]:
    began = time.monotonic()
    try:
        value = read()
    except (OSError, ValueError) as error:
        value = Unseen(f"{type(error).__name__}: {error}")
    trouble = value.why if isinstance(value, Unseen) else None
    took.append(Took(name, round(time.monotonic() - began, 6), trouble))
    return value
