"""The series that a runner keeps: each reading of the log once, the pace between two steps, a bounded file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.chain.observe.progress_watch import ProgressWatch
from onbox.chain.observe.series_watch import Lap, SeriesWatch
from onbox.contract.paths import RunPaths
from onbox.model.manifest import Stage
from onbox.series.file import LIMIT_BYTES, read_points

if TYPE_CHECKING:
    from pathlib import Path

    from onbox.series.point import Point


class Training:
    """A log that grows, looked at by a runner's watch."""

    def __init__(self, folder: Path) -> None:
        self.paths = RunPaths(str(folder))
        self.log = folder / "a.log"
        self.log.touch()
        self.progress, self.series = ProgressWatch({}), SeriesWatch(self.paths)
        self.progress.begin(str(self.log))
        self.series.begin(Stage("train", "true"), str(folder), 1)

    def says(self, text: str = "") -> Point:
        with self.log.open("a") as file:
            file.write(text)
        self.progress.look()
        return self.series.take(self.progress, log_path=str(self.log))


def test_each_reading_stands_in_one_point(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.says("step 1/90 loss 2.0 lr 0.1 grad_norm 1.5 acc 0.25\n")
    training.says()
    training.says("saving a checkpoint\n")
    training.says("step 2/90 loss 2.0 lr 0.1\n")
    points = read_points(training.paths.series)
    assert [point.step for point in points] == [1.0, 1.0, 1.0, 2.0]
    assert [point.loss for point in points] == [2.0, None, None, 2.0]
    assert [(point.grad_norm, point.metric, point.metric_name) for point in points] == [
        (1.5, 0.25, "acc"), (None, None, None), (None, None, None), (None, None, None)
    ]  # fmt: skip


def test_an_equal_reading_of_another_step_is_a_reading(tmp_path: Path) -> None:
    training = Training(tmp_path)
    points = [training.says(f"step {step}/90 loss 0.0\n") for step in range(1, 30)]
    assert [point.loss for point in points] == [0.0] * 29


def test_a_loss_that_is_no_number_is_told_as_such(tmp_path: Path) -> None:
    training = Training(tmp_path)
    assert training.says("step 1/90 loss nan\n").loss == "nan"
    assert training.says("step 2/90 loss inf\n").loss == "inf"
    assert [point.loss for point in read_points(training.paths.series)] == ["nan", "inf"]


def test_the_pace_is_that_between_two_steps() -> None:
    lap = Lap()
    assert lap.pace(10.0, 100.0, 101.0) is None  # nothing to compare with
    assert lap.pace(30.0, 110.0, 131.0) == 2.0  # by when the log was written to, not by when it was looked at
    assert lap.pace(30.0, 110.0, 161.0) is None
    assert lap.pace(40.0, 210.0, 211.0) == 0.1  # over a pause
    assert lap.pace(5.0, 220.0, 221.0) is None  # begun anew


def test_the_time_left_is_by_the_series_where_the_last_readings_tell_no_pace(tmp_path: Path) -> None:
    """An epoch of an hour: the counter stood still for all of the last readings."""
    training = Training(tmp_path)
    for epoch, at in ((1, 1e9), (2, 1e9 + 3600), (3, 1e9 + 7200)):
        with training.log.open("a") as file:
            file.write(f"epoch {epoch}/10 done\n")
        os.utime(training.log, (at, at))
        training.progress.look()
        training.series.take(training.progress, log_path=str(training.log))
    assert training.series.pace == pytest.approx(1 / 3600)
    watch = ProgressWatch({})  # of the runner that comes after it
    watch.begin(str(training.log))
    series = SeriesWatch(training.paths)
    series.begin(Stage("train", "true"), str(tmp_path), 1, read_points(training.paths.series))
    watch.usual_pace = series.pace
    told = watch.look()
    assert told is not None
    assert told["eta_seconds"] == pytest.approx(7 * 3600)
    assert "eta 7h00m" in told["text"]


def test_a_month_fits_and_readings_outlive_points_without_one(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.says("step 1/90 loss 2.5\n")
    line = (tmp_path / "series.jsonl").read_bytes()
    dull = line.replace(b'"loss":2.5,', b"")
    day, lines = 2880, []
    for index in range(day):
        at = f"2026-11-22T{index // 120:02d}:{index % 120 // 2:02d}:{index % 2 * 30:02d}.000Z".encode()
        head, _, rest = (line if index % 60 == 0 else dull).partition(b'"at":"')
        lines.append(head + b'"at":"' + at + rest[24:])
    (tmp_path / "series.jsonl").write_bytes(b"".join(lines))
    training.says("step 2/90 loss 2.4\n")
    points = read_points(training.paths.series)
    assert (tmp_path / "series.jsonl").stat().st_size <= LIMIT_BYTES
    assert sum(point.loss is not None for point in points) == day // 60 + 1
    assert len({point.at // 3600 for point in points}) >= 24


def test_points_of_a_disk_that_takes_none_are_counted_and_the_run_goes_on(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.series = SeriesWatch(RunPaths(str(tmp_path / "gone")))
    training.series.begin(Stage("train", "true"), str(tmp_path), 1)
    assert training.says("step 1/90 loss 2.0\n").loss == 2.0
    assert training.series.missed == 1
