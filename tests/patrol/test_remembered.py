"""The curve of a loss comes from the run's own series where it keeps one, else from what the ticks saw."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from onbox.series.point import Point as SeriesPoint
from patrol.memory.history import Before, BoxBefore
from patrol.memory.rows import BoxNote, RunNote, TickNote, TickPoint
from patrol.memory.store import Memory
from patrol.report.remembered import losses_of, remembered_subjects

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(os.fspath(tmp_path / "state"))


def remember(memory: Memory, number: int, loss: float, *series: SeriesPoint) -> None:
    at = time.time() - 600 + number
    words = ("gpu1", "digits", at, Before(), "line", "{}", "running", 0, "healthy", "says", None)
    box = BoxNote("gpu1", at, BoxBefore(), "{}", None, series=(("digits", series),) if series else ())
    memory.remember(TickNote(at, at, 0, (box,), (RunNote(*words, TickPoint(loss=loss)),)))


def test_where_there_is_no_series_the_ticks_losses_are_drawn(memory: Memory) -> None:
    assert losses_of(memory, "gpu1", "digits") == []
    for number, loss in enumerate((3.0, 2.0, 1.0)):
        remember(memory, number, loss)
    assert losses_of(memory, "gpu1", "digits") == [3.0, 2.0, 1.0]
    assert losses_of(memory, "gpu1", "other") == []


def test_the_newest_stage_of_a_series_goes_before_the_ticks(memory: Memory) -> None:
    now = time.time()
    points = [SeriesPoint(now - 300 + at, "warm-up", 1, loss=9.0) for at in range(3)]
    points += [SeriesPoint(now - 200 + at, "train", 1, loss=5.0 - at) for at in range(4)]
    points += [SeriesPoint(now - 100, "train", 1, loss="nan"), SeriesPoint(now - 90, "train", 1)]
    remember(memory, 1, 7.0, *points)
    assert losses_of(memory, "gpu1", "digits") == [5.0, 4.0, 3.0, 2.0]


def test_a_word_that_cannot_be_read_back_is_no_row(memory: Memory) -> None:
    remember(memory, 1, 7.0)
    assert remembered_subjects(memory, ["gpu1"]) == {}
