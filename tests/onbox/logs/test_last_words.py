"""Logs of which the last lines tell of an end as no line of their loop does; and such that only seem to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.logs.progress import read_progress

if TYPE_CHECKING:
    from onbox.contract.progress import Progress


def read(text: str) -> Progress:
    return read_progress(text.encode())


def loop(line: str, *numbers: int) -> str:
    return "".join(line.format(at, at * 37 % 100) for at in numbers)


SWEEPS = loop("sweep {} of 40\n  theta = 0.{:02}\n\n", *range(1, 40, 3))
ENDS = [
    SWEEPS + "+++++++++++++++++++\nThe acceptance rate was 0.31\n+++++++++++++++++++\n",
    loop("iterations {} error 0.{:02}\n", 500, 1000, 1500, 2000) + "{ error: 0.0091, iterations: 2263, time: 811 }\n",
    "Scoring 2144 sentences\n" + loop("{} sentences scored, ppl {}.5\n", 500, 1000, 1500, 2000) + "ppl 88.31\n",
    loop("[{}]\tvalid rmse: 0.{:02}\n", *range(10, 90, 10)) + "tuning done\n",
    loop("INFO pso: iter {} best 0.{:02}\n", *range(6)) + "INFO pso: stopping: max_no_change reached\n",
    loop("game {}/900  score {}\n", *range(30, 300, 30)) + "mean score above 90, stopping after game 283\n",
    loop("Trial run {}/60 gain={}.5%\n", *range(1, 20)) + "target gain reached, stopping early after 19 trials\n",
    loop("  Iteration {}\t change 0.{:02}\n", *range(5, 45, 5))
    + "lib/fit.py:81: ConvergenceWarning: raise max_iter\n  warnings.warn(\n",
    loop("Generation {}: best = 0.{:02}, mean = 0.2\n", *range(12)) + "Optimum found in generation 11.\n",
    loop("{0}/11 Test #{0}: io ......   Passed    0.{1:02} sec\n", *range(1, 12))
    + "\n82% tests passed, 2 tests failed out of 11\n"
    "Total Test time (real) =   0.70 sec\nThe following tests FAILED:\n\t  3 - net (Failed)\nErrors while running\n",
    " 100% ━━━━━━━━━━━━ 4,096/4,000  [ 0:01:09 < 0:00:00 , 49 it/s ]",
]
STEPS_OF_EPOCHS = "  epochs : 3\n  optimizer steps: 1,840\n"
TABLE_HEAD = "# 40 cities, 3000 proposals\nproposal   temp   best\n"
TAKEN_UP = (
    "[fit] starting at step 40 / 90\n\rfit:  44%|####  | 40/90 [00:00<?, ?it/s]\r"
    "fit:  46%|####  | 41/90 [00:01<00:43, 1.1it/s]\rfit:  47%|####  | 42/90 [00:02<00:45, 1.1it/s]"
)
GOES_ON = [
    loop("step {}/900 loss 0.{:02}\n", *range(30, 300, 30)) + "disk full, stopping after step 270\n",
    loop("step {}/900 loss 0.{:02}\n", *range(30, 300, 30)) + "got SIGUSR1, stopping after step 270\n",
    loop("epoch {}/9 loss 0.{:02}\n", 1, 2, 3) + "val acc 0.71\n",
    "Number of words: 301\nNumber of topics: 20\n",
    SWEEPS[: len(SWEEPS) // 2] + "+++++++++++++++++++\n",
]


@pytest.mark.parametrize("log", ENDS)
def test_the_run_is_over(log: str) -> None:
    assert read(log).finished is True


@pytest.mark.parametrize("log", GOES_ON)
def test_the_run_is_not_over(log: str) -> None:
    assert read(log).finished is not True


@pytest.mark.parametrize(
    ("log", "current", "most"),
    [
        (loop("tuner: pass {} of at most 50, errors {}\n", *range(1, 9)), 8, 50),
        (loop("EM iteration {} (max 300): delta = 0.{:02}\n", *range(1, 9)), 8, 300),
        (loop("t= {} of T=40000  regret 0.{:02}\n", *range(0, 9000, 1000)), 8000, 40000),
        (STEPS_OF_EPOCHS + loop("step {} | epoch 0.{:02} | loss 0.3\n", 20, 24, 28, 32), 32, 1840),
        (TABLE_HEAD + loop("{}  0.7{:02}  15.5\n", *range(150, 1650, 150)), 1500, 3000),
        ("n_iterations: 3\n---\niter: 0\nn_candidates: 18\n---\niter: 1\nn_candidates: 6\n", 1, 3),
        (loop("{}/39 files checked {}% done\n", 3, 7, 12, 20) + "39/39 files checked 100% done\n", 39, 39),
        (TAKEN_UP, 42, 90),
    ],
)  # fmt: skip
def test_the_counter_and_its_end(log: str, current: int, most: int) -> None:
    assert (read(log).current, read(log).exact_max) == (current, most)


@pytest.mark.parametrize(
    "log",
    [
        loop("task score_batch[{}] took 0.{:02}s\n", 812, 4711, 93, 5512),
        "Call:\nglm(formula = y ~ x)\n\nNumber of Fisher Scoring iterations: 6\n\nTerms added\n  1 2 3\n",
        4 * "[start] job\n[out] step 1\n[out] step 2\n[done] job\n",
    ],
)
def test_no_counter_is_seen(log: str) -> None:
    assert (read(log).current, read(log).exact_max) == (None, None)


def test_a_rate_beside_its_counts_is_no_progress() -> None:
    log = "".join(f"decoded {at} clips, error 6.{at}% ({at * 3} / {at * 50})\n" for at in range(20, 100, 20))
    assert read(log).exact_max is None


def test_what_an_object_shows_is_no_end() -> None:
    log = loop("iteration {}, learner tree, error 0.{:02}\n", *range(40))
    log += "best: Forest(criterion='gini',\n      max_leaf_nodes=4, n_estimators=94, n_jobs=1)\n"
    assert (read(log).current, read(log).exact_max) == (39, None)


def test_a_set_fitness_is_no_bar() -> None:
    log = "".join(f"Generation {at}: best fitness = {20 + at}/40, mean = 9.5\n" for at in range(12))
    assert (read(log).current, read(log).exact_max) == (11, None)


@pytest.mark.parametrize(
    "last", ["  240  0.61  8.0116E-0", "  240  0.61", "    overwriting the line above\n  240  0.61  8.0"]
)
def test_a_row_that_is_cut_counts(last: str) -> None:
    figures = [(at, at**2 % 97, at**3 % 89, at**2 % 83) for at in range(12, 240, 12)]
    rows = "".join(f"  {at}  0.{one:02}  8.{two:02}E-01  3.{three:02}\n" for at, one, two, three in figures)
    assert read(rows + last).current == 240
