"""Figures that grow without bound, and results that are no numbers."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

FRESH = Evidence(log_age_seconds=30.0)
GROWN = {
    "a loss from its second line on, and a word of success": (
        "epoch 0 step 0 loss 2.3243\n"
        + "".join(f"epoch {at // 4} step {at % 4} loss {5e7 + at * 1e5:.4f}\n" for at in range(1, 12))
        + "training finished, best accuracy 0.1191\n"
    ),
    "a loss written out in all its digits": (
        "".join(f"INFO mlp | epoch {at:02} mse={4.1 * 10.0 ** (5 * at):.5f}\n" for at in range(30))
        + "INFO saved m.npz\n"
    ),
    "columns of a fixed width": (
        "step      0  Epot     -0.006  Ekin      0.038  T       292 K\n"
        + "".join(f"step {at:6}  Epot {40 + at % 7:10.3f}  Ekin {31000.5 - at % 3 * 9000:10.3f}  T {10**8 + at} K\n"
                  for at in range(10, 200, 10))
        + "trajectory complete\n"
    ),
}  # fmt: skip
AS_IT_SHOULD = {
    "a clock": "".join(f"item {at} took_s 0.{at % 9}1 elapsed {0.02 + at * 900.5:.2f}\n" for at in range(40)),
    "a reward": "".join(f"episode {at} reward {0.01 * 2.0**at:.2f}\n" for at in range(30)),
    "a figure that grows evenly": "".join(f"step {at} mass {0.01 + at * 900.5:.2f}\n" for at in range(40)),
    "a spike": "".join(f"step {at} loss {9e6 if at == 20 else 2.5 - at / 30:.4f}\n" for at in range(40)),
    "large from the start": "".join(f"epoch {at} mse {9.3e9 / (at + 1):.2f}\n" for at in range(30)),
}


@pytest.mark.parametrize("log", GROWN.values(), ids=GROWN)
def test_a_figure_far_above_its_first_one_has_diverged(log: str) -> None:
    told = classify(log.encode(), FRESH)
    assert (told.failure_class, told.rule) == ("divergence", "figure-blown-up")
    assert classify(log.encode(), Evidence(exit_code=0)).state == "done"  # it has ended, and is worth nothing


@pytest.mark.parametrize("log", AS_IT_SHOULD.values(), ids=AS_IT_SHOULD)
def test_what_may_grow_has_not(log: str) -> None:
    assert classify(f"{log}done\n".encode(), FRESH).failure_class == "success_healthy"


def test_results_none_of_which_is_a_number() -> None:
    assert (
        classify(b"evaluating\n[eval] n=0 accuracy=nan\n[eval] report written\n", FRESH).failure_class == "divergence"
    )
    table = "metric        value\nexact match | nan |\nerror rate  | nan |\nresults saved\n"
    assert classify(table.encode(), FRESH).failure_class == "divergence"


def test_one_result_that_is_no_number_beside_others() -> None:
    log = "evaluating\naccuracy 0.8312\nauc of the rare class nan\nreport written\n"
    assert classify(log.encode(), FRESH).failure_class == "success_healthy"


def test_a_loop_whose_figures_are_none_to_its_end_though_it_says_that_all_is_done() -> None:
    both = "".join(f"[{at}/400] D: nan G: nan\n" for at in range(40, 400, 40))
    assert classify(f"[0/400] D: -2.3 G: inf\n{both}training complete\n".encode(), FRESH).failure_class == "divergence"
    column = "".join(f" step {at:10} max T   0.00000000     sum              NaN\n" for at in range(0, 420, 20))
    assert classify(f"{column} field written to u.out\n".encode(), FRESH).failure_class == "divergence"


def test_batches_that_were_skipped_are_not_the_loop() -> None:
    log = "".join(
        f"!! iter {30 * at}: loss is nan, batch skipped ({at} so far)\n"
        f"Epoch {at} | train 0.{20 - at} | val_acc 0.9{at}\n"
        for at in range(1, 9)
    )
    assert classify(log.encode(), FRESH).failure_class == "success_healthy"
