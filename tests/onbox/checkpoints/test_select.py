"""Which checkpoint a resume finds."""

from __future__ import annotations

import pytest

from onbox.checkpoints.select import Checkpoint, choose, step_of


@pytest.mark.parametrize(
    ("step", "path"),
    [
        (10000, "ckpt/step-10000"),
        (9000, "ckpt/step-9000/"),
        (12, "epoch_00012.npz"),
        (7, "run2/model.7.pt"),
        (500, "checkpoint-500"),
        (3, "v2-step3-final.safetensors"),
        (9, "epoch=09-val_loss=0.25.ckpt"),
        (1200, "epoch=3-step=1200.ckpt"),
        (300, "step_300_loss_0.12.pt"),
        (300, "m-0.25-300.pt"),
        (None, "model_v1.5.pt"),
        (None, "best.npz"),
        (None, "ckpt7/best"),
    ],
)
def test_the_step_is_the_number_that_counts(step: int | None, path: str) -> None:
    assert step == step_of(path)


def found(path: str, *, whole: bool | None = True) -> Checkpoint:
    return Checkpoint(path, step_of(path) or 0, 1, whole, "why")


def test_the_newest_by_number_is_chosen_not_by_name() -> None:
    choice = choose([found("step-9000"), found("step-10000"), found("step-800")])
    assert choice.chosen is not None
    assert choice.chosen.path == "step-10000"


def test_one_that_is_incomplete_is_named_and_never_chosen() -> None:
    choice = choose([found("step-9000"), found("step-10000", whole=False)])
    assert choice.chosen is not None
    assert (choice.chosen.path, [one.path for one in choice.passed_over]) == ("step-9000", ["step-10000"])


def test_none_that_is_whole_is_none() -> None:
    choice = choose([found("step-1", whole=False)])
    assert choice.chosen is None
    assert len(choice.passed_over) == 1
