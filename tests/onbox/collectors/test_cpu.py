"""Cores, throttling and process limits: what binds at any level, never the host's number for the container's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.collectors.cpu import (
    CpuReading,
    PidsReading,
    find_quota,
    parse_allowed,
    parse_cpu_list,
    parse_load,
    parse_online,
    read_cpu,
    read_pids,
    usable,
)
from onbox.collectors.groups import ControlGroup, find_group
from onbox.contract.readings import Absent, Unseen
from tests.trees import plant, seen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

STATUS = "Name:\tpython\nThreads:\t4\nCpus_allowed:\tff\nCpus_allowed_list:\t{}\n"
V2_STAT = "usage_usec 7500000\nuser_usec 1\nsystem_usec 2\n"
THROTTLED = "nr_periods 9\nnr_throttled 4\nthrottled_usec 2500000\n"


def group(tmp_path: Path, files: Mapping[str, str], version: int = 2) -> ControlGroup:
    """A group g in a slice s: files named "s/..." and "s/g/..."."""
    root = plant(tmp_path, {"s/g/": "", **files})
    return ControlGroup(version, (f"{root}/s/g", f"{root}/s", root))


# -- quotas


@pytest.mark.parametrize(
    ("wanted", "leaf", "above"),
    [
        (0.5, "50000 100000\n", "max 100000\n"),
        (3.2, "max 100000\n", "320000 100000\n"),
        (1.5, "400000 100000\n", "150000 100000\n"),
        (2.0, "20000 10000\n", "400000 100000\n"),
    ],
)
def test_the_tightest_quota_of_all_levels_binds(tmp_path: Path, wanted: float, leaf: str, above: str) -> None:
    _, quota = find_quota(group(tmp_path, {"s/g/cpu.max": leaf, "s/cpu.max": above}))
    assert wanted == quota


@pytest.mark.parametrize("files", [{}, {"s/g/cpu.max": "max 100000\n"}, {"s/cpu.max": "max 100000\n"}])
def test_no_quota_at_any_level_is_absent(tmp_path: Path, files: dict[str, str]) -> None:
    level, quota = find_quota(group(tmp_path, files))
    assert isinstance(quota, Absent)
    assert level == f"{tmp_path}/s/g"


@pytest.mark.parametrize(
    "text", ["", "max\n", "50000\n", "x 100000\n", "50000 0\n", "0 100000\n", "-1 100000\n", "\u00b2 \u00b2"]
)
def test_a_quota_that_cannot_be_read_is_unseen(tmp_path: Path, text: str) -> None:
    assert isinstance(find_quota(group(tmp_path, {"s/g/cpu.max": text, "s/cpu.max": "max 100000\n"}))[1], Unseen)
    assert find_quota(group(tmp_path, {"s/g/cpu.max": text, "s/cpu.max": "200000 100000\n"}))[1] == 2.0


def test_a_quota_file_that_gives_an_error_is_unseen(tmp_path: Path) -> None:
    assert isinstance(find_quota(group(tmp_path, {"s/g/cpu.max/": ""}))[1], Unseen)


@pytest.mark.parametrize(
    ("wanted", "quota", "period"), [(2.5, "250000\n", "100000\n"), (Absent, "-1\n", "100000\n"), (Unseen, "5\n", "0\n")]
)
def test_v1_tells_quota_and_period_apart(tmp_path: Path, wanted: object, quota: str, period: str) -> None:
    files = {"s/g/cpu.cfs_quota_us": quota, "s/g/cpu.cfs_period_us": period, "s/cpu.cfs_quota_us": "-1\n"}
    found = find_quota(group(tmp_path, files, 1))[1]
    assert isinstance(found, wanted) if isinstance(wanted, type) else wanted == found


def test_v1_without_a_period_is_unseen(tmp_path: Path) -> None:
    assert isinstance(find_quota(group(tmp_path, {"s/g/cpu.cfs_quota_us": "5\n"}, 1))[1], Unseen)


# -- what is used and cut off


def test_throttling_is_read_where_the_quota_binds(tmp_path: Path) -> None:
    idle = "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n"
    files = {"s/g/cpu.stat": V2_STAT + idle, "s/cpu.stat": "usage_usec 9\n" + THROTTLED, "s/cpu.max": "200000 100000\n"}
    cpu = group(tmp_path, files)
    reading = read_cpu(cpu, Absent(""), root=str(tmp_path))
    assert (
        reading.throttled_periods_total,
        reading.throttled_seconds_total,
        reading.used_seconds_total,
    ) == (4, 2.5, 7.5)


def test_v1_counts_in_nanoseconds_beside_its_accounting(tmp_path: Path) -> None:
    files = {
        "s/g/cpu.stat": "nr_periods 9\nnr_throttled 4\nthrottled_time 2500000000\n",
        "s/g/cpuacct.usage": "7500000000\n",
    }
    both = group(tmp_path, files, 1)
    reading = read_cpu(both, both, root=str(tmp_path))
    assert (
        reading.throttled_periods_total,
        reading.throttled_seconds_total,
        reading.used_seconds_total,
    ) == (4, 2.5, 7.5)


def test_without_the_cpu_controller_use_is_still_told(tmp_path: Path) -> None:
    reading = read_cpu(group(tmp_path, {"s/g/cpu.stat": V2_STAT}), Absent(""), root=str(tmp_path))
    assert reading.used_seconds_total == 7.5
    assert isinstance(reading.throttled_periods_total, Absent)
    assert isinstance(reading.throttled_seconds_total, Absent)


def test_a_box_without_cpu_groups_tells_what_proc_has(tmp_path: Path) -> None:
    files = {
        "proc/77/status": STATUS.format("0-3,8,10-11"),
        "proc/loadavg": "490.10 480.20 470.30 3/1234 99\n",
        "sys/devices/system/cpu/online": "0-127\n",
    }
    none = Absent("no cgroup")
    wanted = CpuReading(none, 7, 7.0, none, none, none, (490.1, 480.2, 470.3), 128)
    assert wanted == read_cpu(none, none, 77, plant(tmp_path, files))


def test_with_nothing_to_read_nothing_is_known(tmp_path: Path) -> None:
    gone = Unseen("no proc")
    reading = read_cpu(gone, gone, root=str(tmp_path))
    assert not any(isinstance(value, int | float) for value in reading)


@pytest.mark.parametrize(
    ("wanted", "quota", "allowed"), [(1.5, 1.5, 8), (2.0, 3.5, 2), (8.0, Absent(""), 8), (1.5, 1.5, Unseen(""))]
)
def test_usable_is_the_smaller_of_both(wanted: float, quota: float | Absent, allowed: int | Unseen) -> None:
    assert wanted == usable(quota, allowed)


def test_usable_of_nothing_is_unseen() -> None:
    assert isinstance(usable(Absent(""), Unseen("")), Unseen)


# -- parsing


@pytest.mark.parametrize(("count", "text"), [(1, "0"), (4, "0-3"), (7, "0-3,8,10-11\n"), (128, "0-127"), (1, "5-5")])
def test_a_cpu_list_is_counted(count: int, text: str) -> None:
    assert count == parse_cpu_list(text)


@pytest.mark.parametrize("text", ["", "\n", ",", "0,", "a", "3-0", "3-", "-3", "0-3:1", "\u00b2", "0 1", "9" * 5000])
def test_what_is_no_cpu_list_is_none(text: str) -> None:
    assert parse_cpu_list(text) is None
    assert isinstance(parse_online(text), Unseen)
    assert isinstance(parse_allowed(STATUS.format(text.strip())), Unseen)


def test_a_status_without_the_list_is_absent() -> None:
    assert isinstance(parse_allowed("Name:\tx\n"), Absent)


@pytest.mark.parametrize("text", ["", "1 2", "a b c", "\n"])
def test_a_load_of_another_shape_is_unseen(text: str) -> None:
    assert isinstance(parse_load(text), Unseen)


# -- processes


@pytest.mark.parametrize(
    ("wanted", "leaf", "above"),
    [
        ((10, 100), ("10", "100"), ("50", "max")),
        ((199, 200), ("10", "100"), ("199", "200")),
        ((90, 100), ("90", "100"), ("150", "200")),
        ((50, 64), ("9", "max"), ("50", "64")),
    ],
)
def test_the_level_with_the_least_room_is_told(
    tmp_path: Path, wanted: tuple[int, int], leaf: tuple[str, str], above: tuple[str, str]
) -> None:
    files = {f"s/g/pids.{name}": f"{text}\n" for name, text in zip(("current", "max"), leaf, strict=True)}
    files |= {f"s/pids.{name}": f"{text}\n" for name, text in zip(("current", "max"), above, strict=True)}
    assert PidsReading(*wanted) == read_pids(group(tmp_path, files))


def test_processes_without_a_limit_are_counted(tmp_path: Path) -> None:
    reading = read_pids(group(tmp_path, {"s/g/pids.current": "9\n", "s/g/pids.max": "max\n"}))
    assert isinstance(reading, PidsReading)
    assert reading.current == 9
    assert isinstance(reading.limit, Absent)


@pytest.mark.parametrize("text", ["", "many\n"])
def test_a_process_limit_that_is_no_number_is_unseen(tmp_path: Path, text: str) -> None:
    reading = read_pids(group(tmp_path, {"s/g/pids.current": "9\n", "s/g/pids.max": text}))
    assert isinstance(reading, PidsReading)
    assert isinstance(reading.limit, Unseen)


def test_without_a_pids_group_the_reason_is_kept() -> None:
    assert read_pids(Absent("why")) == Absent("why")


def test_this_machine_has_cores_and_a_load() -> None:
    reading = read_cpu(find_group("cpu"), find_group("cpuacct"))
    assert isinstance(reading.usable_cores, float)
    assert isinstance(reading.host_cores, int)
    assert 0 < reading.usable_cores <= reading.host_cores
    assert len(seen(reading.host_load)) == 3
