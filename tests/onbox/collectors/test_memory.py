"""Memory: the limit that binds, what is in use at its level, and nothing that was not seen."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onbox.collectors.groups import ControlGroup, find_group
from onbox.collectors.memory import (
    HostMemory,
    MemoryReading,
    parse_host_memory,
    read_limit,
    read_memory,
    read_oom_kills,
)
from onbox.contract.readings import Absent, Unseen
from tests.trees import GIB, NO_LIMIT_V1, meminfo, plant, process, v1_memory, v1_mount, v2_memory, v2_mount

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CGROUP = "sys/fs/cgroup"
HOST = 64 * GIB


def read(tmp_path: Path, files: Mapping[str, str], host_bytes: int = HOST) -> MemoryReading:
    """Plant a box and read the memory of its process."""
    root = plant(tmp_path, meminfo(host_bytes, host_bytes // 2) | dict(files))
    group = find_group("memory", root=root)
    assert isinstance(group, ControlGroup)
    return read_memory(group, root)


def v2_box(*groups: Mapping[str, str], path: str = "/user.slice/s.scope") -> dict[str, str]:
    files = process(f"0::{path}\n", v2_mount())
    for group in groups:
        files |= group
    return files


def v1_box(*groups: Mapping[str, str], path: str = "/docker/abc", shown: str = "/") -> dict[str, str]:
    files = process(f"4:memory:{path}\n0::/\n", v1_mount("memory", shown))
    for group in groups:
        files |= group
    return files


SLICE, SCOPE, V1 = f"{CGROUP}/user.slice", f"{CGROUP}/user.slice/s.scope", f"{CGROUP}/memory"


def place(reading: MemoryReading) -> str:
    """The level of a reading, below the tree's root."""
    return reading.level.partition(CGROUP)[2].lstrip("/")


# -- which limit binds


def test_the_tightest_limit_binds_with_its_own_usage(tmp_path: Path) -> None:
    scope = v2_memory(SCOPE, 3 * GIB, f"{32 * GIB}\n", inactive_file=GIB)
    above = v2_memory(SLICE, 7 * GIB, f"{8 * GIB}\n", inactive_file=2 * GIB)
    reading = read(tmp_path, v2_box(scope, above, v2_memory(CGROUP, 0, None)))
    assert (reading.limit_bytes, reading.current_bytes, reading.working_set_bytes) == (8 * GIB, 7 * GIB, 5 * GIB)
    assert place(reading) == "user.slice"


def test_the_leaf_binds_when_it_is_tighter(tmp_path: Path) -> None:
    reading = read(tmp_path, v2_box(v2_memory(SCOPE, 1, f"{GIB}\n"), v2_memory(SLICE, 9, f"{8 * GIB}\n")))
    assert (reading.limit_bytes, reading.current_bytes) == (GIB, 1)


def test_max_everywhere_is_no_limit_visible(tmp_path: Path) -> None:
    reading = read(tmp_path, v2_box(v2_memory(SCOPE, 5), v2_memory(SLICE, 6), v2_memory(CGROUP, 0, None)))
    assert isinstance(reading.limit_bytes, Absent)
    assert "no limit visible" in reading.limit_bytes.why
    assert (reading.current_bytes, place(reading)) == (5, "user.slice/s.scope")


def test_the_root_of_v2_has_neither_limit_nor_usage(tmp_path: Path) -> None:
    files = v2_box(v2_memory(CGROUP, 0, None, anon=5), path="/") | {f"{CGROUP}/cgroup.controllers": "cpu memory\n"}
    reading = read(tmp_path, files)
    assert isinstance(reading.limit_bytes, Absent)
    assert isinstance(reading.current_bytes, Absent)
    assert isinstance(reading.working_set_bytes, Absent)
    assert isinstance(reading.oom_kills_total, Absent)


def test_a_leaf_without_the_controller_reads_above(tmp_path: Path) -> None:
    files = v2_box({f"{SCOPE}/cpu.stat": "usage_usec 1\n"}, v2_memory(SLICE, 5, "max\n"))
    reading = read(tmp_path, files)
    assert (reading.current_bytes, place(reading), reading.oom_kills_total) == (5, "user.slice", 0)


@pytest.mark.parametrize(
    "limit", [f"{HOST + 4096}\n", "9223372036854771712\n", f"{1 << 70}\n", "18446744073709551615\n"]
)
@pytest.mark.parametrize("version", [1, 2])
def test_a_limit_above_the_machine_is_none(tmp_path: Path, version: int, limit: str) -> None:
    if version == 2:
        reading = read(tmp_path, v2_box(v2_memory(SCOPE, 5, limit)))
    else:
        reading = read(tmp_path, v1_box(v1_memory(f"{V1}/docker/abc", 5, limit, limit)))
    assert not isinstance(reading.limit_bytes, int)
    assert reading.current_bytes == 5


def test_lxcfs_shows_the_limit_as_the_machine(tmp_path: Path) -> None:
    reading = read(tmp_path, v2_box(v2_memory(CGROUP, 5, f"{8 * GIB}\n"), path="/"), host_bytes=8 * GIB)
    assert (reading.limit_bytes, reading.host.total_bytes) == (8 * GIB, 8 * GIB)


def test_without_meminfo_a_limit_still_binds(tmp_path: Path) -> None:
    root = plant(tmp_path, v2_box(v2_memory(SCOPE, 5, f"{8 * GIB}\n")))
    group = find_group("memory", root=root)
    assert isinstance(group, ControlGroup)
    reading = read_memory(group, root)
    assert reading.limit_bytes == 8 * GIB
    assert isinstance(reading.host.total_bytes, Unseen)


@pytest.mark.parametrize("text", ["", "\n", "garbage\n", "12 13\n", "1e9\n", "\u0664\u0662\n", "9" * 5000])
def test_a_limit_that_is_no_number_is_unseen(tmp_path: Path, text: str) -> None:
    reading = read(tmp_path, v2_box(v2_memory(SCOPE, 5, text), v2_memory(SLICE, 6)))
    assert isinstance(reading.limit_bytes, Unseen)
    assert "s.scope/memory.max" in reading.limit_bytes.why


def test_an_unreadable_limit_hides_behind_no_huge_one(tmp_path: Path) -> None:
    reading = read(tmp_path, v2_box(v2_memory(SCOPE, 5, ""), v2_memory(SLICE, 6, f"{2 * HOST}\n")))
    assert isinstance(reading.limit_bytes, Unseen)


def test_a_limit_that_gives_an_error_is_unseen(tmp_path: Path) -> None:
    files = v2_box(v2_memory(SCOPE, 5))
    del files[f"{SCOPE}/memory.max"]
    reading = read(tmp_path, files | {f"{SCOPE}/memory.max/": ""})
    assert isinstance(reading.limit_bytes, Unseen)
    assert reading.current_bytes == 5


def test_a_limit_of_nothing_is_a_limit(tmp_path: Path) -> None:
    assert read(tmp_path, v2_box(v2_memory(SCOPE, 5, "0\n"))).limit_bytes == 0


# -- version 1


def test_v1_in_docker_reads_the_mounted_group(tmp_path: Path) -> None:
    group = v1_memory(V1, 3 * GIB, f"{4 * GIB}\n", f"{4 * GIB}\n", total_inactive_file=GIB, total_active_file=GIB)
    reading = read(tmp_path, v1_box(group, shown="/docker/abc"))
    assert (reading.version, reading.limit_bytes, reading.current_bytes) == (1, 4 * GIB, 3 * GIB)
    assert (reading.working_set_bytes, reading.held_bytes, reading.peak_bytes) == (2 * GIB, GIB, 6 * GIB)


def test_v1_never_reads_the_whole_machine_for_a_group(tmp_path: Path) -> None:
    reading = read(tmp_path, v1_box(v1_memory(V1, 26 * GIB), v1_memory(f"{V1}/docker/abc", GIB)))
    assert (reading.current_bytes, place(reading)) == (GIB, "memory/docker/abc")


def test_v1_tells_of_a_limit_above_what_is_mounted(tmp_path: Path) -> None:
    reading = read(tmp_path, v1_box(v1_memory(V1, GIB, NO_LIMIT_V1, f"{2 * GIB}\n"), shown="/docker/abc"))
    assert (reading.limit_bytes, reading.current_bytes) == (2 * GIB, GIB)


def test_v1_a_visible_ancestor_binds_at_its_own_level(tmp_path: Path) -> None:
    leaf = v1_memory(f"{V1}/docker/abc", GIB, NO_LIMIT_V1, f"{4 * GIB}\n")
    above = v1_memory(f"{V1}/docker", 3 * GIB, f"{4 * GIB}\n", f"{4 * GIB}\n")
    reading = read(tmp_path, v1_box(leaf, above, v1_memory(V1, 9 * GIB)))
    assert (reading.limit_bytes, reading.current_bytes, place(reading)) == (4 * GIB, 3 * GIB, "memory/docker")


def test_v1_without_hierarchy_an_ancestor_does_not_bind(tmp_path: Path) -> None:
    leaf = v1_memory(f"{V1}/docker/abc", GIB, hierarchy="0\n")
    above = v1_memory(f"{V1}/docker", 3 * GIB, f"{4 * GIB}\n", hierarchy="0\n")
    reading = read(tmp_path, v1_box(leaf, above))
    assert isinstance(reading.limit_bytes, Absent)
    assert reading.current_bytes == GIB


def test_v1_swap_is_what_memsw_has_more(tmp_path: Path) -> None:
    group = v1_memory(f"{V1}/docker/abc", GIB)
    reading = read(tmp_path, v1_box(group, {f"{V1}/docker/abc/memory.memsw.usage_in_bytes": f"{GIB + 5}\n"}))
    assert reading.swap_bytes == 5


# -- in use


def test_held_is_what_cannot_be_dropped(tmp_path: Path) -> None:
    files = v2_box(v2_memory(SCOPE, 1000))
    files[f"{SCOPE}/memory.stat"] = (
        "anon 1\nfile 1099511627776\nkernel_stack 4000\npagetables 50000\nsock 600000\nshmem 20\n"
        "inactive_file 7\nactive_file 9\nslab_reclaimable 11\nslab_unreclaimable 300\n"
    )
    assert read(tmp_path, files).held_bytes == 1000 - 7 - 9 - 11


def test_the_level_with_the_least_room_binds(tmp_path: Path) -> None:
    """A wide limit that others have used up binds before a narrow one with room."""
    leaf = v1_memory(f"{V1}/docker/abc", 0, f"{2 * GIB}\n", f"{2 * GIB}\n")
    above = v1_memory(f"{V1}/docker", 4 * GIB, f"{4 * GIB}\n", f"{4 * GIB}\n")
    reading = read(tmp_path, v1_box(leaf, above, v1_memory(V1, 9 * GIB)))
    assert (reading.limit_bytes, place(reading)) == (4 * GIB, "memory/docker")


def test_keys_are_looked_up_in_any_order(tmp_path: Path) -> None:
    files = v2_box(v2_memory(SCOPE, 10))
    files[f"{SCOPE}/memory.stat"] = "new_key 5\ninactive_file 4\nodd line here\n\nshmem 2\nanon 3\nanon_thp x\n"
    reading = read(tmp_path, files)
    assert (reading.working_set_bytes, reading.held_bytes) == (6, 6)


def test_the_cache_may_have_grown_since_the_first_file(tmp_path: Path) -> None:
    assert read(tmp_path, v2_box(v2_memory(SCOPE, 10, inactive_file=11))).working_set_bytes == 0


def test_without_a_stat_file_only_current_is_known(tmp_path: Path) -> None:
    files = v2_box(v2_memory(SCOPE, 10))
    del files[f"{SCOPE}/memory.stat"]
    reading = read(tmp_path, files)
    assert reading.current_bytes == 10
    assert isinstance(reading.working_set_bytes, Unseen)
    assert not isinstance(reading.held_bytes, int)


def test_older_kernels_have_no_peak_and_no_swap(tmp_path: Path) -> None:
    reading = read(tmp_path, v2_box(v2_memory(SCOPE, 10)))
    assert isinstance(reading.peak_bytes, Absent)
    assert isinstance(reading.swap_bytes, Absent)


def test_newer_kernels_tell_peak_and_swap(tmp_path: Path) -> None:
    new = {f"{SCOPE}/memory.peak": "99\n", f"{SCOPE}/memory.swap.current": "3\n"}
    reading = read(tmp_path, v2_box(v2_memory(SCOPE, 10), new))
    assert (reading.peak_bytes, reading.swap_bytes) == (99, 3)


# -- OOM counters and the host


@pytest.mark.parametrize(
    ("version", "wanted", "text"),
    [
        (2, 3, "low 0\nhigh 7\nmax 9\noom 4\noom_kill 3\noom_group_kill 1\n"),
        (2, 3, "low 0\nhigh 7\nmax 9\noom 4\noom_kill 3\n"),
        (1, 3, "oom_kill_disable 0\nunder_oom 1\noom_kill 3\n"),
        (1, None, "oom_kill_disable 0\nunder_oom 0\n"),
        (2, None, ""),
        (2, None, "oom_kill many\n"),
    ],
)
def test_kills_are_counted_and_nothing_else(tmp_path: Path, version: int, wanted: int | None, text: str) -> None:
    name = "memory.events" if version == 2 else "memory.oom_control"
    kills = read_oom_kills(version, plant(tmp_path, {name: text}))
    assert kills == wanted if wanted is not None else isinstance(kills, Absent)


@pytest.mark.parametrize("text", ["-1\n", NO_LIMIT_V1, "9223372036854775807\n", "18446744073709551615\n", "max\n"])
def test_the_words_for_no_limit_are_absent(tmp_path: Path, text: str) -> None:
    root = plant(tmp_path, {"memory.limit_in_bytes": text})
    assert isinstance(read_limit(1, root), Absent)


def test_meminfo_counts_in_kib() -> None:
    text = "MemTotal:       24683592 kB\nMemAvailable:   24281600 kB\nHugePages_Total:       0\n"
    assert HostMemory(24683592 * 1024, 24281600 * 1024) == parse_host_memory(text)


@pytest.mark.parametrize(
    "text", ["", "MemTotal:\n", "MemTotal: \u00b2 kB\n", "MemTotal: -1 kB\n", f"MemTotal: {'9' * 5000}"]
)
def test_meminfo_without_numbers_tells_nothing(text: str) -> None:
    host = parse_host_memory(text)
    assert not isinstance(host.total_bytes, int)
    assert not isinstance(host.available_bytes, int)


# -- this machine


@pytest.fixture
def nested() -> Iterator[Path]:
    """A real v1 group with a limit of 256 MiB; in it one without."""
    own = find_group("memory")
    if not isinstance(own, ControlGroup) or own.version != 1:
        pytest.skip("needs a memory cgroup (v1)")
    outer = Path(own.own) / f"onbox-test-{uuid.uuid4().hex[:8]}"
    try:
        (outer / "inner").mkdir(parents=True)
        (outer / "memory.limit_in_bytes").write_text(str(256 << 20))
    except OSError:
        pytest.skip("needs the right to make memory cgroups")
    yield outer / "inner"
    os.rmdir(outer / "inner")
    os.rmdir(outer)


@pytest.mark.root
def test_a_real_limit_above_a_real_group_binds(nested: Path) -> None:
    wait = "import sys; held = bytearray(8 << 20); print('here', flush=True); sys.stdin.read()"
    words = ["/bin/sh", "-c", f'echo $$ >{nested}/cgroup.procs; exec "$0" -c "$1"', sys.executable, wait]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "here\n"
        group = find_group("memory", child.pid)
        assert isinstance(group, ControlGroup)
        assert [str(nested), str(nested.parent)] == list(group.levels[:2])
        reading = read_memory(group)
        child.communicate()
    assert (256 << 20, str(nested.parent), 0) == (reading.limit_bytes, reading.level, reading.oom_kills_total)
    assert isinstance(reading.held_bytes, int)
    assert isinstance(reading.current_bytes, int)
    assert 8 << 20 <= reading.held_bytes <= reading.current_bytes < 256 << 20
