"""Facts as the checks get them: a healthy box, to be spoiled in one respect at a time."""

from __future__ import annotations

from typing import Any

from onbox.chain.gates.start_gates import GateSight
from onbox.collectors.cpu import CpuReading, PidsReading
from onbox.collectors.disk import Disk, Room
from onbox.collectors.memory import HostMemory, MemoryReading
from onbox.collectors.pressure import PressureReading
from onbox.collectors.snapshot import Snapshot
from onbox.contract.paths import RunPaths
from onbox.contract.readings import Absent
from onbox.preflight.report import CheckFacts

GB = 10**9
NONE = Absent("none")
MEMORY = MemoryReading(2, "/g", 8 * GB, 2 * GB, 1 * GB, GB, 2 * GB, 0, 0, HostMemory(512 * GB, 400 * GB))
CPU = CpuReading(4.0, 4, 4.0, 100.0, 0, 0.0, (1.0, 1.0, 1.0), 4)
ROOM = Room(500 * GB, 1000 * GB, 400 * GB, 900_000, 1_000_000)
DISK = Disk("/data", "ext4", "/dev/x", False, ("/data",), ROOM)
SHM = Disk("/dev/shm", "tmpfs", "tmpfs", False, ("/dev/shm",), Room(8 * GB, 8 * GB, 0, 10, 10))
SNAPSHOT = Snapshot(
    0.0, MEMORY, CPU, PidsReading(10, 4096), PressureReading(False, NONE, NONE, NONE), (DISK, SHM), NONE, ()
)


def never(*_: object) -> Any:
    raise AssertionError("not to be looked at here")


def facts(root: str = "/", folder: str = "/", environ: dict[str, str] | None = None, **changes: Any) -> CheckFacts:
    """Facts of a healthy box. changes: of the snapshot, or of the facts themselves."""
    of_snapshot = {key: value for key, value in changes.items() if key in Snapshot._fields}
    of_facts = {key: value for key, value in changes.items() if key not in Snapshot._fields}
    base = CheckFacts(
        folder,
        "",
        "",
        (),
        (),
        RunPaths(f"{folder}/.onbox/digits"),
        environ or {},
        SNAPSHOT._replace(**of_snapshot),
        NONE,
        NONE,
        lambda _: GateSight(never, never, never, never),
        root,
    )
    return base._replace(**of_facts)
