"""Who goes on after a death: the counters of the same writer, beyond where they stood."""

from __future__ import annotations

import pytest

from onbox.logs.model.counts import Count, counts_of
from onbox.logs.model.life import KEPT, Steps
from onbox.logs.model.writers import Writer, writer_of


def steps_of(*lines: str) -> Steps:
    steps = Steps()
    for number, line in enumerate(lines, start=1):
        steps.add((number, number, line.encode()))
    return steps


def test_a_counter_that_rises_is_a_life_sign() -> None:
    assert steps_of("step 1 loss 2", "step 2 loss 2", "step 3 loss 2").signs_after(1) == 2


def test_a_bar_drawn_once_more_is_no_life_sign() -> None:
    steps = steps_of(" 40%|####   | 40/100 [00:10<00:15]", " 40%|####   | 40/100 [00:12<00:18]")
    assert steps.signs_after(1) == 0


def test_a_colleague_does_not_live_for_a_dead_rank() -> None:
    steps = steps_of("[rank0]: step 5", "[rank1]: step 5", "[rank0]: step 6", "[rank0]: step 7", "[rank0]: step 8")
    assert steps.signs_after(2, "[rank1]", uncaught=True) == 0
    assert steps.signs_after(2, "[rank0]", uncaught=True) == 3


def test_a_worker_that_is_not_in_step_may_be_replaced() -> None:
    steps = steps_of("trial 1 loss 3", "trial 2 loss 3", "trial 3 loss 3")
    assert steps.signs_after(1, "(train_fn pid=17)", uncaught=True) == 2


def test_metrics_without_a_counter_count_when_said_again() -> None:
    assert steps_of("loss 3.1", "loss 3.0", "accuracy 0.1").signs_after(1) == 1


def test_what_lies_far_back_was_survived() -> None:
    steps = steps_of(*(f"step {number}" for number in range(KEPT + 10)))
    assert steps.signs_after(2) == KEPT


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("epoch 3/10 step 1,200 loss 0.5", (Count("epoch", 3, 10), Count("step", 1200))),
        ("[12/80] converted a.jpg", (Count("/80", 12, 80),)),
        ("    7   0.412   0.388", (Count("row", 7),)),
        ("built on 2026/11/22 at 10:30", ()),
        ("loss 0.5", ()),
    ],
)
def test_counters_of_a_line(text: str, counts: tuple[Count, ...]) -> None:
    assert counts_of(text) == counts


@pytest.mark.parametrize(
    ("source", "writer"),
    [
        ("[rank3]", Writer("rank", "3")),
        ("[1,2]", Writer("rank", "1,2")),
        ("(train_fn pid=71, ip=10.0.0.2)", Writer("process", "71")),
        ("trainer-1 | ", Writer("host", "trainer-1")),
        ("", Writer("", "")),
    ],
)
def test_the_writer_of_a_line(source: str, writer: Writer) -> None:
    assert writer_of(source) == writer
