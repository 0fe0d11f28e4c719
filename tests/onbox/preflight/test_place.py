"""State, disks, shared memory and clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.contract.readings import Unseen
from onbox.preflight.place import check_disks, check_state
from tests.onbox.preflight.facts import DISK, GB, ROOM, SHM, facts

if TYPE_CHECKING:
    from pathlib import Path

    from onbox.collectors.disk import Disk


def seen(*disks: Disk) -> list[tuple[str, str]]:
    return [(result.verdict.value, result.check) for result in check_disks(facts(disks=disks))]


@pytest.mark.parametrize(
    ("expected", "disks"),
    [
        ([("PASS", "disk /data"), ("PASS", "shm")], (DISK, SHM)),
        ([("WARN", "disk /data"), ("PASS", "shm")], (DISK._replace(room=ROOM._replace(bytes_free=GB)), SHM)),
        ([("WARN", "disk /data"), ("PASS", "shm")], (DISK._replace(room=ROOM._replace(inodes_free=99_000)), SHM)),
        ([("FAIL", "disk /data"), ("PASS", "shm")], (DISK._replace(read_only=True), SHM)),
        ([("WARN", "disk /data"), ("PASS", "shm")], (DISK._replace(room=Unseen("stale")), SHM)),
        ([("PASS", "disk /data"), ("WARN", "shm")], (DISK, SHM._replace(room=ROOM._replace(bytes_total=64 << 20)))),
        ([("PASS", "disk /data"), ("WARN", "shm")], (DISK,)),
    ],
)
def test_disks_are_judged(expected: list[tuple[str, str]], disks: tuple[Disk, ...]) -> None:
    assert seen(*disks) == expected


def test_the_state_folder_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    results = list(check_state(facts(folder=str(tmp_path))))
    assert {result.check for result in results} == {"state", "clock"}
    assert list(tmp_path.iterdir()) == []
