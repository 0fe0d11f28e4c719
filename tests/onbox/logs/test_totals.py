"""A head that tells how much there is in words that no rule knows, and heads whose numbers are of something else."""

from __future__ import annotations

import pytest

from onbox.logs.totals.head_numbers import numbers_of_head
from tests.onbox.logs.loops import lines, read

# (head, form of the loop's lines, the exact maximum)
TOLD: dict[str, tuple[str, str, int | None]] = {
    "between settings": ("GA popsize=128 mutation=0.02 gens=900 seed=7\n", "gen # best 0.31 mean 0.2", 900),
    "in a table of dots": ("  lr........... 0.001\n  epochs....... 60\n  batch........ 32\n", "ep # loss 0.31", 60),
    "beside what is of a part": ("eval each 50, save each 100, stop at step 700\n", "step # loss 0.31 ppl 3.1", 700),
    "behind its unit": ("resnet18 / cifar100 / 90 epochs / bs 256\n", "epoch # train 0.31 val 0.42", 90),
    "of camels": ("{batchSize: 64, maxEpochs: 45, seed: 1337}\n", "epoch # loss 0.31", 45),
}
OF_SOMETHING_ELSE: dict[str, tuple[str, str]] = {
    "a batch size": ("model resnet18, batch 128, lr 0.1\n", "epoch # loss 0.31"),
    "a seed": ("seed 4242\n", "step # loss 0.31"),
    "samples": ("train 50000 samples, val 10000 samples\n", "epoch # loss 0.31"),
    "a port": ("listening on port 29500, world size 8\n", "step # loss 0.31"),
    "parameters": ("model has 124439808 parameters\n", "iter # loss 0.31"),
    "how often it is saved": ("saving every 500 steps, eval every 1000 steps\n", "step # loss 0.31"),
    "a year": ("Copyright 2024 the authors\n", "iter # loss 0.31"),
}


@pytest.mark.parametrize("name", TOLD)
def test_the_end_is_found_among_other_numbers(name: str) -> None:
    head, form, most = TOLD[name]
    progress = read(head + lines(form, *range(1, 9)))
    assert (progress.current, progress.exact_max) == (8, most)


@pytest.mark.parametrize("name", OF_SOMETHING_ELSE)
def test_a_number_of_something_else_is_no_end(name: str) -> None:
    head, form = OF_SOMETHING_ELSE[name]
    progress = read(head + lines(form, *range(1, 9)))
    assert (progress.current, progress.exact_max) == (8, None)


def test_numbers_have_the_words_of_their_clause() -> None:
    found = numbers_of_head(b"fit 12 maxEpochs=1,500 (resume at 40), v2 0.9\nepoch 1\nepoch 2\n")
    assert [(one.value, one.left[:2], one.right[:1]) for one in found] == [
        (12, ("fit",), ("max",)),
        (1500, ("epochs", "max"), ()),
        (40, ("at", "resume"), ()),
    ]


@pytest.mark.parametrize(
    "head",
    [
        "teacher was trained for 300 epochs",
        "keep last 5 epochs",
        "freeze backbone for 5 epochs",
        "cooldown 10 epochs",
        "previous run had 40 epochs",
        "EMA over 50 epochs",
        "buffer holds 12 epochs",
    ],
)
def test_what_a_head_says_of_another_run_or_of_a_part_is_no_end(head: str) -> None:
    log = f"{head}\nepoch 1 loss 0.9\nepoch 2 loss 0.8\nepoch 3 loss 0.7\n"
    assert read(log).exact_max is None
