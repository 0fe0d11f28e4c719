"""Why a checkpoint is kept."""

from __future__ import annotations

import pytest

from onbox.checkpoints.keep import ROWS, Candidate, Retention, Ties, why_kept


def at(*steps: int, **more: object) -> list[Candidate]:
    return [Candidate(f"/c/step-{step}", step, True, **more) for step in steps]  # type: ignore[arg-type]


def removable(
    found: list[Candidate],
    keep: int = 2,
    milestones: int | None = None,
    ties: Ties = Ties(),  # noqa: B008 - immutable
) -> list[int | None]:
    kept = why_kept(found, Retention(keep, milestones), ties)
    return [one.step for one in found if not kept[one.path]]


def test_the_newest_stay_by_number() -> None:
    assert removable(at(8, 9, 10, 11)) == [8, 9]


def test_incomplete_ones_do_not_count_as_kept_and_a_newer_one_stays() -> None:
    found = [*at(8, 9, 10), Candidate("/c/step-11", 11, usable=False), Candidate("/c/step-7", 7, usable=False)]
    assert removable(found) == [8, 7]


def test_without_a_usable_one_nothing_may_go() -> None:
    assert removable([Candidate("/c/step-1", 1, usable=False), Candidate("/c/step-2", 2, usable=False)]) == []


def test_all_files_of_a_step_are_one() -> None:
    found = [Candidate(f"/c/{kind}-{step}.pt", step, True) for step in (1, 2, 3) for kind in ("model", "optim")]
    assert removable(found) == [1, 1]


def test_a_milestone_is_the_first_at_or_after_each_multiple() -> None:
    assert removable(at(90, 120, 150, 210, 240, 300, 330), milestones=100) == [90, 150, 240]


@pytest.mark.parametrize(
    "ties",
    [
        Ties(final_step=1),
        Ties(launch_source="/c/step-1"),
        Ties(recovery_source="/c/step-1"),
        Ties(rolled_back_to=("/c/step-1",)),
        Ties(best=("/c/step-1",)),
    ],
)
def test_what_is_tied_to_the_run_stays(ties: Ties) -> None:
    assert removable(at(1, 2, 3, 4), ties=ties) == [2]


def test_what_a_link_or_its_name_calls_best_stays() -> None:
    found = [Candidate("/c/best-step-1", 1, True), Candidate("/c/step-2", 2, True, ("prod",)), *at(3, 4, 5)]
    assert removable(found) == [3]


def test_each_row_has_a_name_of_its_own() -> None:
    assert len(ROWS) == len({row.name for row in ROWS})


def test_where_the_latest_cannot_be_told_to_be_whole_the_newest_proven_one_stays() -> None:
    found = [*at(1, 2), *at(3, 4, proven=False)]
    assert removable(found) == [1]
