"""Which cards are fit for a long run, and what the kernel's log says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from onbox.collectors.gpu.health import XIDS, judge_gpu, parse_xids, read_xids
from onbox.collectors.gpu.nvml import GpuProcess, LostGpu
from onbox.contract.readings import Absent, Unseen
from onbox.preflight.gpus import check_gpus, check_xids
from tests.onbox.collectors.test_gpu import one, read
from tests.onbox.preflight.facts import facts

if TYPE_CHECKING:
    from pathlib import Path

IDLE = one()._replace(memory_used_bytes=600 << 20, processes=(), unaccounted_bytes=600 << 20, utilization_percent=0)


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ([], {}),
        ([], {"throttle_reasons": ("sw_power_cap", "app_clocks")}),
        ([], {"ecc_uncorrected_total": Absent("no ECC"), "rows_pending": Unseen("x"), "processes": Unseen("x")}),
        ([True], {"ecc_uncorrected_total": 1}),
        ([False], {"rows_pending": True}),
        ([True], {"rows_failed": True, "rows_pending": True}),
        ([True], {"throttle_reasons": ("hw_slowdown",)}),
        ([True], {"throttle_reasons": ("hw_thermal",)}),
        ([True], {"throttle_reasons": ("hw_power_brake",)}),
        ([False], {"throttle_reasons": ("sw_thermal",)}),
        ([False], {"temperature_celsius": 85}),
        ([False], {"utilization_percent": 99, "sm_clock_mhz": 300}),
        ([], {"utilization_percent": 0, "sm_clock_mhz": 300}),
        ([False], {"memory_used_bytes": 30 << 30, "unaccounted_bytes": 30 << 30}),
        ([False], {"memory_used_bytes": 30 << 30, "unaccounted_bytes": 0, "processes": (GpuProcess(9, 30 << 30),)}),
    ],
)
def test_a_card_is_judged_by_what_was_seen(expected: list[bool], changes: dict[str, Any]) -> None:
    concerns = list(judge_gpu(IDLE._replace(**changes)))
    assert [concern.grave for concern in concerns] == expected
    assert all(concern.remedy for concern in concerns)


def test_memory_held_by_nobody_never_says_kill() -> None:
    (concern,) = judge_gpu(IDLE._replace(memory_used_bytes=30 << 30, unaccounted_bytes=30 << 30))
    assert "kill" not in concern.what + concern.remedy


def test_a_lost_card_is_grave() -> None:
    assert [concern.grave for concern in judge_gpu(LostGpu(0, "it has fallen off the bus"))] == [True]


LOG = """\
6,1234,98765432,-;NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.161.08
4,1300,99999999,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[  123.4] NVRM: Xid (0000:af:00): 31, Ch 00000010, intr 00000000. MMU Fault
3,1,2,-;something else with Xid in it
"""


def test_xids_are_read_from_the_kernels_log() -> None:
    assert [(xid.number, xid.device) for xid in parse_xids(LOG)] == [(79, "0000:3b:00"), (31, "0000:af:00")]


def test_a_log_that_cannot_be_read_is_unseen(tmp_path: Path) -> None:
    assert isinstance(read_xids(str(tmp_path)), Unseen)
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "kmsg").mkdir()
    assert isinstance(read_xids(str(tmp_path)), Unseen)


def test_every_xid_has_a_meaning_and_a_remedy() -> None:
    assert [number for number, row in XIDS.items() if not row.meaning or not row.remedy] == []


def test_check_tells_cards_faults_and_xids() -> None:
    reading = read({})._replace(gpus=(IDLE, IDLE._replace(number=1, ecc_uncorrected_total=2)))
    found = [(result.check, result.verdict.value) for result in check_gpus(facts(gpus=reading))]
    assert found == [("gpu 0", "PASS"), ("gpu 1", "FAIL")]
    only = facts(gpus=reading, environ={"CUDA_VISIBLE_DEVICES": "0"})
    assert [result.check for result in check_gpus(only)] == ["gpu 0"]
    (hidden,) = check_gpus(facts(gpus=reading, environ={"CUDA_VISIBLE_DEVICES": "5"}))
    assert hidden.verdict.value == "WARN"
    (xid,) = check_xids(facts(gpus=reading, xids=parse_xids(LOG)))
    assert (xid.verdict.value, xid.seen) == ("WARN", "Xid 79 (the card has fallen off the bus), 1 time since the boot")
    (unread,) = check_xids(facts(gpus=reading, xids=Unseen("no rights")))
    assert unread.looked is False
    assert list(check_xids(facts(gpus=Absent("none")))) == []
