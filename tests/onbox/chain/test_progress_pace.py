"""How often a viewer without a terminal says how far the run is."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from onbox.chain.viewer import progress_lines
from onbox.chain.viewer.progress_pace import ProgressPace

if TYPE_CHECKING:
    import pytest

HOUR = 3600.0


def said_at(hours: float, percent_per_hour: float | None, every: float = 5.0) -> list[float]:
    """When it speaks of one stage, looked at every 5 s."""
    pace, said, now = ProgressPace(0.0), [], 0.0
    while now <= hours * HOUR:
        percent = None if percent_per_hour is None else min(100.0, percent_per_hour * now / HOUR)
        if pace.is_due(now, "train", percent):
            pace.said(now, percent)
            said.append(now)
        now += every
    return said


def test_the_first_word_comes_after_some_seconds_and_the_next_after_a_minute() -> None:
    assert said_at(0.05, None) == [15.0, 75.0, 135.0]


def test_a_log_is_never_silent_for_longer_than_half_an_hour() -> None:
    said = said_at(100, 1.0)
    assert max(after - before for before, after in pairwise(said)) <= 1805
    assert len(said) < 300


def test_each_twentieth_of_the_way_is_said_where_it_goes_fast() -> None:
    said = said_at(0.5, 200.0)  # 5 % in 90 s
    assert 20 <= len(said) <= 45


def test_there_is_never_more_than_a_line_in_ten_seconds() -> None:
    said = said_at(0.1, 36000.0)
    assert min(after - before for before, after in pairwise(said)) >= 10


def test_a_stage_that_begins_has_its_own_first_word() -> None:
    pace = ProgressPace(0.0)
    assert not pace.is_due(1000.0, "train", 90.0)
    assert not pace.is_due(1010.0, "train", 90.0)
    assert pace.is_due(1015.0, "train", 91.0)
    pace.said(1015.0, 91.0)
    assert not pace.is_due(1020.0, "eval", 0.0)
    assert not pace.is_due(1031.0, "train", 92.0)


def test_a_runners_heartbeats_become_lines_of_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `onbox chain --inline` prints them."""
    now: list[float] = [0.0]
    said: list[str] = []
    monkeypatch.setattr(progress_lines, "monotonic", lambda: now[0])
    beat = progress_lines.beats(lambda line: said.append(line) if line else None)
    status: dict[str, Any] = {"stage": "train", "stage_state": "running", "progress": {"text": "~4/100 (4%) eta 8m00s"}}
    for now[0] in range(0, 31, 5):
        beat(status)
    beat({"stage": "train", "stage_state": "done"})
    assert len(said) == 1
    assert said[0].endswith("train        running      ~4/100 (4%) eta 8m00s")
