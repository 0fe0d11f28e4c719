"""One picture of a box: every reading, each sick one costing only itself, and the sample that is kept of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.collectors.disk import Room
from onbox.collectors.gpu.nvml import GpuCard, GpuReading, LostGpu
from onbox.collectors.groups import ControlGroup
from onbox.collectors.memory import MemoryReading
from onbox.collectors.sample import sample_of
from onbox.collectors.snapshot import Snapshot, find_groups, take_snapshot
from onbox.collectors.tree import Tree
from onbox.contract.readings import Absent, Unseen
from onbox.contract.samples import parse_samples, render_sample
from onbox.system.process import Identity, look_up
from tests.trees import GIB, OTHER_MOUNTS, meminfo, plant, process, seen, v2_memory, v2_mount

if TYPE_CHECKING:
    from pathlib import Path

CGROUP = "sys/fs/cgroup"
PRESSURE = "some avg10=1.00 avg60=2.00 avg300=3.00 total=4000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
CONTAINER = {
    **process("0::/\n", v2_mount()),
    **meminfo(64 * GIB, 32 * GIB),
    **v2_memory(CGROUP, 3 * GIB, f"{4 * GIB}\n", anon=GIB, inactive_file=GIB),
    f"{CGROUP}/cpu.weight": "100\n",
    f"{CGROUP}/cpu.max": "150000 100000\n",
    f"{CGROUP}/cpu.stat": "usage_usec 12345678\nnr_periods 5\nnr_throttled 2\nthrottled_usec 1500000\n",
    f"{CGROUP}/pids.current": "9\n",
    f"{CGROUP}/pids.max": "512\n",
    f"{CGROUP}/memory.pressure": PRESSURE,
    f"{CGROUP}/io.pressure": PRESSURE,
    f"{CGROUP}/cpu.pressure": PRESSURE,
    "proc/self/status": "Name:\tpython\nCpus_allowed_list:\t0-7\n",
    "proc/loadavg": "490.00 480.00 470.00 1/2 3\n",
    "sys/devices/system/cpu/online": "0-127\n",
}


def snapshot(root: str) -> Snapshot:
    def look(path: str) -> Room:
        raise AssertionError(f"touched {path}")

    return take_snapshot(find_groups(root=root), ["/"], None, root, look_remote=look)


def test_a_container_is_pictured_whole(tmp_path: Path) -> None:
    picture = snapshot(plant(tmp_path, CONTAINER))
    assert isinstance(picture.memory, MemoryReading)
    assert (picture.memory.limit_bytes, picture.memory.working_set_bytes) == (4 * GIB, 2 * GIB)
    assert [disk.mount for disk in seen(picture.disks)] == ["/"]
    assert isinstance(picture.tree, Absent)
    assert [(took.collector, took.trouble) for took in picture.took] == [
        (name, None) for name in ("memory", "cpu", "pids", "pressure", "disks", "tree")
    ]
    assert all(took.seconds >= 0 for took in picture.took)


def test_its_sample_holds_the_containers_numbers(tmp_path: Path) -> None:
    sample = sample_of(snapshot(plant(tmp_path, CONTAINER)))
    disks = sample.pop("disks")
    assert list(disks) == ["/"]
    assert sample.pop("at").endswith("Z")
    assert sample == {
        "memory_current_bytes": 3 * GIB,
        "memory_working_set_bytes": 2 * GIB,
        "memory_held_bytes": 2 * GIB,
        "memory_limit_bytes": 4 * GIB,
        "host_memory_available_bytes": 32 * GIB,
        "oom_kills_total": 0,
        "cpu_seconds_total": 12.346,
        "throttled_seconds_total": 1.5,
        "usable_cores": 1.5,
        "memory_stall_percent_60s": 2.0,
        "io_stall_percent_60s": 2.0,
        "cpu_stall_percent_60s": 2.0,
        "pids": 9,
        "pids_limit": 512,
    }


def test_an_empty_box_gives_a_sample_of_the_time_only(tmp_path: Path) -> None:
    picture = snapshot(str(tmp_path))
    assert isinstance(picture.memory, MemoryReading)
    assert isinstance(picture.memory.working_set_bytes, Unseen)
    assert isinstance(picture.disks, Unseen)
    assert list(sample_of(picture)) == ["at"]


def test_what_is_unseen_is_left_out_of_the_sample(tmp_path: Path) -> None:
    files = {**CONTAINER, f"{CGROUP}/memory.max": "", f"{CGROUP}/memory.current": "garbage\n"}
    picture = snapshot(plant(tmp_path, files))
    assert isinstance(picture.memory, MemoryReading)
    sample = sample_of(picture)
    assert not {"memory_limit_bytes", "memory_current_bytes", "memory_working_set_bytes"} & sample.keys()
    assert sample["host_memory_available_bytes"] == 32 * GIB


def test_a_partial_sys_costs_only_what_is_missing(tmp_path: Path) -> None:
    files = {name: text for name, text in CONTAINER.items() if not name.startswith("sys/")}
    picture = snapshot(plant(tmp_path, files))
    sample = sample_of(picture)
    assert isinstance(picture.memory, MemoryReading)
    assert isinstance(picture.memory.working_set_bytes, Unseen)
    assert sample["host_memory_available_bytes"] == 32 * GIB
    assert (sample["usable_cores"], list(sample["disks"])) == (8.0, ["/"])


def test_the_hosts_stall_is_named_so(tmp_path: Path) -> None:
    files = {name: text for name, text in CONTAINER.items() if not name.endswith(".pressure")}
    sample = sample_of(snapshot(plant(tmp_path, {**files, "proc/pressure/io": PRESSURE})))
    assert sample["stall_of_host"] is True
    assert sample["io_stall_percent_60s"] == 2.0
    assert "cpu_stall_percent_60s" not in sample


def test_a_mount_that_may_hang_is_left_to_the_given_look(tmp_path: Path) -> None:
    remote = "60 1523 0:60 / /no/nfs rw,relatime - nfs4 filer:/x rw\n"
    root = plant(tmp_path, {**CONTAINER, "proc/self/mountinfo": OTHER_MOUNTS + v2_mount() + remote})
    picture = take_snapshot(find_groups(root=root), ["/no/nfs/run"], None, root, lambda path: Unseen("silent"))
    assert seen(picture.disks)[0].room == Unseen("silent")
    assert "disks" not in sample_of(picture)


def test_a_file_system_without_inodes_has_null_for_them(tmp_path: Path) -> None:
    remote = "60 1523 0:60 / /no/ceph rw,relatime - ceph mon:/ rw\n"
    root = plant(tmp_path, {**CONTAINER, "proc/self/mountinfo": OTHER_MOUNTS + v2_mount() + remote})
    room = Room(5, 10, 5, Absent("not counted"), Absent("not counted"))
    sample = sample_of(take_snapshot(find_groups(root=root), ["/no/ceph"], None, root, lambda path: room))
    assert sample["disks"] == {"/no/ceph": [5, 10, None, None]}
    assert parse_samples([render_sample(sample)])[0]["disks"] == {"/no/ceph": [5, 10, None, None]}


def test_a_collector_that_fails_says_so(tmp_path: Path) -> None:

    def look(path: str) -> Room:
        raise OSError(5, "Input/output error", path)

    remote = OTHER_MOUNTS.replace("- overlay overlay", "- fuse.odd odd")
    root = plant(tmp_path, {**CONTAINER, "proc/self/mountinfo": remote + v2_mount()})
    picture = take_snapshot(find_groups(root=root), ["/"], None, root, look)
    assert isinstance(picture.disks, Unseen)
    assert [took.collector for took in picture.took if took.trouble] == ["disks"]
    assert isinstance(picture.memory, MemoryReading)


def test_gpus_join_the_sample_as_numbers(tmp_path: Path) -> None:
    picture = snapshot(str(tmp_path))
    blank: Any = GpuCard(0, *[Unseen("N/A")] * (len(GpuCard._fields) - 1))
    busy = blank._replace(utilization_percent=99, name="H200")
    reading = GpuReading("550.1", (busy, LostGpu(1, "it has fallen off the bus")))
    assert sample_of(picture, reading)["gpus"] == [{"number": 0, "utilization_percent": 99}, {"number": 1}]
    assert "gpus" not in sample_of(picture, None)
    assert "gpus" not in sample_of(picture, Absent("no GPU"))


def test_a_stage_that_has_ended_has_no_tree(tmp_path: Path) -> None:
    root = plant(tmp_path, {**CONTAINER, "proc/70/status": "Cpus_allowed_list:\t0\n"})
    picture = take_snapshot(find_groups(root=root), ["/"], Identity(70, 1), root)
    assert isinstance(picture.tree, Absent)
    assert sample_of(picture)["usable_cores"] == 1.0


def test_this_machine_is_pictured(tmp_path: Path) -> None:
    me = look_up(os.getpid())
    leader = look_up(os.getsid(0))
    assert me is not None
    picture = take_snapshot(find_groups(), [str(tmp_path), "/dev/shm"], leader.identity if leader else None)
    assert seen(picture.disks)
    assert leader is None or isinstance(picture.tree, Tree)
    if not isinstance(find_groups().memory, ControlGroup):
        assert not isinstance(picture.memory, MemoryReading)
    assert parse_samples([render_sample(sample_of(picture))]) == [{"schema": 1, **sample_of(picture)}]
