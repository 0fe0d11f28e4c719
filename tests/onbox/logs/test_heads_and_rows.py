"""What a log counts where its lines say little, and only another line tells of how many: heads, fields, first lines."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read


def tried(word: str, inside: str, *numbers: int) -> str:
    """A heading for each number, and a loop of three below it."""
    return "".join(f"{word}{number}: lr=0.{number + 1}\n" + lines(inside, 0, 1, 2) for number in numbers)


def box(epoch: int) -> str:
    rule = "+------------+----------+\n"
    return f"{rule}| epoch      | {epoch:8} |\n| max_epochs |       20 |\n| loss       |   0.{epoch:04} |\n{rule}"


def listed(first: int, last: int) -> str:
    return ",".join(f"[{at}]{6 + at * 37 % 91 / 1000:.4f}" for at in range(first, last + 1)) + ",\n"


def bar_of(name: str, most: int) -> str:
    return "".join(
        f"\r{name} {100 * at // most:3}%|##  | {at}/{most} [00:01<00:01, 40.0/s]" for at in (0, most // 2, most)
    )


# (log, current, exact maximum)
COUNTS: dict[str, tuple[str, float | None, int | None]] = {
    "rows from 0 on, of the head's epochs": (
        "trainer, 4 weights, 20 epochs of 500 rows\n" + lines("   #: train loss  0.0#3 test acc: 9#.14%", *range(8)),
        7,
        20,
    ),
    "a budget in a field of its own": (
        lines("[opt] # evaluations told, budget 200, loss 0.31", *range(0, 200, 20)),
        180,
        200,
    ),
    "a budget with a sign": (lines("used=# budget=150 f=0.31", *range(10, 90, 10)), 80, 150),
    "a limit behind what was searched": (
        lines("# nodes searched, limit 50000, bound 9.31", *range(1000, 9000, 1000)),
        8000,
        50000,
    ),
    "a limit of something else": (lines("tick # memory limit 2000 load 0.3", *range(100, 140, 5)), 135, None),
    "a simulated time, and where it failed": (
        "grid 120x120  dt = 0.1  t_end = 120.0\n"
        + lines("  t =  #.00   max T = 9.31", *range(6, 72, 6))
        + "solver diverged: NaN in field T at t = 70.10\n",
        66,
        120,
    ),
    "a simulated time, and when something is to come": (
        "t_end = 90\n" + lines("t = #.50  cfl 0.31", *range(2, 9)) + "next output at t = 40.00\n",
        8.5,
        90,
    ),
    "a simulated time that has come to its end": (
        "t_end = 40\n" + lines("t = #.00 cfl=0.31", *range(4, 40, 4)) + "reached t = 40.00 in 12 s\n",
        40,
        40,
    ),
    "configurations that are tried, each with its epochs": (
        "12 configurations to run\n" + tried("config #", "    epoch # val=0.3", *range(8)),
        7,
        12,
    ),
    "candidates without a sign": ("9 candidates to try\n" + tried("candidate ", "  iter # f=0.31", 1, 2, 3, 4), 4, 9),
    "games of a run that only evaluates": (
        "Playing 50 evaluation games\n" + lines("game #: win  record 3-1", *range(1, 34)),
        33,
        50,
    ),
    "games of a training, which evaluates in between": (
        "train 100 games, 20 eval games every 10\n" + lines("game #: won 0.31", *range(1, 34)),
        33,
        100,
    ),
    "a maximum in a row of a box": ("".join(map(box, range(1, 13))), 12, 20),
    "a maximum in a table of settings": (
        "| max_epochs |       20 |\n| lr | 0.1 |\n" + lines("epoch # loss 0.31", *range(1, 8)),
        7,
        20,
    ),
    "what is listed in one line, and the result below it": (
        "calculating perplexity over 40 chunks, n_ctx=512\n" + listed(1, 40) + "Final estimate: PPL = 6.6 +/- 0.04\n",
        40,
        40,
    ),
    "jobs that are left": (lines("# jobs left", *range(40, 9, -1)), 30, 40),
    "files that are left of those of the head": (
        "200 files\n" + lines("# files remaining", *range(190, 90, -10)),
        100,
        200,
    ),
    "what is left, in a field": (lines("remaining: #", *range(500, 280, -20)), 200, 500),
    "tries that are left": (lines("# retries left", *range(500, 330, -17)), None, None),
    "pages, and how many wait": (lines("page # fetched, queue 698", *range(190, 200)), 199, None),
    "where it failed, written above all else": (
        "error at t=6: diverged\n" + lines("t=# e=0.31", *range(1, 6)),
        5,
        None,
    ),
    "a number in the words of an error above all else": (
        "ValueError: node 40 has no neighbours at iteration 40\n" + lines("iteration # loss=0.31", *range(1, 40)),
        39,
        None,
    ),
    "pages of files that are called after a scan": (
        "".join(
            f"scan_{file:03}.pdf ({file}/40)\n" + lines(f"  page # of {7 + file}", *range(1, 8 + file))
            for file in range(1, 5)
        )
        + "scan_005.pdf (5/40)\n  page 1 of 12\n  page 2 of 12\n",
        5,
        40,
    ),
    "tasks that have names, each with its steps": (
        "".join(
            f">>> task {name} ({at} of 5)\n" + lines(f"{name}: step # loss 0.31", 0, 15, 30, 45)
            for at, name in enumerate(("oak", "elm", "ash"), 1)
        ),
        3,
        5,
    ),
    "samples of each frame, always all": (
        lines("Fra:# Mem:120.00M (Peak 130.00M) | Time:00:01.20 | Sample 64/64", *range(1, 40)),
        39,
        None,
    ),
    "memory, and its budget": (lines("step # mem 30, budget 4096", *range(10, 90, 10)), 80, None),
    "a price, and the most of it": (lines("price #, max 2000", *range(101, 109)), None, None),
    "what is left of samples that are filtered": (
        "5000 rows\n" + lines("filter a: # rows left", *range(4860, 3800, -140)),
        None,
        None,
    ),
    "nodes that become fewer": (lines("# nodes remaining", *range(63, 50, -1)), None, None),
    "files that are named with a number": (
        "48 files to convert\n" + lines("convert file#.wav", *range(1, 30)),
        29,
        48,
    ),
    "pictures, by another word": ("Found 48 images\n" + lines("resizing img_#.png ... ok", *range(1, 30)), 29, 48),
    "patients, each with a measure": ("Processing 30 patients\n" + lines("patient_#: dice=0.3", *range(1, 20)), 19, 30),
    "of how many in brackets, in the middle": (lines("tile # (of 90) blended", *range(3, 60, 3)), 57, 90),
    "a bar that is drawn once, when all is done": (
        lines("epoch #: loss=0.31", *range(16)) + "Training ━━━━━━━━━━━━━━━━━━━━ 16/16 0:00:00\n",
        16,
        16,
    ),
    "a bar, and what is said to be done while it goes on": (
        "".join(
            f"\rEncoding {share:3}%|##  | {180 * share // 100}/180 [00:01<00:01, 40.0/s]\nflushed {5 * share} records\n"
            for share in (20, 40, 60)
        ),
        108,
        180,
    ),
    "a bar, and what was done behind it": (bar_of("Encoding", 180) + "\nsynced 1200 rows\n", 180, 180),
}  # fmt: skip


@pytest.mark.parametrize(("log", "current", "most"), COUNTS.values(), ids=COUNTS)
def test_what_is_counted(log: str, current: float | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)


@pytest.mark.parametrize("named", ["threads=", "seq_len ", "concurrency=", "degree ", "eigenvalue ", "mode "])
def test_settings_and_parts_of_a_result_are_no_progress(named: str) -> None:
    log = "".join(f"{named}{at}: {at * 37 % 91 / 100} {at * 53 % 97 / 10}\n" for at in range(1, 12))
    assert read(log).current is None


FRAMES = {
    "five rows": "   a    b\n" + lines("#  0.3#7 0.1#3", *range(5)),
    "words in it": "read data.csv\n   length  width species\n"
    + lines("#   5.#    3.#  setosa", *range(6))
    + "[6 rows]\n",
    "rows left out": "    x    y\n"
    + lines("#  1.#  3.#", *range(5))
    + "..  ...  ...\n"
    + lines("#  1.2  3.#", *range(95, 100)),
}


@pytest.mark.parametrize("log", FRAMES.values(), ids=FRAMES)
def test_a_data_frame_is_no_progress(log: str) -> None:
    assert read(log).current is None
    assert read(log + lines("step #/300 loss 0.31", 20, 40)).current == 40


@pytest.mark.parametrize("sizes", [(1, 8, 32), (1, 8, 32, 128), (1, 2, 4, 8, 16)])
def test_sizes_of_a_batch_that_are_tried_are_no_progress(sizes: tuple[int, ...]) -> None:
    assert read(lines("batch=#    latency 3.44 ms  throughput 290.7/s  mem 41%", *sizes)).current is None


def test_batches_that_go_on_are_progress() -> None:
    assert read(lines("batch # loss 0.31", 1, 2, 3, 4)).current == 4
    assert read(lines("batch # loss 0.31", 0, 100, 200, 300)).current == 300


def test_nothing_left_is_the_end() -> None:
    assert read(lines("# jobs left", *range(10, -1, -1))).finished is True


def test_the_last_of_a_budget_told_and_then_the_result_is_the_end() -> None:
    log = lines("[opt] # evaluations told, budget 200, loss 0.31", *range(0, 200, 20))
    assert read(log).finished is False
    assert read(log + "recommendation [0.53 0.51]\n").finished is True


STEPS = lines("iter #  f 0.31", *range(1, 71))
TRIED = "".join(f"| {at:<4} | -0.{at * 37 % 91:02} | 1.{at * 53 % 97:02} |\n" for at in range(1, 19))
EVALUATED = "".join(
    f"Test: [{at:3}/79]\tTime  0.020 ( 0.021)\tLoss 2.1\tAcc@1  5{at % 7}.69\n" for at in range(0, 79, 5)
)
REDRAWN = (
    "\rpretrain: 24%|##  | 291/1200 [00:01<00:05, 153.5step/s]\r\nval loss below 0.5 at step 304, stopping early\r\n"
    "\rpretrain: 24%|##  | 291/1200 [00:01<00:05, 153.5step/s]\r"
    "pretrain: 25%|##  | 304/1200 [00:01<00:05, 156.3step/s]\r\n"
)
ENDS = {
    "the limit of iterations": STEPS + "iteration limit\n",
    "the limit, and that it was reached": STEPS + "Maximum number of iterations reached\n",
    "most generations": lines("gen # | best -0.31", *range(1, 71)) + "max generations hit\n",
    "what has shut down": STEPS + "learner shut down cleanly\n",
    "the best iteration, behind what was saved": lines("[#]\ttrain's l2: 0.31\tvalid's l2: 0.4", *range(10, 99, 10))
    + "saved m.txt, best iteration 0\n",
    "pairs of results of an evaluation": EVALUATED + " * Acc@1 50.460 Acc@5 91.204\n",
    "a record in a record": "|   iter    |  target   |     x     |\n-------------------------------\n"
    + TRIED
    + "===============================\n{'target': float(-0.0025), 'params': {'x': 0.048, 'y': 0.98}}\n",
    "tests of Node": lines("\u2714 op # (84.4ms)", *range(1, 25)) + "\u2139 tests 24\n\u2139 duration_ms 2387.38\n",
    "what is stable where it stands": "k-means, k=8, max 100 iterations\n"
    + lines("iter #: inertia 0.31", *range(1, 18))
    + "centroids stable after 17 iterations\n",
    "where the model is": STEPS + "model -> out/final.pt\n",
    "what there is now": STEPS + "artifacts: model.onnx, vocab.txt\n",
    "where to look": STEPS + "see out/report.html\n",
    "what was simulated is closed": STEPS + "closing environment\n",
    "a stop before its time, and the bar once more": REDRAWN + "done\n",
}  # fmt: skip


@pytest.mark.parametrize("log", ENDS.values(), ids=ENDS)
def test_ends(log: str) -> None:
    assert read(log).finished is True


NO_ENDS = {
    "a worker that has shut down": STEPS + "worker 3 shut down cleanly\n",
    "results of an evaluation in a training": "Epoch: [3][70/100]\tLoss 2.1\n"
    + EVALUATED
    + " * Acc@1 50.4 Acc@5 91.2\n",
    "a queue that is empty for now": STEPS + "prefetch queue empty\n",
    "where a checkpoint is": STEPS + "checkpoint -> out/ckpt_70.pt\n",
    "the limit of the time": STEPS + "time limit 300 s left\n",
}


@pytest.mark.parametrize("log", NO_ENDS.values(), ids=NO_ENDS)
def test_no_ends(log: str) -> None:
    assert read(log).finished is not True
