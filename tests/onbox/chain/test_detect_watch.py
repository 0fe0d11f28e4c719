"""What the detectors know of an attempt when it begins."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onbox.chain.observe.detect_watch import DetectedAttempt, DetectWatch
from onbox.contract.paths import RunPaths
from onbox.model.detect import DetectSettings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def paths(tmp_path: Path) -> RunPaths:
    """A run whose first attempt at `train` had a loss that is no number."""
    told = {"detector": "loss-not-finite", "proof": "loss nan", "since": "2026-11-22T10:00:00Z"}
    status = {"stage": "train", "attempt": 1, "detected": [told]}
    (tmp_path / "status.json").write_text(json.dumps({"schema": 1, **status}))
    point = {"schema": 1, "at": "2026-11-22T10:00:00Z", "stage": "train", "attempt": 1, "step": 7, "loss": "nan"}
    (tmp_path / "series.jsonl").write_text(json.dumps(point) + "\n")
    return RunPaths(str(tmp_path))


def test_an_adopted_attempts_episodes_go_on(paths: RunPaths) -> None:
    watch = DetectWatch(paths, DetectSettings())
    watch.begin(DetectedAttempt("train", 1, adopted=True))
    assert [one["proof"] for one in watch.as_data()] == ["loss nan"]


def test_a_new_attempt_reads_nothing_however_long_the_series_is(
    paths: RunPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("read at the start of a stage")

    monkeypatch.setattr("onbox.chain.observe.detect_watch.read_points", refuse)
    watch = DetectWatch(paths, DetectSettings())
    watch.begin(DetectedAttempt("eval", 1))
    assert watch.as_data() == []
    with pytest.raises(AssertionError):
        watch.begin(DetectedAttempt("train", 2, resumed=True))
