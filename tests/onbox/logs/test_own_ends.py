"""Ends and wholes as people word them in loops of their own."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read

FIT = "max 90 epochs\n" + lines("ep #/90 rmse 0.2", *range(4, 34))
FROM_ZERO = "n_epochs=8 reg=0.1\n" + lines("epoch #: train 0.91 test 0.93 (8.#s)", *range(8))
BATCHES = "".join(
    lines(f"Train Epoch: {epoch} [#/500 (9%)]\tLoss: 1.2", 100, 300)
    + f"====> Epoch: {epoch} Average loss: 1.{epoch}\n====> Test set loss: 1.3{epoch}\n"
    for epoch in range(1, 5)
)
OVER = [
    FIT + "goal reached after 33 epochs, saving and exiting\n",
    FIT + "no empty clusters, stopped\n",
    FIT + "stop at epoch 33 (6 rounds without gain); best epoch 27, rmse 0.19\n",
    FIT + "Exiting from training early.\n-----------\nSaving model ...\n",
    "max_sweeps=500\n" + lines("sweep # conflicts=3", *range(0, 90, 10)) + "solved: zero conflicts at sweep 85\n",
    FROM_ZERO + "Test RMSE 0.91, Recall 0.09\n",
    BATCHES + "Saved samples to out/last.png, model to vae.pt\n",
]
STOPPED = [
    "val loss did not decrease for 8 epochs, ending training",
    "early stop (patience 8)",
    "reached loss 0.05, done",
    "Target metric achieved; stop.",
    "Budget exhausted after 33 epochs",
    "plateau detected -> finishing",
    "stop criterion met (patience=8)",
]
OVER += [FIT + f"{line}\n" for line in STOPPED]
ON_THE_WAY = [
    "EarlyStopping counter: 3 out of 8",
    "patience 3/8",
    "will stop after 8 epochs without improvement",
    "checkpoint written, done",
    "target network synced, done",
    "terminated by signal 15",
    "validation finished, done",
]
GOES_ON = [
    *(FIT + f"{line}\n" for line in ON_THE_WAY),
    FROM_ZERO,
    FROM_ZERO + "RuntimeError: no space\n",
    FROM_ZERO + "Evaluating on the held-out users\n",
    FIT + "stop at epoch 33 of the warm-up, then resuming\n",
    BATCHES,
]
TABLE = "episode  reward     steps    epsilon\n" + "".join(
    f"{at}       0.9{at % 7}     {4 + at * 7 % 5}      0.5\n" for at in range(50, 900, 50)
)
STAGES = lines("equil sweep  # / 200  |m| = 0.2", 100, 200) + lines(
    "prod sweep  # / 900  |m| = 0.2", *range(100, 600, 100)
)
LEVELS = (
    "".join(lines(f"level {at}: #/300 calls, p50 9 ms", 100, 200, 300) for at in (1, 2))
    + "level 4: 100/300 calls, p50 9 ms\nlevel 4: 200/300 calls, p50 9 ms\n"
)
PODS = "".join(
    f"train-worker-{pod} | 10:00:{at} iter {at * 10}/500 | loss 0.{pod}{at}\n" for at in range(10, 40) for pod in (0, 1)
)
RANKS = "[rank 0/2] epochs=3\n" + "".join(
    f"[rank {rank}/2] epoch {epoch} step {step}/45 loss 1.{rank}{step}\n"
    for epoch in range(3)
    for step in (15, 30, 45)
    for rank in (0, 1)
)
PLAY = "two players | iterations 30 | games/iter 20\n" + "".join(
    f"------ ITER {at} ------\n"
    + lines("self-play game #/20 positions 14", 5, 10, 15, 20)
    + lines("net epoch #/3 loss 1.2", 1, 2, 3)
    for at in range(1, 13)
)
SERVED = "model ready\n" + "".join(
    f"req {1000 + at} prompt={at * 37 % 89} gen={at * 53 % 71} ttft=0.{at}s\n" for at in range(20)
)
UPDATES = "num_updates=96 accumulate=4\n" + "".join(
    f"epoch={at} micro={micro}/32 update={32 * at + micro} loss=1.5{at}\n" for at in range(3) for micro in (16, 32)
)
SUGAR = (
    "collected 9 items\n"
    + lines(" pt/test_a.py \u2713 #% \u2588", 20, 60, 100)
    + "FAILED pt/test_a.py::test_b - assert 3 == 4\nResults (1.83s):\n"
    + "      8 passed\n      1 failed\n         - pt/test_a.py:2 test_b\n"
)
OF_THE_CORPUS = "trainer_interface.cc:602] Final coverage=1\ntrainer_interface.cc:692] Done! 38719\n"
GOES_ON.append(OF_THE_CORPUS)
OVER += [
    UPDATES + "reached num_updates=96, exiting\n",
    SUGAR,
    OF_THE_CORPUS + "trainer_interface.cc:767] Saving vocabs: m.vocab\n",
    "Benchmark 1: true\n  Time (mean):  0.9 ms\n  Range (min \u2026 max):   0.1 ms \u2026 9.8 ms    30 runs\n",
]
STANDS_TOO: list[tuple[str, int | None, int | None]] = [
    (UPDATES + "reached num_updates=96, exiting\n", 96, 96),
    (
        "1500 steps in total\n--- Phase 1/3: warmup (200 steps) ---\n"
        + lines(" warmup | global step # | phase step #/200 | loss 0.7", 50, 100, 150, 200)
        + "--- Phase 2/3: main (1000 steps) ---\n",
        200,
        1500,
    ),
    (lines("x case__# failed | # of 50 completed, solved 3 (9.1%)", *range(3, 20)), 19, 50),
    (
        "f.csv, 90,000 rows; sqlite (batch 3000)\n"
        + "".join(f"-- committed batch {at}: rows {3000 * at - 2999}..{3000 * at}\n" for at in range(1, 12)),
        33000,
        90000,
    ),
    ("Episode [1/20]:  37%|###7      | 11/30 [31:04<52:11, 164.82s/it, kl=0.04]\n", 1, 20),
    ("e,iter,loss\n" + "".join(lines(f"{at}/3,#/100,0.35", 20, 60, 100) for at in (1, 2)), 2, 3),
    (lines("pair #: w i@@ -> freq 158", *range(0, 3000, 250)), 2750, None),
]
OVER.append(RANKS + "[rank 0/2] destroyed process group\n")
RANGE = "LR range test over 120 iterations\n" + "".join(
    f"lr {at}.5e-06 it {at} smoothed loss {at * at * 37 % 89}.5\n" for at in range(4, 60, 4)
)
STANDS = [
    (RANGE, 56, 120),
    (PLAY, 12, 30),
    (SERVED, None, None),
    ("tests to run: 146\n" + lines("ok # - regress/case", *range(7, 99, 7)), 98, 146),
    (
        "3 phases, steps 400/400/200, total 1000\n" + lines("phase=1 global_step=# loss=1.1", *range(25, 250, 25)),
        225,
        1000,
    ),
    ("optimizer steps: 450 total\n" + lines("step # loss 8.0", *range(10, 90, 10)), 80, 450),
    (lines("  rung 1/4 config #/27 budget=3 val=3.3", *range(1, 20)), 1, 4),
    ("".join(lines(f"shard {at}/8: #/2000 prompts, 415 tok/s", 0, 1000, 2000) for at in range(1, 7)), 6, 8),
    (TABLE, 850, None),
    (STAGES, 500, 900),
    (LEVELS, 200, None),
    (PODS, 390, 500),
    ("epoche;von;rmse\n" + lines("#;60;0.6", *range(1, 20)), 19, 60),
    ("train beta=0.1 1 epoch 900 steps\n" + lines("#\tloss 0.69\tacc 0.1", *range(50, 500, 50)), 450, 900),
    (
        "DeepFM; Epoch 1..3; 12,000 batches per epoch\n" + lines("Epoch 2 | Batch # | AUC 0.7", *range(200, 900, 200)),
        2,
        3,
    ),
    ("checking 25 pieces\n" + lines("piece-00#-of-025.bin ok", *range(1, 10)), 9, 25),
    (lines("INFO etl.load: inserted #000 rows (target 90000), batch #", *range(1, 12)), 11000, 90000),
    ("spread, max-episodes 800\n" + lines("steps: #50, episodes: #, reward: -3.2", *range(10, 90, 10)), 80, 800),
    (lines("[crawler] crawled=9# queue=216 errors=#", *range(1, 9)), None, None),
]


NOTHING = [
    "checking 12 crates\n" + lines("   #: core::ops::call_once\n             at ./src/lib.rs:20:20", *range(1, 7)),
    "model   acc   f1\n" + lines("m#   0.8#   0.7#", *range(1, 8)),
    lines("topic #: price market 0.4#", *range(10)),
    lines("cluster #: 31# points, inertia 1.3#", *range(10)),
    lines("Received message # on topic temp: 21.#", *range(100, 112)),
    lines("host:12:34 [#] NCCL INFO Channel 01/0 : # -> 1", *range(8)),
    lines("lr at epoch #: 0.00#", *range(0, 100, 10)),
]


def test_a_run_that_stops_for_what_it_lacks_is_not_over() -> None:
    seen = read(lines("step # of 40", 3, 4, 5) + "Stopping: the validation set is empty.\n")
    assert (seen.current, seen.exact_max, seen.finished) == (5, 40, False)


@pytest.mark.parametrize("row", ["epoch {0} temperature {1}", "pass {0} error {1}", "used {0} GB free {1} GB"])
def test_a_figure_that_falls_beside_a_counter_makes_no_whole(row: str) -> None:
    seen = read("".join(row.format(at, 60 - at) + "\n" for at in range(3, 9)))
    assert seen.exact_max is None


@pytest.mark.parametrize("log", NOTHING)
def test_what_lists_results_or_comes_as_it_likes_is_no_progress(log: str) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (None, None)


@pytest.mark.parametrize("log", OVER)
def test_it_is_over(log: str) -> None:
    assert read(log).finished


@pytest.mark.parametrize("log", GOES_ON)
def test_it_goes_on_or_nobody_can_tell(log: str) -> None:
    assert not read(log).finished


@pytest.mark.parametrize(("log", "current", "most"), STANDS + STANDS_TOO)
def test_where_it_stands(log: str, current: int | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)
