"""Pressure stall information: of the container where it tells, else of the host and named so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.collectors.groups import ControlGroup
from onbox.collectors.pressure import RESOURCES, PressureReading, Stall, parse_stall, read_pressure
from onbox.contract.readings import Absent, Unseen
from tests.trees import plant

if TYPE_CHECKING:
    from pathlib import Path

SOME = "some avg10=1.50 avg60=2.25 avg300=0.00 total=3500000\n"
FULL = "full avg10=0.50 avg60=0.25 avg300=0.00 total=9\n"


def files(folder: str, text: str, ending: str = "") -> dict[str, str]:
    return {f"{folder}/{name}{ending}": text for name in RESOURCES}


def some_10s(reading: PressureReading) -> list[object]:
    return [getattr(stall, "some_percent_10s", None) for stall in reading[1:]]


def test_both_lines_are_read() -> None:
    assert Stall(1.5, 2.25, 0.5, 0.25, 3.5) == parse_stall(SOME + FULL)


def test_cpu_of_older_kernels_has_no_full_line() -> None:
    stall = parse_stall(SOME)
    assert isinstance(stall, Stall)
    assert (stall.some_percent_10s, stall.some_seconds_total) == (1.5, 3.5)
    assert isinstance(stall.full_percent_10s, Absent)
    assert isinstance(stall.full_percent_60s, Absent)


def test_blank_and_new_lines_are_passed_over() -> None:
    assert Stall(1.5, 2.25, 0.5, 0.25, 3.5) == parse_stall(f"\n{SOME}\n{FULL}later avg10=1.00\n\n")


@pytest.mark.parametrize("text", ["", "\n", FULL, "some\n", "some avg10=x avg60=1 total=1\n", "some avg10=1 avg60=1\n"])
def test_what_is_no_pressure_is_unseen(text: str) -> None:
    assert isinstance(parse_stall(text), Unseen)


def test_a_v2_group_tells_its_own(tmp_path: Path) -> None:
    own = {"g/cgroup.events": "populated 1\n", **files("g", SOME, ".pressure")}
    root = plant(tmp_path, own | files("proc/pressure", SOME.replace("1.50", "9.00")))
    reading = read_pressure(ControlGroup(2, (f"{root}/g",)), root)
    assert not reading.of_host
    assert some_10s(reading) == [1.5] * 3


def test_the_root_group_tells_the_hosts(tmp_path: Path) -> None:
    root = plant(tmp_path, files("g", SOME, ".pressure"))
    reading = read_pressure(ControlGroup(2, (f"{root}/g",)), root)
    assert reading.of_host
    assert some_10s(reading) == [1.5] * 3


@pytest.mark.parametrize(
    "group", [Absent("no cgroup"), Unseen("no proc"), ControlGroup(1, ("/g",)), ControlGroup(2, ("/gone",))]
)
def test_without_a_v2_group_it_is_the_hosts(tmp_path: Path, group: ControlGroup | Absent | Unseen) -> None:
    reading = read_pressure(group, plant(tmp_path, files("proc/pressure", SOME)))
    assert reading.of_host
    assert some_10s(reading) == [1.5] * 3


def test_one_resource_may_lack(tmp_path: Path) -> None:
    root = plant(tmp_path, {"g/cgroup.events": "", "g/io.pressure": SOME})
    reading = read_pressure(ControlGroup(2, (f"{root}/g",)), root)
    assert not reading.of_host
    assert some_10s(reading) == [None, None, 1.5]


def test_pressure_that_is_switched_off_is_unseen(tmp_path: Path) -> None:
    """psi=0: the files are there, reading gives EOPNOTSUPP. Here folders give an error as well."""
    root = plant(tmp_path, {"g/cgroup.events": "", **files("g", "", ".pressure/"), **files("proc/pressure", "", "/")})
    reading = read_pressure(ControlGroup(2, (f"{root}/g",)), root)
    assert all(isinstance(stall, Unseen) for stall in reading[1:])


def test_a_kernel_without_pressure_has_none(tmp_path: Path) -> None:
    reading = read_pressure(Absent(""), str(tmp_path))
    assert all(isinstance(stall, Absent) for stall in reading[1:])
