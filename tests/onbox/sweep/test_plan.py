"""What a sweep does next, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.sweep.runner.plan import PLAN, CellAction, CellEvidence, plan_next
from onbox.sweep.state.board import CellFailure, Streak

QUIET = CellEvidence(
    stops=0,
    cells_told_to_stop=True,
    open=0,
    running=0,
    failed=0,
    new_failed=0,
    slots=2,
    max_failures=None,
    same_failures=10,
    streak=Streak(),
)
CASES: list[tuple[str, dict[str, Any], CellAction]] = [
    ("asked-to-stop", {"stops": 1, "cells_told_to_stop": False, "running": 1}, CellAction.STOP_CELLS),
    ("stopping", {"stops": 1, "running": 1}, CellAction.WAIT),
    ("stopped", {"stops": 1, "open": 5}, CellAction.END_STOPPED),
    ("cells-end-first", {"max_failures": 0, "new_failed": 1, "failed": 1, "open": 5, "running": 1}, CellAction.WAIT),
    ("too-many-failed", {"max_failures": 0, "new_failed": 1, "failed": 1, "open": 5}, CellAction.END_TOO_MANY),
    ("same-failure-again", {"streak": Streak("x", 10), "failed": 10, "open": 5}, CellAction.END_SAME),
    ("unwhole-list", {"unread": 1}, CellAction.END_FAILED),
    ("some-failed", {"failed": 1}, CellAction.END_FAILED),
    ("all-done", {}, CellAction.END_DONE),
    ("held-too-long", {"open": 1, "is_held": True, "held_too_long": True}, CellAction.END_REFUSED),
    ("held", {"open": 1, "is_held": True, "held_too_long": True, "running": 1}, CellAction.HOLD),
    ("slots-busy", {"open": 1, "running": 2}, CellAction.WAIT),
    ("none-open", {"running": 1}, CellAction.WAIT),
    ("open", {"open": 1, "running": 1}, CellAction.START),
]


@pytest.mark.parametrize(("name", "seen", "action"), CASES)
def test_each_row(name: str, seen: dict[str, Any], action: CellAction) -> None:
    row = plan_next(QUIET._replace(**seen))
    assert (row.name, row.action) == (name, action)


def test_every_row_has_its_case() -> None:
    assert [row.name for row in PLAN] == [name for name, _, _ in CASES]


@pytest.mark.parametrize(
    ("seen", "action"),
    [
        ({"is_growing": True}, CellAction.WAIT),  # half a line of the queue: it may be one more cell
        ({"same_failures": 0, "streak": Streak("x", 99), "open": 1}, CellAction.START),
        ({"streak": Streak("x", 9), "open": 1}, CellAction.START),
        ({"streak": Streak("x", 10), "failed": 10}, CellAction.END_FAILED),  # nothing is left: no need to give up
        ({"max_failures": 3, "new_failed": 3, "open": 1}, CellAction.START),
    ],
)
def test_what_lies_beside_a_row(seen: dict[str, Any], action: CellAction) -> None:
    assert plan_next(QUIET._replace(**seen)).action is action


def test_a_streak_is_of_one_error_and_ends_with_a_success() -> None:
    oom, code = CellFailure("cuda_oom", "cuda_oom: x"), CellFailure("code_error", "code_error: y")
    streak = Streak()
    for failure, times in ((oom, 1), (oom, 2), (code, 1), (code, 2), (None, 0), (oom, 1)):
        streak = streak.after(failure)
        assert streak.times == times


def test_failures_of_which_nothing_is_known_are_not_the_same() -> None:
    assert Streak().after(CellFailure("unknown", "")).after(CellFailure("unknown", "")).times == 1
