"""Which mount a path lies on: links followed, and nothing touched that could hang."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.collectors.mounts import Mount, locate, mount_of, parse_mounts, read_link, read_mounts
from onbox.contract.readings import Absent, Unseen
from tests.trees import OTHER_MOUNTS, plant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

BOX = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
24 27 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw,mode=755
30 24 0:27 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=24684084k
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 259:1 / /data rw,relatime shared:7 master:2 propagate_from:9 - xfs /dev/nvme0n1p1 rw,prjquota
41 40 0:50 / /data/fast rw,relatime - tmpfs fast rw
42 27 0:51 / /mnt/nfs rw,relatime - nfs4 filer:/export rw,vers=4.2,hard
43 42 259:2 / /mnt/nfs/scratch rw,relatime - ext4 /dev/sdb rw
44 27 0:52 / /mnt/home rw,relatime - fuse.sshfs me@host: rw,user_id=0
45 27 0:53 / /mnt/read ro,relatime - ext4 /dev/sdc rw
46 27 0:54 / /mnt/sick rw,relatime - ext4 /dev/sdd ro,errors=remount-ro
47 27 0:55 / /net rw,relatime - autofs systemd-1 rw,fd=44,direct
"""


def links(known: Mapping[str, str], forbidden: tuple[str, ...] = ()) -> Callable[[str], str | None]:
    """A `link` function of these links, which fails the test when it is asked for what could hang."""

    def link(path: str) -> str | None:
        assert not any(path == place or path.startswith(place + "/") for place in forbidden), f"touched {path}"
        return known.get(path)

    return link


REMOTE = ("/mnt/nfs", "/mnt/home", "/net")


def point(path: str, known: Mapping[str, str] | None = None, box: str = BOX) -> str | None:
    mount = locate(path, parse_mounts(box), links(known or {}, REMOTE))
    return None if mount is None else mount.point


@pytest.mark.parametrize(
    ("wanted", "path"),
    [
        ("/", "/"),
        ("/", "/home/me/run"),
        ("/", "/database"),
        ("/data", "/data"),
        ("/data", "/data/run/ckpt"),
        ("/data/fast", "/data/fast/x"),
        ("/data", "/data/faster"),
        ("/dev/shm", "/dev/shm/torch"),
        ("/mnt/nfs", "/mnt/nfs/run"),
        ("/mnt/nfs", "/mnt/nfs"),
        ("/mnt/home", "/mnt/home/me/ckpt/../x"),
        ("/net", "/net/server/x"),
        ("/data", "//data/./run//x"),
    ],
)
def test_a_path_lies_on_the_nearest_mount(wanted: str, path: str) -> None:
    assert wanted == point(path)


@pytest.mark.parametrize(
    ("wanted", "path", "known"),
    [
        ("/data", "/run/ckpt", {"/run": "/data/run"}),
        ("/data/fast", "/home/a/b", {"/home/a": "../data/fast"}),
        ("/data/fast", "/one", {"/one": "two", "/two": "/three/x", "/three": "/data/fast"}),
        ("/mnt/nfs", "/home/run/x", {"/home/run": "/mnt/nfs/run"}),
        ("/mnt/nfs", "/home/run/x", {"/home/run": "/data/there", "/data/there": "../mnt/nfs"}),
        ("/", "/data/out", {"/data/out": "../home"}),
        ("/data", "/a/../run", {"/a": "/data/x/y"}),
        ("/data", "/../../data/x", {}),
        ("/", "/data/x", {"/data/x": "/"}),
        ("/data", "/data/dangling/x", {"/data/dangling": "/data/not/there"}),
    ],
)
def test_links_are_followed_as_the_kernel_does(wanted: str, path: str, known: dict[str, str]) -> None:
    assert wanted == point(path, known)


@pytest.mark.parametrize(
    "known",
    [
        {"/a": "a"},
        {"/a": "/a"},
        {"/a": "/b", "/b": "/a"},
        {"/a": "b/c", "/b": "a/d"},
        {"/a": "a/a/a"},
        {"/a": "../a/."},
    ],
)
def test_a_loop_of_links_lies_nowhere(known: dict[str, str]) -> None:
    assert point("/a/x", known) is None


def test_a_path_of_many_folders_is_no_loop() -> None:
    assert point("/data" + "/x" * 2000) == "/data"


@pytest.mark.parametrize("kind", ["fuse.fuse-overlayfs", "virtiofs", "9p", "fuse.squashfuse_ll", "nfs4"])
def test_a_root_of_any_kind_is_walked(kind: str) -> None:
    box = BOX.replace("/ / rw,relatime - ext4 /dev/vda", f"/ / rw,relatime - {kind} root")
    assert point("/data/run", box=box) == "/data"
    assert point("/home/run", {"/home/run": "/dev/shm/x"}, box) == "/dev/shm"
    mount = locate("/home", parse_mounts(box), links({}))
    assert mount is not None
    assert not mount.is_local


LOCAL = "ext4 xfs btrfs zfs overlay tmpfs proc".split()
REMOTE_KINDS = "nfs nfs4 cifs ceph lustre fuse.sshfs fuse.gcsfuse autofs 9p virtiofs new_in_2030".split()


@pytest.mark.parametrize("kind", LOCAL + REMOTE_KINDS)
def test_what_is_not_known_to_be_local_may_hang(kind: str) -> None:
    assert (kind in LOCAL) is Mount("/m", kind, "s", "0:1", read_only=False).is_local


def test_the_last_of_several_on_one_point_counts() -> None:
    mounts = parse_mounts("1 0 0:1 / /m rw - ext4 /dev/a rw\n2 1 0:2 / /m rw - tmpfs b rw\n")
    found = mount_of("/m/x", mounts)
    assert found is not None
    assert found.kind == "tmpfs"


def test_a_mount_line_is_read_whole() -> None:
    (mount,) = parse_mounts(
        "36 35 98:0 /sub\\040dir /mnt/a\\040b\\134c rw,noatime master:1 - nfs4 filer:/\\043x rw,hard\n"
    )
    assert Mount("/mnt/a b\\c", "nfs4", "filer:/#x", "98:0", read_only=False) == mount


@pytest.mark.parametrize(("read_only", "path"), [(False, "/data"), (True, "/mnt/read"), (True, "/mnt/sick")])
def test_read_only_comes_from_the_mount_or_the_disk(path: str, *, read_only: bool) -> None:
    mount = mount_of(path, parse_mounts(BOX))
    assert mount is not None
    assert read_only is mount.read_only


@pytest.mark.parametrize(
    "junk", ["", " - ", "garbage", "1 2 3 / /x rw - ", "1 2 0:3 / /x - ext4 a rw", "\udcff - \udcff"]
)
def test_junk_among_mounts_is_passed_over(junk: str) -> None:
    assert [mount.point for mount in parse_mounts(f"{junk}\n27 1 254:0 / / rw - ext4 /dev/vda rw\n{junk}")] == ["/"]


def test_odd_characters_end_no_line() -> None:
    name = "/a\rb\x0cc\x85d\u2028e"
    assert [mount.point for mount in parse_mounts(f"27 1 254:0 / {name} rw - ext4 /dev/vda rw\n")] == [name]


def test_an_empty_source_is_a_source() -> None:
    (mount,) = parse_mounts("27 1 0:5 / /x rw - tmpfs  rw\n")
    assert (mount.kind, mount.source) == ("tmpfs", "")


def test_thousands_of_mounts_are_told_apart() -> None:
    line = "{0} 27 0:{0} / /pods/{0}/volume rw,relatime - tmpfs tmpfs rw\n"
    box = BOX + "".join(line.format(number) for number in range(100, 5000))
    assert point("/pods/4321/volume/x", box=box) == "/pods/4321/volume"
    assert point("/pods/99/volume/x", box=box) == "/"


def test_without_any_mount_nothing_is_located() -> None:
    assert locate("/a", [], links({}, ("/",))) is None


def test_a_containers_mounts_are_read(tmp_path: Path) -> None:
    mounts = read_mounts(plant(tmp_path, {"proc/self/mountinfo": OTHER_MOUNTS}))
    assert isinstance(mounts, list)
    assert [mount.kind for mount in mounts] == ["overlay", "proc", "tmpfs", "devpts", "sysfs"]


def test_unreadable_mounts_keep_the_reason(tmp_path: Path) -> None:
    assert isinstance(read_mounts(str(tmp_path)), Absent)
    assert isinstance(read_mounts(plant(tmp_path, {"proc/self/mountinfo/": ""})), Unseen)


def test_only_a_link_has_a_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("some/where")
    assert read_link(str(tmp_path / "link")) == "some/where"
    assert read_link(str(tmp_path)) is None
    assert read_link(str(tmp_path / "gone")) is None


def test_real_links_lead_to_the_real_mount(tmp_path: Path) -> None:
    mounts = read_mounts()
    assert isinstance(mounts, list)
    (tmp_path / "to_proc").symlink_to("/proc/self")
    (tmp_path / "loop").symlink_to("loop/x")
    there = locate(str(tmp_path / "to_proc" / "fd"), mounts)
    assert there is not None
    assert (there.point, there.kind) == ("/proc", "proc")
    assert locate(str(tmp_path / "loop"), mounts) is None
    here = locate(str(tmp_path), mounts)
    assert here is not None
    device = os.stat(tmp_path).st_dev
    assert f"{os.major(device)}:{os.minor(device)}" == here.device
