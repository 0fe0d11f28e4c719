"""Where a process stands in the cgroup trees, in every shape that boxes have."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from onbox.collectors.groups import ControlGroup, find_group, parse_group_mounts, parse_memberships, tightest, unescape
from onbox.contract.readings import Absent, Unseen
from tests.box import REPOSITORY
from tests.trees import plant, process, v1_memory, v1_mount, v2_memory, v2_mount

if TYPE_CHECKING:
    from pathlib import Path

CGROUP = "sys/fs/cgroup"
POD = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-9f.scope"
SYSTEMD_HYBRID = "12:memory:/user.slice\n5:cpu,cpuacct:/user.slice\n1:name=systemd:/user.slice/s.scope\n0::{}\n"


class Shape(NamedTuple):
    """version: that the memory controller has. levels: below /sys/fs/cgroup, own first. folders: what is there."""

    version: int
    levels: tuple[str, ...]
    cgroup: str
    mounts: str
    folders: tuple[str, ...]


def v2(levels: tuple[str, ...], path: str, shown: str = "/") -> Shape:
    return Shape(2, levels, f"0::{path}\n", v2_mount(shown), levels)


def v1(levels: tuple[str, ...], path: str, shown: str = "/", mounts: str = "") -> Shape:
    cgroup = f"11:pids:/\n4:memory:{path}\n3:cpu,cpuacct:/\n1:name=systemd:/\n0::/\n"
    return Shape(1, levels, cgroup, mounts or v1_mount("memory", shown), levels)


SHAPES = {
    "v2 on a host": v2(
        ("user.slice/user-0.slice/session-3.scope", "user.slice/user-0.slice", "user.slice", ""),
        "/user.slice/user-0.slice/session-3.scope",
    ),
    "v2 in a container of its own namespace": v2(("",), "/"),
    "v2 below a namespace's root": v2(("init.scope", ""), "/init.scope"),
    "v2 with the host's namespace, whole tree mounted": v2(("docker/abc", "docker", ""), "/docker/abc"),
    "v2 with the host's path, own group mounted": v2(("",), "/docker/abc", "/docker/abc"),
    "v2 with the host's path, the mount says root": Shape(2, ("",), "0::/docker/abc\n", v2_mount(), ("",)),
    "pod with its own namespace": v2(("",), "/"),
    "pod with the host's namespace": v2(
        (
            POD[1:],
            "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice",
            "kubepods.slice/kubepods-burstable.slice",
            "kubepods.slice",
            "",
        ),
        POD,
    ),
    "pod with the host's path, its slice mounted": v2(
        ("cri-containerd-9f.scope", ""), POD, POD.removesuffix("/cri-containerd-9f.scope")
    ),
    "enroot: the leaf alone is mounted": v2(
        ("",), "/slurm/uid_7/job_1/step_0/task_0", "/slurm/uid_7/job_1/step_0/task_0"
    ),
    "v1 in docker": v1(("memory",), "/docker/abc", "/docker/abc"),
    "v1 in docker, in a group of its own": v1(("memory/job", "memory"), "/docker/abc/job", "/docker/abc"),
    "v1 where the mount is the group already": v1(("memory",), "/docker/abc"),
    "v1 nested, whole tree mounted": v1(("memory/process_api/a56", "memory/process_api", "memory"), "/process_api/a56"),
    "v1 with controllers together": Shape(
        1, ("cpu,memory/a", "cpu,memory"), "3:cpu,memory:/a\n", v1_mount("cpu,memory"), ("cpu,memory/a",)
    ),
    "hybrid with an empty v2 line": v1(
        ("memory/a", "memory"), "/a", mounts=v1_mount("memory") + v2_mount("/", "/sys/fs/cgroup/unified")
    ),
    "systemd hybrid": Shape(
        1,
        ("memory/user.slice", "memory"),
        SYSTEMD_HYBRID.format("/user.slice/session-3.scope"),
        v2_mount("/", "/sys/fs/cgroup/unified")
        + "35 25 0:30 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
        + v1_mount("memory"),
        ("memory/user.slice", "unified/user.slice/session-3.scope"),
    ),
    "hostile name": v2(("a b:c\\d", ""), "/a b:c\\d"),
    "line ends that are none": v2(("a\x0cb\x85c\rd", ""), "/a\x0cb\x85c\rd"),
    "escaped mount root": v2(("x", ""), "/a b\\040/x", "/a\\040b\\134040"),
    "escaped mount point": Shape(
        1, ("my mem/a", "my mem"), "4:memory:/a\n", v1_mount("memory", "/", "/sys/fs/cgroup/my\\040mem"), ("my mem/a",)
    ),
    "the second mount has it by name": v1(
        ("memory/me", "memory"),
        "/me",
        mounts=v1_mount("memory", "/other", "/sys/fs/cgroup/elsewhere") + v1_mount("memory"),
    )._replace(folders=("elsewhere", "memory/me")),
    "beside the namespace's root, which is mounted": v2(("b", ""), "/../b", "/.."),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_levels_of_memory_are_found(tmp_path: Path, name: str) -> None:
    shape = SHAPES[name]
    files = process(shape.cgroup, shape.mounts)
    for folder in shape.folders:
        place = f"{CGROUP}/{folder}".rstrip("/")
        files |= v2_memory(place, 1) if shape.version == 2 else v1_memory(place, 1)
    root = plant(tmp_path, files)
    wanted = ControlGroup(shape.version, tuple(f"{root}/{CGROUP}/{level}".rstrip("/") for level in shape.levels))
    assert wanted == find_group("memory", root=root)


OUTSIDE = {
    "host tree mounted into a namespace of its own": ("4:memory:/\n", v1_mount("memory", "/../..")),
    "two up, one below": ("4:memory:/../b\n", v1_mount("memory", "/../..")),
    "process outside of the namespace": ("4:memory:/../user.slice\n", v1_mount("memory")),
    "v2 host tree mounted into a namespace of its own": ("0::/\n", v2_mount("/../../..")),
    "v2 process outside of the namespace": ("0::/../user.slice\n", v2_mount()),
    "partial sys": ("4:memory:/a\n", v1_mount("memory", "/", "/not/there")),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_group_that_is_not_shown_is_unseen(tmp_path: Path, name: str) -> None:
    root = plant(
        tmp_path,
        {
            **process(*OUTSIDE[name]),
            **v1_memory(f"{CGROUP}/memory", 1),
            **v2_memory(CGROUP, 1),
            f"{CGROUP}/memory/b/": "",
        },
    )
    assert isinstance(find_group("memory", root=root), Unseen)


def test_a_leaf_without_the_controller_is_charged_above(tmp_path: Path) -> None:
    files = {
        **process("0::/user.slice/app\n", v2_mount()),
        f"{CGROUP}/user.slice/app/cpu.stat": "usage_usec 5\n",
        f"{CGROUP}/user.slice/cpu.weight": "100\n",
        **v2_memory(f"{CGROUP}/user.slice", 1),
    }
    root = plant(tmp_path, files)
    above, top = f"{root}/{CGROUP}/user.slice", f"{root}/{CGROUP}"
    assert ControlGroup(2, (above, top)) == find_group("memory", root=root)
    assert ControlGroup(2, (f"{above}/app", above, top)) == find_group("cpu", root=root)


@pytest.mark.parametrize(
    ("listed", "kind"), [("cpuset cpu io memory pids\n", ControlGroup), ("hugetlb\n", Absent), (None, Absent)]
)
def test_the_root_of_v2_counts_if_memory_is_listed(tmp_path: Path, listed: str | None, kind: type) -> None:
    files = process("0::/\n", v2_mount()) | {f"{CGROUP}/cgroup.procs": "1\n"}
    root = plant(tmp_path, files | ({} if listed is None else {f"{CGROUP}/cgroup.controllers": listed}))
    assert isinstance(find_group("memory", root=root), kind)


def test_each_controller_of_v1_has_its_own_levels(tmp_path: Path) -> None:
    cgroup = "9:pids:/p\n4:memory:/m\n3:cpu,cpuacct:/c\n"
    mounts = v1_mount("memory") + v1_mount("cpu,cpuacct") + v1_mount("pids")
    folders = {f"{CGROUP}/memory/m/": "", f"{CGROUP}/cpu,cpuacct/c/": "", f"{CGROUP}/pids/p/": ""}
    root = plant(tmp_path, process(cgroup, mounts) | folders)
    wanted = {"memory": "memory/m", "cpu": "cpu,cpuacct/c", "cpuacct": "cpu,cpuacct/c", "pids": "pids/p"}
    for controller, folder in wanted.items():
        group = find_group(controller, root=root)
        assert isinstance(group, ControlGroup)
        assert f"{root}/{CGROUP}/{folder}" == group.own
    assert isinstance(find_group("cpuset", root=root), Absent)


def test_another_process_is_looked_up_by_its_pid(tmp_path: Path) -> None:
    files = process("0::/me\n", v2_mount()) | process("0::/run\n", v2_mount(), "77")
    root = plant(tmp_path, files | v2_memory(f"{CGROUP}/me", 1) | v2_memory(f"{CGROUP}/run", 1))
    group = find_group("memory", 77, root)
    assert isinstance(group, ControlGroup)
    assert f"{root}/{CGROUP}/run" == group.own


@pytest.mark.parametrize("missing", ["proc/self/cgroup", "proc/self/mountinfo"])
@pytest.mark.parametrize("shape", ["gone", "error"])
def test_without_proc_nothing_is_known(tmp_path: Path, missing: str, shape: str) -> None:
    files = process("0::/\n", v2_mount()) | v2_memory(CGROUP, 1)
    del files[missing]
    root = plant(tmp_path, files | ({f"{missing}/": ""} if shape == "error" else {}))
    found = find_group("memory", root=root)
    assert isinstance(found, Unseen)
    assert missing in found.why


def test_no_cgroup_mounted_is_absent(tmp_path: Path) -> None:
    assert isinstance(find_group("memory", root=plant(tmp_path, process("0::/\n", ""))), Absent)
    assert isinstance(find_group("memory", root=plant(tmp_path, process("", v2_mount()))), Absent)


@pytest.mark.parametrize("text", ["", "\n", "garbage", "1:2", "::", "\udcff:\udcff", "4:memory\n"])
def test_junk_among_memberships_is_passed_over(text: str) -> None:
    assert parse_memberships(text + "\n7:pids:/a\n")["pids"] == "/a"


@pytest.mark.parametrize("text", ["", "\n", " - ", "1 2 3 - cgroup cgroup rw,memory", "30 23 0:26 / /p rw cgroup2 rw"])
def test_junk_among_mounts_is_passed_over(text: str) -> None:
    assert [mount.point for mount in parse_group_mounts(f"{text}\n{v2_mount()}{text}")] == ["/sys/fs/cgroup"]


def test_a_named_hierarchy_has_no_controller() -> None:
    assert parse_group_mounts("35 25 0:30 / /c/memory rw - cgroup cgroup rw,xattr,name=memory\n") == []


def test_thousands_of_mounts_hide_no_cgroup() -> None:
    line = "{0} 1523 0:{0} / /var/lib/kubelet/pods/{0}/volumes rw,relatime - tmpfs tmpfs rw,size=1k\n"
    text = "".join(line.format(number) for number in range(5000))
    assert len(parse_group_mounts(text + v2_mount() + text)) == 1


@pytest.mark.parametrize(
    ("path", "field"),
    [("/a b", "/a\\040b"), ("/a\tb\nc", "/a\\011b\\012c"), ("/\\040", "/\\134040"), ("#1", "\\0431"), ("/a", "/a")],
)
def test_an_octal_escape_is_its_character(path: str, field: str) -> None:
    assert path == unescape(field)


def test_the_innermost_of_equal_limits_is_the_tightest() -> None:
    assert tightest([("a", 5), ("b", 3), ("c", 3)]) == ("b", 3)
    assert tightest([]) is None


@pytest.mark.root
def test_a_real_namespace_hides_the_real_group() -> None:
    """`unshare -C` leaves the old mounts: their root is above the namespace, and the names between are not told."""
    own = find_group("memory")
    if not isinstance(own, ControlGroup) or len(own.levels) < 2 or shutil.which("unshare") is None:
        pytest.skip("needs unshare(1) and a memory group below the root")
    code = "from onbox.collectors.groups import find_group; print(type(find_group('memory')).__name__)"
    done = subprocess.run(
        ["unshare", "-C", sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=REPOSITORY
    )
    if done.returncode != 0 and "unshare failed" in done.stderr:
        pytest.skip("needs the right to make a cgroup namespace")
    assert (done.stdout, done.stderr) == ("Unseen\n", "")
