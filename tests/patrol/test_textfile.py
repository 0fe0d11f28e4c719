"""Metrics hold only what was seen, and hostile names cannot break the format."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.contract.progress import Progress
from onbox.contract.readings import Absent
from onbox.contract.states import RunState
from onbox.system.files import StateNotWritten
from patrol.memory.history import BoxBefore
from patrol.report.textfile import box_samples, render, run_samples, why_not_ours, write
from patrol.snapshot import BoxLook, DiskLook, RunLook, Unreachable
from patrol.verdict import Finding, Severity, Verdict

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = 'a"b\\c\nd'


def test_only_what_was_seen_is_a_metric() -> None:
    verdict = Verdict("gpu1", "digits", RunState.RUNNING, Finding("healthy", Severity.OK, ""), since=5.0)
    look = RunLook("digits", managed=True, place="/x", progress=Progress(current=4600.0, loss="nan"))
    lines = render(run_samples(verdict, look, 9.0)).splitlines()
    assert 'patrol_run_progress{box="gpu1",run="digits"} 4600.0' in lines
    assert not any("loss" in line or "progress_max" in line or "log_timestamp" in line for line in lines)
    assert len(list(run_samples(verdict, None, 9.0))) == 3


def test_an_age_is_told_as_a_time_which_stays_true_until_the_next_tick() -> None:
    verdict = Verdict("gpu1", "digits", RunState.RUNNING, Finding("healthy", Severity.OK, ""), since=5.0)
    look = RunLook("digits", managed=True, place="/x", heartbeat_age_seconds=30.0, progress=Progress(eta_seconds=600.0))
    text = render(run_samples(verdict, look, 1000.0))
    assert 'patrol_run_heartbeat_timestamp_seconds{box="gpu1",run="digits"} 970.0\n' in text
    assert 'patrol_run_expected_end_timestamp_seconds{box="gpu1",run="digits"} 1600.0\n' in text
    ended = verdict._replace(state=RunState.FAILED)
    assert "expected_end" not in render(run_samples(ended, look, 1000.0))


def test_the_same_sample_twice_is_there_once_because_a_collector_drops_the_whole_file() -> None:
    disk = DiskLook("/data \udce9", 10, 100, 5, 50)
    seen = BoxLook("gpu1", 1.0, Absent("x"), (), disks=(disk, disk))
    text = render(box_samples("gpu1", seen, BoxBefore()))
    assert text.count("patrol_box_disk_free_bytes{") == 1
    text.encode()


def test_hostile_names_stay_within_their_quotes() -> None:
    samples = box_samples(HOSTILE, Unreachable("x", 1.0, "dns", ""), BoxBefore())
    text = render(samples)
    assert 'patrol_box_reached{box="a\\"b\\\\c\\nd"} 0.0\n' in text
    assert len(text.splitlines()) == 3


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(StateNotWritten):
        write(os.fspath(tmp_path / "none" / "x.prom"), "x")
    (tmp_path / "x.prom").mkdir()
    with pytest.raises(StateNotWritten):
        write(os.fspath(tmp_path / "x.prom"), "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x.prom"]


def test_only_our_own_metrics_are_replaced(tmp_path: Path) -> None:
    ours, others, link = tmp_path / "a.prom", tmp_path / "b.prom", tmp_path / "c.prom"
    assert why_not_ours(os.fspath(ours)) is None
    write(os.fspath(ours), render(box_samples("gpu1", Unreachable("x", 1.0, "dns", ""), BoxBefore())))
    assert why_not_ours(os.fspath(ours)) is None
    others.write_text("# HELP backup_age_seconds Of another program.\n")
    assert "something else" in str(why_not_ours(os.fspath(others)))
    link.symlink_to(ours)
    assert why_not_ours(os.fspath(link)) == "is not a file"
