"""What must be free before a stage starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from onbox.chain.gates.start_gates import GateSight, bytes_present, check_gates
from onbox.collectors.disk import NOT_COUNTED, Disk, Room, read_disks
from onbox.collectors.gpu.nvml import GpuCard, LostGpu
from onbox.collectors.memory import HostMemory, MemoryReading
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.model.manifest import Amount, CheckpointGate, Gates, GpuGate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

ROOM = Room(5_000_000, 100_000_000, 90_000_000, 100, 1000)
UNCOUNTED = ROOM._replace(inodes_free=NOT_COUNTED, inodes_total=NOT_COUNTED)
GB = 10**9
NONE = Absent("no cgroup")
MEMORY = MemoryReading(
    2, "/sys/fs/cgroup", 8 * GB, 7 * GB, 6 * GB, 5 * GB, 7 * GB, 0, 0, HostMemory(512 * GB, 300 * GB)
)


def card(number: int, used: Maybe[int]) -> GpuCard:
    """A card of which only the memory in use matters."""
    other: Any = Absent("not asked")
    blank = GpuCard(number, *[other] * (len(GpuCard._fields) - 1))
    return blank._replace(memory_used_bytes=used)


def never(*_: object) -> Any:
    raise AssertionError("looked at without need")


def one_disk(room: Maybe[Room]) -> Callable[[Iterable[str]], Maybe[tuple[Disk, ...]]]:
    return lambda paths: tuple(Disk(path, "ext4", "/dev/x", False, (path,), room) for path in dict.fromkeys(paths))


THREE_LESS_ONE = "3 x 3.0 MB + 0 B scratch less 3.0 MB there already"
SIGHT = GateSight(never, never, never, never)


def refusals(gates: Gates, sight: GateSight) -> list[str]:
    return [str(finding) for finding in check_gates(gates, "/data", "/data", sight)]


def disk(number: int | None = None, percent: float | None = None) -> Gates:
    return Gates(disk_free=Amount(number, percent))


def inodes(number: int | None = None, percent: float | None = None) -> Gates:
    return Gates(inodes_free=Amount(number, percent))


@pytest.mark.parametrize(
    ("refused", "gates", "room"),
    [
        ([], disk(5_000_000), ROOM),
        (["disk_free: 5.0 MB free at /data, wanted 5.0 MB"], disk(5_000_001), ROOM),
        ([], disk(percent=5.0), ROOM),
        (["disk_free: 5.0 MB free at /data, wanted 6.0 MB"], disk(percent=6.0), ROOM),
        (["disk_free: 0 B free at /data, wanted 1 B"], disk(1), ROOM._replace(bytes_free=0)),
        ([], disk(0), ROOM._replace(bytes_free=0)),
        ([], inodes(100), ROOM),
        (["inodes_free: 100 of 1000 inodes free at /data, wanted 101"], inodes(101), ROOM),
        ([], inodes(percent=10.0), ROOM),
        (["inodes_free: 100 of 1000 inodes free at /data, wanted 110"], inodes(percent=11.0), ROOM),
        (["inodes_free: 0 of 1000 inodes free at /data, wanted 1"], inodes(1), ROOM._replace(inodes_free=0)),
        ([], inodes(10**9), UNCOUNTED),
        ([], inodes(percent=100.0), UNCOUNTED),
        (["disk: could not look at /data (stale handle), wanted a file system"], disk(1), Unseen("stale handle")),
    ],
)
def test_a_disk_gate_refuses_with_what_it_saw(refused: list[str], gates: Gates, room: Maybe[Room]) -> None:
    assert refused == refusals(gates, SIGHT._replace(disks=one_disk(room)))


def test_every_gate_and_every_disk_is_asked_at_once() -> None:
    gates = Gates(disk_free=Amount(10**9), inodes_free=Amount(500), memory_free=Amount(100 * GB))
    sight = SIGHT._replace(disks=one_disk(ROOM), memory=lambda: MEMORY)
    assert [finding.gate for finding in check_gates(gates, "/a", "/b", sight)] == [
        "disk_free",
        "inodes_free",
        "disk_free",
        "inodes_free",
        "memory_free",
    ]


def test_without_gates_nothing_is_looked_at() -> None:
    assert check_gates(Gates(), "/data", "/data", SIGHT) == []


@pytest.mark.parametrize(
    ("refused", "amount", "memory"),
    [
        ([], Amount(3 * GB), MEMORY),
        (["memory_free: 3.0 GB free of the container's limit of 8.0 GB, wanted 3.0 GB"], Amount(3 * GB + 1), MEMORY),
        ([], Amount(percent=37.5), MEMORY),
        (["memory_free: 3.0 GB free of the container's limit of 8.0 GB, wanted 3.2 GB"], Amount(percent=40.0), MEMORY),
        ([], Amount(300 * GB), MEMORY._replace(limit_bytes=Absent("max"))),
        (
            ["memory_free: 300.0 GB free of the whole machine, wanted 400.0 GB"],
            Amount(400 * GB),
            MEMORY._replace(limit_bytes=Absent("max")),
        ),
        (
            ["memory_free: 1.0 GB free of the container's limit of 8.0 GB, wanted 2.0 GB"],
            Amount(2 * GB),
            MEMORY._replace(host=HostMemory(512 * GB, 1 * GB)),
        ),
        (
            ["memory_free: could not look (memory.max: Permission denied), wanted a readable limit"],
            Amount(1),
            MEMORY._replace(limit_bytes=Unseen("memory.max: Permission denied")),
        ),
        ([], Amount(300 * GB), MEMORY._replace(version=0, limit_bytes=Absent("no cgroup"), held_bytes=NONE)),
    ],
)
def test_memory_is_measured_against_the_limit(refused: list[str], amount: Amount, memory: MemoryReading) -> None:
    assert refused == refusals(Gates(memory_free=amount), SIGHT._replace(memory=lambda: memory))


@pytest.mark.parametrize(
    ("refused", "gate", "gpus"),
    [
        ([], GpuGate(1, 500), (card(0, 100 << 20),)),
        ([], GpuGate(2, None), (card(0, 10**12), card(1, 0))),
        (
            ["gpu: 1 of 2 visible: GPU 0 100 MiB in use; GPU 1 501 MiB in use, wanted 2 with at most 500 MiB in use"],
            GpuGate(2, 500),
            (card(0, 100 << 20), card(1, 501 << 20)),
        ),
        (["gpu: none (no NVIDIA device), wanted 1"], GpuGate(1, None), Absent("no NVIDIA device")),
        (["gpu: could not look (driver mismatch), wanted 1"], GpuGate(1, None), Unseen("driver mismatch")),
        (["gpu: 0 of 0 visible: none, wanted 1"], GpuGate(1, None), ()),
        (
            ["gpu: 0 of 1 visible: GPU 0 not known (fell off the bus), wanted 1"],
            GpuGate(1, None),
            (LostGpu(0, "fell off the bus"),),
        ),
        (
            ["gpu: 0 of 1 visible: GPU 0 not known (not supported), wanted 1 with at most 0 MiB in use"],
            GpuGate(1, 0),
            (card(0, Absent("not supported")),),
        ),
    ],
)
def test_gpus_are_counted_by_memory_in_use(refused: list[str], gate: GpuGate, gpus: Any) -> None:
    assert refused == refusals(Gates(gpu=gate), SIGHT._replace(gpus=lambda: gpus))


@pytest.mark.parametrize(
    ("refused", "gate", "present"),
    [
        ([], CheckpointGate(1_000_000, 5), (0, 0)),
        (
            ["checkpoints: 5.0 MB free at /data/ckpt, wanted 6.0 MB (3 x 1.0 MB + 3.0 MB scratch)"],
            CheckpointGate(1_000_000, 3, 3_000_000),
            (0, 0),
        ),
        ([], CheckpointGate(3_000_000, 3), (4_000_000, 2)),
        (
            [f"checkpoints: 5.0 MB free at /data/ckpt, wanted 6.0 MB ({THREE_LESS_ONE})"],
            CheckpointGate(3_000_000, 3),
            (3_000_000, 1),
        ),
        ([], CheckpointGate(1_000_000, 3), (10**12, 1)),
        (
            ["checkpoints: 100 inodes free at /data/ckpt, wanted 120 (3 x 50 files, 30 there already)"],
            CheckpointGate(1, 3, files=50),
            (0, 30),
        ),
    ],
)
def test_checkpoints_need_bytes_and_inodes(refused: list[str], gate: CheckpointGate, present: tuple[int, int]) -> None:
    sight = SIGHT._replace(disks=one_disk(ROOM), present=lambda _: present)
    assert refused == refusals(Gates(checkpoints=gate._replace(path="ckpt")), sight)


def test_a_real_folder_has_room_even_before_it_is_made(tmp_path: Path) -> None:
    sight = SIGHT._replace(disks=read_disks, present=bytes_present)
    here = str(tmp_path)
    assert check_gates(disk(1), here, str(tmp_path / "not" / "yet"), sight) == []
    assert [f.gate for f in check_gates(disk(1 << 62), here, here, sight)] == ["disk_free"]


def test_what_lies_in_a_folder_is_counted(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to("/usr")
    size, count = bytes_present(str(tmp_path))
    assert count == 1
    assert 100_000 <= size <= 200_000
    assert bytes_present(str(tmp_path / "gone")) == (0, 0)
