"""Counters in one more form: a limit in a field of its own, bars drawn by hand, short names; and what only looks so."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read

# (log, current, exact maximum)
COUNTS: dict[str, tuple[str, float | None, int | None]] = {
    "a limit in a field of JSON": (
        "".join(f'{{"msg":"scan","tried":{at * 400},"limit":9000,"hits":{at * at % 7}}}\n' for at in range(1, 8)),
        2800,
        9000,
    ),
    "the same at its end, in a shorter last step": (
        "".join(f'{{"msg":"scan","tried":{at},"limit":900,"hits":{at % 7}}}\n' for at in (200, 400, 600, 800, 900)),
        900,
        900,
    ),
    "a bar that is empty at first, behind its counter": (
        "Cropping 90 scans\n"
        + "".join(f"\r{at}/90   [{'#' * (at // 5):.<18}] scan_{at:03}.tif" for at in range(1, 62)),
        61,
        90,
    ),
    "an epoch in short, with a figure of any name": (
        "mlp, 9 epochs\n" + "".join(f"e{at} rmse {1 / (at + 1):.3f}\n" for at in range(6)),
        5,
        9,
    ),
    "one thing, and what became of it": (lines("maze # of 8 solved", 1, 2, 3), 3, 8),
}


@pytest.mark.parametrize(("log", "current", "most"), COUNTS.values(), ids=COUNTS)
def test_counts(log: str, current: float | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)


NOTHING = {
    "parts of the data, and their sizes": "train/val/test = 8000/1000/1000 rows\n"
    + lines("column_#: mean=0.31", 1, 2, 3),
    "three names, and their numbers": "tp/fp/fn: 30/20/10\n",
    "memory below its limit": "".join(f"heap={at} max=4096 gc={at % 7}\n" for at in (101, 240, 250, 391, 440)),
    "a share of things": lines("got # of 9 correct", 3, 4, 6),
    "what an evaluation did in passing, and much behind it": "found 3 (mvs:28 {evals:128} #w_updates:14)\n"
    + lines("'rule_#': applied", *range(1, 20)),
    "a number of iterations among results": lines("  2.1e-05s [Rule] #found=#", *range(1, 25))
    + "status: OPTIMAL\nobjective: 50\nlp_iterations: 178\nwalltime: 0.02\n",
}


@pytest.mark.parametrize("log", NOTHING.values(), ids=NOTHING)
def test_no_progress(log: str) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (None, None)


def test_a_budget_that_was_reached_ends_the_run() -> None:
    log = "".join(f"tokens {at},000/700,000 ({at / 7:.1f}%) loss 0.31\n" for at in range(48, 700, 96))
    assert read(log + "token budget reached\n").finished is True


def test_a_download_drawn_to_its_end_is_over() -> None:
    drawn = "".join(f"\ra.bin  {at:3}%[{'=' * (at // 5)}>    ] {at * 0.6:5.2f}M  11.3MB/s" for at in range(0, 100, 7))
    assert read(drawn + "\ra.bin  100%[=====================>] 60.00M  11.5MB/s    in 5.0s\n").finished is True


LISTS = {
    "figures of each feature": "features 30, rows 900\n"
    + "".join(f"  feature {at:02} mean {at * 0.37 % 1:+.3f} std 1.0{at % 7}\n" for at in range(6)),
    "components and what they explain": "".join(
        f"PC{at}: explained {9 - at / 3:.2f}%  in all {at * 7.31:.2f}%\n" for at in range(1, 9)
    ),
    "a ranking": "".join(f"{at:2}) col_{at * 37 % 91}   {1 / at:.4f}\n" for at in range(1, 13)),
    "what is missing in each column": "".join(
        f"col_{at}: missing {at * 7}/500 ({at * 1.4:.1f}%)\n" for at in range(1, 7)
    ),
    "files by their checksums": "".join(f"{f'{at:x}' * 64}  shd/train-{at:05}-of-00006.parquet\n" for at in range(6)),
    "files by their names": "".join(f"data/web-{at:05}-of-00009.parquet 12{at} MB\n" for at in range(9)),
}


@pytest.mark.parametrize("log", LISTS.values(), ids=LISTS)
def test_a_list_is_no_progress(log: str) -> None:
    assert read(log).current is None


STEPS = lines("step #/500 loss 0.31", *range(0, 500, 50))


@pytest.mark.parametrize(
    "line", ["finished after 500 steps, final loss 0.2", "trained for 500 steps", "500 steps done", "done (500 steps)"]
)
def test_a_last_line_that_tells_all_of_them_moves_it_to_the_end(line: str) -> None:
    seen = read(STEPS + line + "\n")
    assert (seen.current, seen.exact_max, seen.finished) == (500, 500, True)


def test_a_last_line_that_tells_fewer_does_not() -> None:
    seen = read(STEPS + "stopped after 470 steps\n")
    assert (seen.current, seen.exact_max, seen.finished) == (450, 500, True)


ROUNDS = lines("[#]\ttrain-rmse:0.31\tvalid-rmse:0.42", 0, 5, 10, 15, 20, 23)


def test_a_last_round_out_of_its_turn_and_a_saved_model_end_it() -> None:
    assert read("num_boost_round=90\n" + ROUNDS + "model saved to a.ubj\n").finished is True
    assert read("num_boost_round=90\n" + ROUNDS).finished is not True


BATCHES = "".join(f"Epoch {at}/8 Iter {of:02}/30 loss 0.31\n" for at in range(8) for of in range(0, 30, 10))


def test_what_was_best_behind_the_last_batch_that_is_shown_ends_it() -> None:
    assert read(BATCHES + "best accuracy 0.88\n").finished is True
    assert read(BATCHES).finished is False


def test_the_exact_number_behind_a_rounded_one_stands_in_the_head() -> None:
    told = lines("tokens #.5M/64.0M loss 0.31", 1, 2, 3)
    assert read(told).exact_max is None
    assert read("budget: 64,000,512 tokens\n" + told).exact_max == 64_000_512


def test_one_of_one_tells_nothing_beside_what_goes_on() -> None:
    seen = read(lines("video 1/1 (#/300) a.mp4: 2 persons, 12.3ms", 5, 6, 7))
    assert (seen.current, seen.exact_max) == (7, 300)


def test_what_was_prepared_when_it_crashed_is_all_there_is() -> None:
    bar = "filtering: 100doc [00:01, 99.1doc/s]\rfiltering: 612doc [00:02, 301.4doc/s]\n"
    frames = "".join(f'  File "a.py", line {at}, in load\n    take(row)\n' for at in range(7))
    seen = read(f"{bar}Traceback (most recent call last):\n{frames}ValueError: row 613\n")
    assert (seen.current, seen.exact_max, seen.finished) == (612, None, False)
