"""The time that is left: by our own readings, never by a bar that counts what it did not do."""

from __future__ import annotations

import math

import pytest

from onbox.contract.progress import Progress
from onbox.model.pace import PaceReading, pace_of, with_eta, with_reading

HALF = Progress(current=350, exact_max=1000)


def test_the_pace_is_that_of_the_readings() -> None:
    readings = [PaceReading(0.0, 350.0), PaceReading(30.0, 380.0), PaceReading(60.0, 410.0)]
    assert pace_of(readings) == 1.0
    assert with_eta(HALF._replace(eta_seconds=0.0), pace_of(readings), moves=True).eta_seconds == 650.0


@pytest.mark.parametrize("readings", [[], [PaceReading(0.0, 1.0)], [PaceReading(0.0, 1.0), PaceReading(0.5, 40.0)]])
def test_too_little_was_seen_for_a_pace(readings: list[PaceReading]) -> None:
    assert pace_of(readings) is None


def test_a_counter_that_went_back_is_another_one() -> None:
    readings = with_reading((PaceReading(0.0, 5155.0),), PaceReading(30.0, 30.0))
    assert readings == (PaceReading(30.0, 30.0),)


@pytest.mark.parametrize("told", [0.0, -3.0, math.nan, math.inf, 0.4])
def test_a_bar_that_was_resumed_says_nothing_of_the_time_left(told: float) -> None:
    """tqdm that begins at step 350 of 1000 takes those for its own: 5199 it/s, nothing left."""
    assert with_eta(HALF._replace(eta_seconds=told), None, moves=True, attempt_seconds=20.0).eta_seconds is None


def test_a_told_time_that_can_be_is_told_until_there_is_our_own() -> None:
    assert with_eta(HALF._replace(eta_seconds=600.0), None, moves=True, attempt_seconds=320.0).eta_seconds == 600.0


@pytest.mark.parametrize(
    ("progress", "moves"),
    [(HALF, False), (HALF._replace(finished=True), True), (HALF._replace(current=1000), True)],
)
def test_what_is_dead_or_done_has_no_time_left(progress: Progress, *, moves: bool) -> None:
    assert with_eta(progress._replace(eta_seconds=60.0), 1.0, moves=moves).eta_seconds is None
