"""Room for a user, and for what is not counted no number."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from onbox.collectors.disk import Disk, Room, look_at_room, read_disks, room_from
from onbox.contract.readings import Absent, Unseen
from tests.trees import plant, seen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MINUS_ONE = (1 << 64) - 1
ROOM = Room(5, 10, 4, 3, 6)


def statvfs(
    blocks: int = 1000, free: int = 400, avail: int = 400, files: int = 100, files_free: int = 60, size: int = 4096
) -> os.statvfs_result:
    return os.statvfs_result((size, size, blocks, free, avail, files, files_free, files_free, 0, 255))


# -- the meaning of an answer


def test_room_for_a_user_leaves_out_the_reserve() -> None:
    room = room_from(statvfs(blocks=1000, free=300, avail=250))
    assert (room.bytes_free, room.bytes_total, room.bytes_used) == (250 * 4096, 1000 * 4096, 700 * 4096)
    assert room.bytes_used_percent == pytest.approx(100 * 700 / 950)


def test_a_full_disk_is_full_though_root_has_a_reserve() -> None:
    room = room_from(statvfs(blocks=1000, free=50, avail=0))
    assert (room.bytes_free, room.bytes_used_percent) == (0, 100.0)


@pytest.mark.parametrize(
    ("name", "files", "files_free"),
    [
        ("btrfs", 0, 0),
        ("cephfs", 0, MINUS_ONE),
        ("cephfs", 1000, MINUS_ONE),
        ("odd", MINUS_ONE, MINUS_ONE),
        ("more", 5, 6),
    ],
)
def test_inodes_that_are_not_counted_are_absent(name: str, files: int, files_free: int) -> None:
    room = room_from(statvfs(files=files, files_free=files_free))
    assert isinstance(room.inodes_total, Absent), name
    assert isinstance(room.inodes_free, Absent)
    assert room.inodes_used_percent is None
    assert room.bytes_free == 400 * 4096


@pytest.mark.parametrize(("percent", "files_free"), [(40.0, 60), (100.0, 0), (0.0, 100)])
def test_counted_inodes_have_a_share(percent: float, files_free: int) -> None:
    room = room_from(statvfs(files=100, files_free=files_free))
    assert (100, files_free, percent) == (room.inodes_total, room.inodes_free, room.inodes_used_percent)


def test_a_project_quota_is_the_size() -> None:
    """xfs with pquota answers statvfs of the folder with the quota's numbers."""
    room = room_from(statvfs(blocks=262144, free=1024, avail=1024, files=5000, files_free=1))
    assert (room.bytes_total, room.bytes_free, room.inodes_free) == (1 << 30, 4 << 20, 1)


def test_a_file_system_of_no_size_has_no_share() -> None:
    assert room_from(statvfs(blocks=0, free=0, avail=0)).bytes_used_percent is None


# -- looking


def answer(monkeypatch: pytest.MonkeyPatch, told: os.statvfs_result) -> None:
    """The system call answers so."""
    monkeypatch.setattr(os, "statvfs", lambda path: told)


@pytest.mark.parametrize(
    "told",
    [
        statvfs(blocks=0, free=0, avail=0),
        statvfs(blocks=MINUS_ONE, free=MINUS_ONE, avail=MINUS_ONE),
        statvfs(blocks=MINUS_ONE >> 20, free=0, avail=0, size=1 << 20),
    ],
)
def test_a_size_of_nothing_or_minus_one_is_unseen(monkeypatch: pytest.MonkeyPatch, told: os.statvfs_result) -> None:
    answer(monkeypatch, told)
    assert isinstance(look_at_room("/mnt/x"), Unseen)


def test_the_largest_real_size_is_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, statvfs(blocks=8796093022207, free=8796093022207, avail=8796093022207, size=1 << 20))  # EFS
    assert isinstance(look_at_room("/mnt/efs"), Room)


def test_a_folder_to_come_has_the_room_above_it(tmp_path: Path) -> None:
    here, ahead = look_at_room(str(tmp_path)), look_at_room(str(tmp_path / "not" / "yet" / "there"))
    assert isinstance(here, Room)
    assert isinstance(ahead, Room)
    assert here.bytes_total == ahead.bytes_total


@pytest.mark.parametrize("path", ["", "relative/and/gone"])
def test_a_path_that_leads_nowhere_is_looked_up_from_here(path: str, tmp_path: Path) -> None:
    assert isinstance(look_at_room(str(tmp_path / path)), Room)


def test_a_loop_of_links_is_unseen(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    found = look_at_room(str(tmp_path / "loop" / "x"))
    assert isinstance(found, Unseen)
    assert "loop" in found.why


def test_a_path_through_a_file_is_unseen(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert isinstance(look_at_room(str(tmp_path / "file" / "x")), Unseen)


# -- which file systems


def table(tmp_path: Path, *mounts: tuple[str, str]) -> str:
    lines = ["27 1 254:0 / / rw - ext4 /dev/vda rw\n"]
    lines += [
        f"{number} 27 0:{number} / {where} rw - {kind} src rw\n" for number, (where, kind) in enumerate(mounts, 50)
    ]
    return plant(tmp_path / "box", {"proc/self/mountinfo": "".join(lines)})


def test_each_file_system_is_looked_at_once(tmp_path: Path) -> None:
    root = table(tmp_path, ("/no/data", "xfs"))
    asked: list[str] = []

    def look(path: str) -> Room:
        asked.append(path)
        return ROOM

    disks = read_disks(["/no/data/a", "/no/run", "/no/data/b", "/no/run"], root, look, look)
    assert (
        Disk("/no/data", "xfs", "src", read_only=False, paths=("/no/data/a", "/no/data/b"), room=ROOM),
        Disk("/", "ext4", "/dev/vda", read_only=False, paths=("/no/run",), room=ROOM),
    ) == disks
    assert asked == ["/no/data/a", "/no/run"]


def test_what_may_hang_is_left_to_the_bounded_look(tmp_path: Path) -> None:
    root = table(tmp_path, ("/no/nfs", "nfs4"), ("/no/fuse", "fuse.sshfs"))

    def look(path: str) -> Room:
        raise AssertionError(f"touched {path}")

    disks = seen(read_disks(["/no/nfs/run", "/no/fuse/x"], root, look, lambda path: Unseen(f"silent: {path}")))
    assert [Unseen("silent: /no/nfs/run"), Unseen("silent: /no/fuse/x")] == [disk.room for disk in disks]


def test_one_sick_disk_costs_only_its_own_room(tmp_path: Path) -> None:
    root = table(tmp_path, ("/no/sick", "xfs"))
    disks = seen(read_disks(["/no/sick", "/no/run"], root, lambda path: Unseen("EIO") if "sick" in path else ROOM))
    assert [Unseen("EIO"), ROOM] == [disk.room for disk in disks]


def test_an_overlay_root_is_a_disk(tmp_path: Path) -> None:
    root = plant(tmp_path, {"proc/self/mountinfo": "1 0 0:285 / / rw - overlay overlay rw,lowerdir=/l\n"})
    assert (Disk("/", "overlay", "overlay", read_only=False, paths=("/w",), room=ROOM),) == read_disks(
        ["/w"], root, lambda path: ROOM
    )


def test_a_path_on_no_known_mount_is_looked_at_with_care(tmp_path: Path) -> None:
    root = plant(tmp_path, {"proc/self/mountinfo": ""})
    disks = seen(read_disks(["/w"], root, lambda path: ROOM, lambda path: Unseen("asked with care")))
    assert ("?", Unseen("asked with care")) == (disks[0].mount, disks[0].room)


def test_without_a_mount_table_nothing_is_known(tmp_path: Path) -> None:
    assert isinstance(read_disks(["/"], str(tmp_path)), Unseen)


# -- this machine


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A real tmpfs of 1 MiB and 8 inodes."""
    where = tmp_path / "small"
    where.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=8", "onbox-test", str(where)]
    try:
        done = subprocess.run(words, check=False, capture_output=True)
    except FileNotFoundError:
        pytest.skip("needs mount(8)")
    if done.returncode != 0:
        pytest.skip("needs the right to mount")
    yield where
    subprocess.run(["umount", str(where)], check=True)


@pytest.mark.root
def test_real_inodes_run_out_before_bytes(mounted: Path) -> None:
    for number in range(7):  # the root of the mount is the eighth
        (mounted / str(number)).touch()
    with pytest.raises(OSError, match="No space left"):
        (mounted / "one_more").touch()
    (disk,) = seen(read_disks([str(mounted / "ckpt" / "new")]))
    assert (str(mounted), "tmpfs", "onbox-test") == (disk.mount, disk.kind, disk.source)
    assert isinstance(disk.room, Room)
    assert (disk.room.inodes_total, disk.room.inodes_free, disk.room.inodes_used_percent) == (8, 0, 100.0)
    assert disk.room.bytes_free == disk.room.bytes_total == 1 << 20


@pytest.mark.root
def test_a_dangling_link_has_its_targets_room(mounted: Path) -> None:
    link = mounted.parent / "ckpt"
    link.symlink_to(mounted / "not" / "yet")
    (disk,) = seen(read_disks([str(link / "step-1")]))
    assert isinstance(disk.room, Room)
    assert (str(mounted), 1 << 20) == (disk.mount, disk.room.bytes_total)
