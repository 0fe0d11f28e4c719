"""Metrics hold only what was seen, and hostile names cannot break the format."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.contract.progress import Progress
from onbox.contract.states import RunState
from onbox.system.files import StateNotWritten
from patrol.memory.history import BoxBefore
from patrol.report.textfile import box_samples, render, run_samples, why_not_ours, write
from patrol.snapshot import RunLook, Unreachable
from patrol.verdict import Finding, Severity, Verdict

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = 'a"b\\c\nd'


def test_only_what_was_seen_is_a_metric() -> None:
    verdict = Verdict("gpu1", "digits", RunState.RUNNING, Finding("healthy", Severity.OK, ""), since=5.0)
    look = RunLook("digits", managed=True, place="/x", progress=Progress(current=4600.0, loss="nan"))
    lines = render(run_samples(verdict, look, 9.0)).splitlines()
    assert 'patrol_run_progress{box="gpu1",run="digits"} 4600.0' in lines
    assert not any("loss" in line or "progress_max" in line or "log_age" in line for line in lines)
    assert len(list(run_samples(verdict, None, 9.0))) == 2


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
