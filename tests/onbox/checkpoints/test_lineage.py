"""Which checkpoints are not this run's own, and how certain that is."""

from __future__ import annotations

import pytest

from onbox.checkpoints.lineage import ROWS, LineageTerms, SavedCheckpoint, judge, stated

OLD, BEGAN, NOW = 1000.0, 2000.0, 3000.0


def one(step: int, at: float = NOW, **more: object) -> SavedCheckpoint:
    return SavedCheckpoint(f"ckpt/step-{step}", step, at, **more)  # type: ignore[arg-type]


CASES: tuple[tuple[str, list[SavedCheckpoint], LineageTerms, dict[str, tuple[str, bool]]], ...] = (
    ("nothing is known", [one(1), one(2)], LineageTerms(), {}),
    (
        "rejected by name",
        [one(1), one(2)],
        LineageTerms(rejected=("ckpt/step-2",)),
        {"ckpt/step-2": ("rejected", True)},
    ),
    (
        "rejected by pattern",
        [one(1), one(20)],
        LineageTerms(rejected=("step-20",)),
        {"ckpt/step-20": ("rejected", True)},
    ),
    (
        "a rollback that was cut off",
        [one(1), one(20)],
        LineageTerms(rolled_back=("step-20",)),
        {"ckpt/step-20": ("rolled-back", True)},
    ),
    ("the same step", [one(7, stated_step=7)], LineageTerms(), {}),
    ("another step", [one(9, stated_step=7)], LineageTerms(), {"ckpt/step-9": ("other-step", True)}),
    ("one run", [one(1, stated_run="abc"), one(2, stated_run="abc")], LineageTerms(own=("20261121-1",)), {}),
    (
        "ours is known",
        [one(1, OLD, stated_run="abc"), one(2, stated_run="xyz")],
        LineageTerms(own=("wandb lab/abc, resume=allow",)),
        {"ckpt/step-2": ("other-run", True)},
    ),
    (
        "of two the newest written is ours",
        [one(1, stated_run="abc"), one(2, OLD, stated_run="xyz")],
        LineageTerms(),
        {"ckpt/step-2": ("other-run", True)},
    ),
    (
        "the only name, where the others have metadata without one",
        [one(1, stated_step=1, tells=True), one(2, NOW + 1, stated_run="other", tells=True)],
        LineageTerms(own=("20261121-1",), attempts=(BEGAN,)),
        {"ckpt/step-2": ("other-run", True)},
    ),
    (
        "the only name, where the others have no metadata",
        [one(1), one(2, stated_run="abc", tells=True)],
        LineageTerms(own=("20261121-1",)),
        {},
    ),
    (
        "named since the first attempt, in a folder that another training had used",
        [one(1, OLD, tells=True), one(2, OLD, tells=True), one(30, stated_run="abc", tells=True)],
        LineageTerms(attempts=(BEGAN,)),
        {},
    ),
    (
        "a copy among many of ours",
        [one(1, stated_run="abc"), one(2, stated_run="abc"), one(9, NOW + 1, stated_run="xyz")],
        LineageTerms(attempts=(BEGAN,)),
        {"ckpt/step-9": ("other-run", True)},
    ),
    (
        "a branch that was given up",
        [one(3), one(20, OLD), one(2, OLD)],
        LineageTerms(attempts=(500.0, BEGAN)),
        {"ckpt/step-20": ("earlier-branch", False)},
    ),
    (
        "begun anew, and nothing was written yet",
        [one(20, OLD), one(30, NOW)],
        LineageTerms(attempts=(500.0, BEGAN), begun_anew=BEGAN),
        {"ckpt/step-20": ("given-up", False)},
    ),
    ("the newest attempt wrote nothing yet", [one(3, OLD), one(20, OLD)], LineageTerms(attempts=(BEGAN,)), {}),
    ("copied in any order before it began", [one(20, 900.0), one(3, OLD)], LineageTerms(attempts=(BEGAN,)), {}),
    ("it goes on upwards", [one(3, OLD), one(20)], LineageTerms(attempts=(500.0, BEGAN)), {}),
)


@pytest.mark.parametrize(("found", "terms", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_tells_against_a_checkpoint(
    found: list[SavedCheckpoint], terms: LineageTerms, wanted: dict[str, tuple[str, bool]]
) -> None:
    assert {path: (said.row, said.certain) for path, said in judge(found, terms).items()} == wanted


def test_every_row_is_reached() -> None:
    reached = {said.row for _, found, terms, _ in CASES for said in judge(found, terms).values()}
    assert reached == {row.name for row in ROWS}


def test_metadata_of_any_kind_is_read() -> None:
    assert stated({"step": 7, "run_id": "abc"}) == (7, "abc")
    assert stated({"global_step": 500, "epoch": 1.0}) == (500, "")
    assert stated({"step": True, "run": 3}) == (None, "")
