"""Short names of counts, names beside them that mean something else, and tables of lists or behind a prefix."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read

TICKS = "Training for 9000 kimg...\n" + "".join(
    f"tick {at}   kimg {at * 50.1:.1f}   time 5m 0s   sec/tick 30.7   sec/kimg 6.13   maintenance 0.0\n"
    for at in range(1, 24)
)
CONFIG = "# 1 epoch is 250 (iteration) = 5000 (images)\n# so that we need 7500 iterations.\nSOLVER:\n"
LISTS = "Step      Train loss              Test loss               Test metric\n" + "".join(
    f"{at:<9} [3.{at % 97:02}e-02, 7.0e-04]    [4.{at % 89:02}e-02, 7.0e-04]    []\n" for at in range(0, 5000, 1000)
)
PREFIXED = "".join(
    "2026-11-28 10:00:00 [INFO]:    Epoch       Batch       box      conf     time\n"
    + lines(f"2026-11-28 10:00:07 [INFO]:      {epoch}/12       #/165   0.0071   0.0060      7.1", 0, 40, 80, 120)
    for epoch in (1, 2, 3)
)
SIMULATED = "Time[ps]      Etot[eV]     Epot[eV]    T[K]\n" + "".join(
    f"{at / 1000:.4f}       -152.{at * 37 % 91}     -153.{at * 53 % 97}   3{at * 7 % 19}.0\n" for at in range(30)
)
SWEEP = "".join(
    f"[{at:2}/10] Conv-{2**at:<4} params= {at * 0.1:.3f}M  elbo= 14{at}.13 knn=0.7{at}  1.{at}s\n"
    for at in range(1, 11)
)
RANKED = (
    "rank model      params   elbo\n"
    + "".join(f"{at}    Conv-{2**at}   0.{at}10   14{at}.1\n" for at in range(1, 11))
    + "=" * 60
    + "\n\n>>> Conv-64  (0.8M)\n"
)
DESCRIBED = "".join(
    f"\rEpoch {at}, train loss: 0.{at * 37 % 91:02}:  {at // 4}%|##    | {at + 1}/400 [05:00<20:00,  3.1s/it]"
    for at in (40, 80, 120)
)
# (log, current, exact maximum)
COUNTS: dict[str, tuple[str, float | None, int | None]] = {
    "an epoch with a word before its number": (lines("Epoch of: # Perf:\nRMSE: 9.4", 0, 5, 10, 15), 15, None),
    "a short name and nothing else": (lines("ite #", *range(400)), 399, None),
    "what a number of thousands would end with begins a name": (
        lines("Epoch # K-fold: mean 0.52", *range(1, 30)),
        29,
        None,
    ),
    "an epoch and its batches behind the verb": (
        "".join(f"Epoch is [2/60], mini-batch is [{at}/160], cost is 0.8{at}\n" for at in range(1, 30)),
        2,
        60,
    ),
    "thousands of images in fractions": (TICKS, 1152.3, 9000),
    "a length of something beside the epoch": (
        "".join(f"epoch {at} loss 0.3{at}\nnum_train_timesteps: 1000, len(timesteps): 50\n" for at in range(8)),
        7,
        None,
    ),
    "a plain name beside one that says more": (
        "args = Namespace(lr=0.02, epochs=40, tune_epochs=90)\n" + lines("epoch # lr 0.02", *range(9)),
        8,
        40,
    ),
    "how many, beside the size of a batch": (
        "Data size: 14960, batch size: 50, training epoch: 20.\n" + lines("Epoch 000# | mean loss: 5.52", *range(1, 8)),
        7,
        20,
    ),
    "what a remark in a configuration needs": (
        CONFIG
        + "  MAX_ITER: 4000\n"
        + "".join(f"  TRAIN_{name}: default\n" * 9 for name in ("SETS", "SIZES", "CROPS", "FLIPS", "BOXES", "MASKS"))
        + lines("eta: 0:10:00  iter: #  total_loss: 0.14", *range(19, 900, 20)),
        899,
        4000,
    ),
    "rows of lists": (LISTS, 4000, None),
    "rows behind a logger's prefix": (PREFIXED, 3, 12),
    "a simulated time": (SIMULATED, 0.029, None),
    "what came out of each, and their ranks": (SWEEP + RANKED, 10, 10),
    "a bar that names its epoch": (DESCRIBED + "\n", 121, 400),
}


@pytest.mark.parametrize(("log", "current", "most"), COUNTS.values(), ids=COUNTS)
def test_counts(log: str, current: float | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)


EACH_EPOCH = "".join(
    f"\rEpoch {epoch}, loss: 0.{at}: {at * 10}%|##    | {at}/10 [00:0{at % 10}<00:10,  1.0it/s]"
    for epoch in range(4)
    for at in range(11)
)


def test_a_bar_of_each_epoch_is_inside_it() -> None:
    seen = read(EACH_EPOCH + "\n")
    assert (seen.current, seen.exact_max, seen.inner_max) == (3, None, 10)


def test_what_a_function_has_finished_is_not_the_run() -> None:
    steps = "  MAX_ITER: 4000\n" + lines("iter: #  total_loss: 0.14", *range(19, 900, 20))
    assert read(steps + "scorer INFO: Scores_opt.accumulate() finished in 2.37 seconds.\n").finished is not True


def _bars_and_epochs(line: str, *epochs: int) -> str:
    """A bar of ten, drawn to its end, for each epoch, and the line below it."""
    bar = "\r".join(f"{at * 10:3}%|##   | {at}/10 [00:00<00:09,  1.0it/s]" for at in range(11))
    return "".join(f"{bar}\n{line.format(at)}\n" for at in epochs)


BATCHES = "epoch {0}, LR=0.10\nEpoch[{0}/3], Step[00/40], loss: 0.34\nEpoch[{0}/3], Step[20/40], loss: 0.31\n"
WHOLE = "--- Epoch[{}/3], train loss: 0.29, time: 173.4\n"
ENDS = {
    "the last batch of the last epoch, both from zero": (
        lines("[#/5][359/360]\tLoss_D: 0.43\tLoss_G: 1.5", *range(5)),
        True,
    ),
    "the last batch of the last epoch but one": (lines("[#/5][359/360]\tLoss_D: 0.43\tLoss_G: 1.5", *range(4)), False),
    "the last epoch from zero, told below its bar": (
        "batch size: 50, training epoch: 5\n" + _bars_and_epochs("Epoch {:04} | mean loss: 5.52", *range(5)),
        True,
    ),
    "the last but one": (
        "batch size: 50, training epoch: 5\n" + _bars_and_epochs("Epoch {:04} | mean loss: 5.52", *range(4)),
        False,
    ),
    "the last epoch, summed up behind the last batch that is shown": (
        "".join(BATCHES.format(at) + WHOLE.format(at) for at in (1, 2, 3)),
        True,
    ),
    "the last epoch, in its batches": (
        "".join(BATCHES.format(at) + WHOLE.format(at) for at in (1, 2)) + BATCHES.format(3),
        False,
    ),
}


@pytest.mark.parametrize(("log", "finished"), ENDS.values(), ids=ENDS)
def test_ends(log: str, finished: object) -> None:
    assert bool(read(log).finished) is finished


def test_a_number_of_steps_is_not_the_end_of_a_simulated_time() -> None:
    log = "".join(f"Time = {at * 0.003:.3f}\nQdot = -1.{at * 37 % 91}, T = 26{at}.5\n" for at in range(1, 30))
    seen = read(log + "Number of steps = 310\nEnd\n")
    assert (seen.current, seen.exact_max) == (0.087, None)
