"""Loops as people write them for themselves: what their heads, their pieces and their last sentences tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.logs.progress import ProgressReader, read_progress

if TYPE_CHECKING:
    from onbox.contract.progress import Progress


def read(text: str) -> Progress:
    return read_progress(text.encode())


def loop(line: str, *numbers: int) -> str:
    return "".join(line.format(at, at * at * 37 % 89 + 10) for at in numbers)


ROWS = range(1, 21)
TASKS = "".join(
    f"== task {task} classes {task}a,{task}b ==\n" + loop("  epoch {} loss 0.{:02}\n", 1, 2, 3) for task in range(1, 4)
)
SEEDS = "".join(f"seed {seed}\n" + loop("  ep {}/3 loss 0.{:02}\n", 1, 2, 3) for seed in range(4))
DUMPS = "".join(f"08:0{at} dumping {name} ({at}/14) ... 2{at}1 MB\n" for at, name in enumerate("uvwxyz", 1))
STAGES = "".join(
    f"Stage {at}: part {at}\n"
    + "".join(f"  step {now}/600 | overall {600 * at - 600 + now}/2400 | loss 0.{now}\n" for now in (200, 400, 600))
    for at in (1, 2, 3)
)
QUOTAS = "".join(
    f"{name}: {right / 140:.3f} ({right}/140)\n" for name, right in (("law", 42), ("art", 57), ("physics", 63))
)
LAYERS = "".join(f"conv{at} (Conv2d)   [-1, {2**at}, 32, 32]   {at * 7919}\n" for at in range(1, 9))
COUNTS = [
    ("start fitting 12 candidates\n" + loop("candidate {:2}  depth=3  logloss=0.{:02}\n", *range(1, 7)), 6, 12),
    (loop("INFO: iteration {}/20000 T=0.{} best=0.1\n", *range(2000, 14001, 2000)), 14000, 20000),
    ("  epochs....... 40\n" + loop("18:44:42 e002 i{:04} g000780 loss=0.{}\n", *range(10, 90, 10)), 2, 40),
    ("[distill] 8 epochs, 500 iters each\n" + loop("[distill] e5 it  {} kd 0.{}\n", *range(100, 600, 100)), 5, 8),
    (DUMPS, 6, 14),
    ("replaying 250000 events at 1x\n" + loop("offset={} lag_ms={}\n", *range(5000, 100001, 5000)), 100000, 250000),
    ("AdaBoost with 60 stumps\n" + loop("t={:3} feature=2 err=0.{}\n", *range(1, 34)), 33, 60),
    ("bandit, horizon T=10000\n" + loop("t={:6}  regret=  {}.25\n", *range(500, 6001, 500)), 6000, 10000),
    ("Rendering animation: frames 1..240\n" + loop("Frame {:04} done in 4.{}s\n", *ROWS), 20, 240),
    (loop("[info] dedup.shard done={} dupes={} shards=96\n", *ROWS), 20, 96),
    (loop("{} Done, 2 Failed, {} Pending, 0 Skipped, 1840 Total, 2-sec\n", *range(50, 600, 50)), 550, 1840),
    (loop("......{:9}  finished  {:6}  clusters\n", *range(1000, 9000, 1000)), 8000, None),
    (loop('{{"message":"chunk uploaded","chunk":{},"of":64,"bytes":8{}}}\n', *ROWS), 20, 64),
    ("split-CIFAR: 5 tasks, 4 epochs per task\n" + TASKS, 3, 5),
    ("5 seeds: 0 1 2 3 4\n" + SEEDS, 3, 5),
    (loop("[Stage 1:=====>     ({} + 8) / 800]\r", *range(0, 600, 12)), 588, 800),
    (STAGES, 1800, 2400),
    (QUOTAS, None, None),
    (LAYERS, None, None),
]
SWEEPS = loop("T=0.{1} sweep={0} length=7.{1}\n", *range(6, 120, 6))
STUMPS = "boosting rounds: 100\n" + loop("t={:3} err=0.{}\n", *range(1, 39))
ENDS = [
    SWEEPS + "frozen, final tour length 7.0021\n",
    SWEEPS + "recommended: [0.29 0.30 0.41]\n",
    loop("decoded {} utterances, WER 6.{}%\n", *range(20, 400, 20)) + "%WER 6.79 [ 349 / 5140, 31 ins, 40 del ]\n",
    loop("parsed {} rows, {} MB\n", *range(1000, 20001, 1000)) + "977 distinct keys\n",
    STUMPS + "no weak learner better than chance, stop at t=38\n",
    STUMPS + "weak learner error above 0.44 at round 38; stopping\n",
    "max_iter=200\n"
    + loop("EM {:3}: loglik = -90{}.1\n", *range(1, 64))
    + "change below 1e-4, done after 63 iterations\n",
    "  Read: 18 MiB / 22 MiB ==> 7%\r\nnums.txt             :  7.05%   (  21.8 MiB =>   1.54 MiB, nums.txt.zst) \n",
    "=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx/gt\t0.012s\nFAIL\n",
    loop("Crawled {} pages (at {} pages/min)\n", *range(5, 60, 5)) + "crawl stopped: page limit 500 reached\n",
]
GOES_ON = [
    SWEEPS + "reducing step to 0.01\n",
    SWEEPS + "WARNING: only 3 of 12 workers answer\n",
    SWEEPS + "checkpoint 4 written\n",
    SWEEPS + "stage 2: polishing with 40 threads\n",
    SWEEPS + "kernel compiled in 12.3 s\n",
    "".join(f"### Stage {stage}/3: part {stage}\n" + loop("  epoch {}/3 loss 0.{:02}\n", 1, 2, 3) for stage in (1, 2))
    + "### Stage 3/3: full fine-tune\n",
    SWEEPS + "disk full at 120, stopped at 114\n",
    STUMPS + "best so far 0.31\n",
    loop("step {}/900 loss 0.{}\n", *range(30, 300, 30)) + "sample grid 270 written to grid.png\n",
    loop("[{0}/9] task{0}: 0.{1}\n", *range(1, 7)) + "    winogrande: acc=0.9062\n",
]


@pytest.mark.parametrize(("log", "current", "most"), COUNTS)
def test_counts(log: str, current: float | None, most: int | None) -> None:
    seen = read(log)
    assert (current, most) == (seen.current, seen.exact_max)


@pytest.mark.parametrize("log", ENDS)
def test_the_last_sentence_ends_it(log: str) -> None:
    assert read(log).finished is True


@pytest.mark.parametrize("log", GOES_ON)
def test_what_a_loop_says_on_its_way_is_no_end(log: str) -> None:
    assert read(log).finished is not True


def test_two_calls_without_epochs_have_ends_of_their_own() -> None:
    """Keras's evaluate, and then predict."""
    seen = read(
        loop("{}/80 ━━━━━━━━━━━━ 1s 9ms/step - loss: 1.{}\n", 40, 80) + loop("{}/80 ━━━━━━━━━━━━ 1s 9ms/step\n", 40, 80)
    )
    assert (seen.current, seen.exact_max) == (80, 80)


def test_epochs_from_zero_below_a_heading_from_one() -> None:
    lines = loop("[timer.py] epoch=0/micro_step={0}/global_step={1}, Samples=11.9\n", *range(40, 400, 40))
    seen = read("Beginning of Epoch 1/2, Total Micro Batches 3108\n" + lines)
    assert (seen.current, seen.exact_max) == (1, 2)


def test_the_head_of_an_earlier_run_is_not_asked() -> None:
    first = "start fitting 12 candidates\n" + loop("candidate {:2}  loss=0.{:02}\n", *range(1, 5))
    again = "start fitting again\n" + loop("candidate {:2}  loss=0.{:02}\n", 1, 2, 3)
    assert read(first + "Traceback (most recent call last):\n" + again).exact_max is None


def test_what_counted_before_a_start_is_kept_in_the_state() -> None:
    reader = ProgressReader()
    reader.feed(("start fitting 12 candidates\n" + loop("candidate {:2}  loss=0.{:02}\n", *range(1, 20))).encode())
    kept = ProgressReader.from_state(reader.state())
    assert reader.track.restarted is kept.track.restarted is False
