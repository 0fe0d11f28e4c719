"""What must be free before a stage starts."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from onbox.chain.checks import Finding
from onbox.chain.gates import Room, check_gates, look_at_room
from onbox.contract.manifest import Amount, Gates

if TYPE_CHECKING:
    from pathlib import Path

ROOM = Room("/data", bytes_free=5_000_000, bytes_total=100_000_000, inodes_free=100, inodes_total=1000)
UNCOUNTED = ROOM._replace(inodes_free=0, inodes_total=None)


def disk(number: int | None = None, percent: float | None = None) -> Gates:
    return Gates(disk_free=Amount(number, percent))


def inodes(number: int | None = None, percent: float | None = None) -> Gates:
    return Gates(inodes_free=Amount(number, percent))


@pytest.mark.parametrize(
    ("refused", "gates", "room"),
    [
        ([], Gates(), ROOM._replace(bytes_free=0, inodes_free=0)),
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
    ],
)
def test_a_gate_refuses_with_what_it_saw(refused: list[str], gates: Gates, room: Room) -> None:
    assert refused == [str(finding) for finding in check_gates(gates, ["/data"], lambda _: room)]


def test_every_gate_and_every_path_is_asked_at_once() -> None:
    gates = Gates(disk_free=Amount(10**9), inodes_free=Amount(500))
    found = check_gates(gates, ["/a", "/b", "/a"], lambda path: ROOM._replace(path=path))
    assert [(finding.gate, finding.seen.split()[-1]) for finding in found] == [
        ("disk_free", "/a"),
        ("inodes_free", "/a"),
        ("disk_free", "/b"),
        ("inodes_free", "/b"),
    ]


def test_a_path_that_cannot_be_looked_at_refuses() -> None:
    def look(path: str) -> Room:
        raise OSError(errno.EACCES, "Permission denied", path)

    assert [Finding("disk", "could not look at /data (Permission denied)", "a readable file system")] == check_gates(
        disk(1), ["/data"], look
    )


def test_without_gates_nothing_is_looked_at() -> None:
    def look(path: str) -> Room:
        raise AssertionError(path)

    assert check_gates(Gates(), ["/data"], look) == []


def test_a_real_folder_has_room_and_a_missing_one_refuses(tmp_path: Path) -> None:
    room = look_at_room(str(tmp_path))
    assert 0 <= room.bytes_free <= room.bytes_total
    assert room.inodes_total is None or 0 <= room.inodes_free <= room.inodes_total
    assert check_gates(disk(0), [str(tmp_path)]) == []
    assert [finding.gate for finding in check_gates(disk(0), [str(tmp_path / "gone")])] == ["disk"]
