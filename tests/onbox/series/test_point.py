"""A point of a series as its line in series.jsonl, and back."""

from __future__ import annotations

import pytest

from onbox.series.file import points_of
from onbox.series.point import Point, parse_point, point_to_dict
from tests.series_line import series_line

FULL = Point(
    1795359909.125,
    "train",
    2,
    step=4600.0,
    unit="step",
    loss=0.41,
    learning_rate=3e-4,
    grad_norm="inf",
    metric=0.5,
    metric_name="val_acc",
    steps_per_second=1.25,
    checkpoint_step=4000,
    checkpoint_at=1795359000.0,
    checkpoints=3,
    memory_bytes=1 << 30,
    gpu_percent=97.5,
    gpu_memory_bytes=1 << 34,
    log_at=1795359908.5,
    log_bytes=1024,
    artifact_at=1795359000.0,
)


@pytest.mark.parametrize("point", [FULL, Point(1.0, "train", 1), FULL._replace(loss="nan")])
def test_a_point_is_read_as_it_was_written(point: Point) -> None:
    assert parse_point(series_line(point)) == point


def test_what_was_not_seen_is_left_out() -> None:
    assert point_to_dict(Point(0.5, "train", 1)) == {"at": "1970-01-01T00:00:00.500Z", "stage": "train", "attempt": 1}


def test_torn_lines_and_junk_are_passed_over() -> None:
    good = series_line(FULL)
    assert points_of(good + b"\n\xff\x00junk\n[1]\n{}\n" + good + good[:40]) == [FULL, FULL]


def test_a_field_that_holds_what_it_cannot_is_left_out() -> None:
    line = series_line(Point(1.0, "train", 1, loss=0.5)).replace(b"0.5", b'"\\u001b[31m"')
    assert parse_point(line) == Point(1.0, "train", 1)


def test_points_of_one_stage() -> None:
    other = FULL._replace(stage="eval")
    assert points_of(series_line(FULL) + series_line(other), "eval") == [other]
