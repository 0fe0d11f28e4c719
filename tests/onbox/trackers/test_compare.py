"""The decision table over a tracker's word, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.contract.readings import Absent, Unseen
from onbox.trackers.compare import TABLE, FrozenIntent, TrackerPoints, compare
from onbox.trackers.reading import TrackerRun

NOW = 1_800_000_000.0
RUN = TrackerRun("wandb", "abc", "try-7", "digits", "running", 100.0, False, NOW - 10)
LOOK = TrackerPoints(FrozenIntent("abc", "try-7", "digits"), RUN, None, NOW, 3600.0, False, True, 600.0)


def look(**changes: Any) -> TrackerPoints:
    return LOOK._replace(**changes)


def run(**changes: Any) -> TrackerRun:
    return RUN._replace(**changes)


CASES: list[tuple[str, TrackerPoints]] = [
    ("could-not-look", look(seen=Unseen("HTTP 500"))),
    ("not-there-yet", look(seen=Absent("no run"), running_seconds=30.0)),
    ("missing", look(seen=Absent("no run"))),
    ("identity-drift", look(seen=run(run_id="xyz"))),
    ("identity-drift", look(seen=run(project="other"))),
    ("identity-drift", look(seen=run(name="try-8"))),
    ("ended", look(seen=run(state="crashed"))),
    ("catching-up", look(resumed=True, running_seconds=5.0)),
    ("catching-up", look(resumed=True, running_seconds=60.0, seen=run(last_at_seconds=NOW - 900))),
    ("steps-went-back", look(before=run(step=150.0))),
    ("moving", look(before=run(step=90.0))),
    ("moving", look(before=run(step=90.0), seen=run(last_at_seconds=None))),
    ("fresh", look()),
    ("fresh", look(resumed=True, before=run(step=150.0))),
    ("fresh", look(before=run(own_step=True, step=999.0))),
    ("tracker-lags", look(seen=run(last_at_seconds=NOW - 900))),
    ("stale", look(seen=run(last_at_seconds=NOW - 900), log_moves=False)),
    ("no-times", look(seen=run(last_at_seconds=None), log_moves=None)),
]


@pytest.mark.parametrize(("rule", "seen"), CASES)
def test_each_row(rule: str, seen: TrackerPoints) -> None:
    assert rule == compare(seen).rule


def test_all_rows_are_tried_and_have_names_of_their_own() -> None:
    names = [row.rule for row in TABLE]
    assert len(names) == len(set(names))
    assert set(names) == {rule for rule, _ in CASES}


def test_a_resume_must_move_once_the_tracker_has_a_point_of_it() -> None:
    old = run(last_at_seconds=NOW - 3000)
    assert compare(look(resumed=True, seen=old, log_moves=False)).rule == "stale"


@pytest.mark.parametrize(("rule", "age"), [("fresh", 600.0), ("stale", 601.0)])
def test_the_boundary_of_stale(rule: str, age: float) -> None:
    assert rule == compare(look(seen=run(last_at_seconds=NOW - age), log_moves=False)).rule


def test_a_drift_names_both() -> None:
    opinion = compare(look(seen=run(run_id="xyz")))
    assert opinion.alert
    assert opinion.text == "the tracker shows the id xyz, meant is abc"


def test_what_was_not_recorded_cannot_drift() -> None:
    assert compare(look(intent=FrozenIntent())).rule == "fresh"
