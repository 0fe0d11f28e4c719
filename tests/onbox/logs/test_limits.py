"""What only the end or the head of a log tells of how much there is."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read

PYTEST = "===== test session starts =====\nplugins: cov\n{}\n\n" + "".join(
    f"tests/test_io.py::test_{at} PASSED    [{at * 100 // 16:3}%]\n" for at in range(1, 12)
)
POOL = "[Parallel(n_jobs=4)]: Done # tasks      | elapsed:    #.1s"
TRAINER = "12:00:01,5{0} trainer INFO: Epoch[{0}] Complete. Time taken: 00:00:09\n"
EVALUATOR = (
    "12:00:02,10{0} evaluator INFO: Engine run starting with max_epochs=1.\n"
    "12:00:02,20{0} evaluator INFO: Epoch[1] Complete. Time taken: 00:00:01\n"
    "12:00:02,30{0} evaluator INFO: Engine run finished. Time taken: 00:00:01\n"
)
CYCLES = "".join(
    f"................ CYCLE {cycle:4} ................\n"
    + lines("   #     -15.3261226 -0.153261E+02  0.121E-01   11.52", *range(1, 4 + cycle % 2))
    for cycle in range(1, 8)
)
FIELDS = "".join(
    f'{{"time":1795990248{at},"fetched":{at},"queued":{350 - at},"msg":"tick"}}\n' for at in range(105, 150, 5)
)
SPACED = "".join(f"Iter # {at:3}/600\n  reward: {at * 37 % 11}\n" for at in range(80, 130, 10))
PADDED = "".join(f"[{at:05}] xent 0.4\n" for at in range(0, 1300, 100))
COUNTS: list[tuple[str, int | None, int | None]] = [
    (PADDED, 1200, None),
    ("steps: 5000\n" + lines("[00#] xent 0.4", *range(100, 900, 100)), 800, 5000),
    ("2,500,000 thumbnails\n" + lines("# done", *range(50000, 300000, 50000)), 250000, 2500000),
    ("threads 12\nfound 48210 pages\n" + lines("# done, 3 failed", *range(4000, 24000, 4000)), 20000, 48210),
    ("found 48210 pages\nof 51000 files\n" + lines("# done", *range(4000, 24000, 4000)), 20000, None),
    ("scoring folds for 75 molecules\n" + lines(POOL, 4, 17, 33), 33, 75),
    ("training on 75 molecules\n" + lines(POOL, 4, 17, 33), 33, None),
    ("12:00:00 trainer INFO: Engine run starting with max_epochs=6.\n" + TRAINER.format(3) + EVALUATOR.format(3), 3, 6),
    ("plan: 4 epochs x 700 updates = 2800 updates\n" + lines("upd # ep 1.# loss 0.3", *range(710, 800, 10)), 790, 2800),
    ("ViT, 6 epochs; eval on test when done\n" + lines("epoch: # - loss 0.3", *range(1, 5)), 4, 6),
    (FIELDS, 145, 350),
    (SPACED, 120, 600),
    (
        " :  max. optcycles     200  :\n iter      E             dE\n   1   -15.1  -0.1\n   2   -15.2  -0.1\n" + CYCLES,
        7,
        200,
    ),
]


SCANNED = "".join(
    f"\x1b[2K[0:{at:02}] {at}.40%  {at} files {at}.5 MiB, total {40 + at} files 99.1 MiB, 0 errors ETA 0:09\r\n"
    for at in range(10, 20)
)
SOLVED = "".join(
    f"     iteration #  {at}     beta= 0.70\n     ethr =  1.00E-04,  avg # of iterations =  {at}.0\n"
    for at in range(3, 7)
)
RANKED = "model       mse      r2    rank\n" + "".join(
    f"tanh-{at}    0.06{at}   0.87    {at}/6\n" for at in range(1, 7)
)
COUNTS += [
    ("docs to embed: 90000\n" + lines("embedded # (412.7/s)", *range(1000, 9000, 1000)), 8000, 90000),
    ("evaluating 500 samples\n" + lines("  [#] pred=1 gold=1 acc=0.4#", *range(10, 40)), 39, 500),
    (lines("wrote # records to part-0.parquet", *range(500, 4000, 500)), 3500, None),
    ("Simulating t from 0 to 50\n" + lines("t =  #.0   E = 1.#", *range(10, 20)), 19, 50),
    ("320 queries against the old index\n" + lines("q#: recall 0.7#", *range(11, 40)), 39, 320),
    ("rows to migrate: 90000\n" + lines("offset # ok", *range(400, 8400, 400)), 8000, 90000),
    ("frames: 140\n" + lines("rendered frame_#.png", *range(10, 31)), 30, 140),
    ("evaluating on 812 problems\n" + lines("problem #: right (running 0.61)", *range(5, 30)), 29, 812),
    ("permutation test with 6000 permutations\n" + lines("perm #: t=0.4", *range(200, 2200, 200)), 2000, 6000),
    (lines("[rank 0/8] it # xent 0.4", *range(5, 30)), 29, None),
    (SCANNED, 19, 59),
    (SOLVED, 6, None),
    (RANKED + "best is tanh-6\n", None, None),
    ("apex   missing\nreduce test 1/1 iterations: 214 GB/s\nenvironment checked\n", None, None),
]


@pytest.mark.parametrize(("log", "current", "most"), COUNTS)
def test_where_it_stands_and_of_how_many(log: str, current: int | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)


@pytest.mark.parametrize(
    ("collected", "most"),
    [
        ("collected 16 items", 16),
        ("collecting ... collected 16 items", 16),
        ("collected 20 items / 4 deselected / 16 selected", 16),
    ],
)
def test_pytest_tells_of_how_many_tests_it_shows_a_share(collected: str, most: int) -> None:
    seen = read(PYTEST.format(collected))
    assert (seen.current, seen.exact_max, seen.percent, seen.finished) == (None, most, 68, False)


@pytest.mark.parametrize(
    ("last", "number", "unit"),
    [("`Trainer.fit` stopped: `max_steps=450` reached.", 450, "step"), ("max_epochs=7 was reached", 7, "epoch")],
)
def test_a_loop_that_shows_nothing_but_its_limit_stands_there(last: str, number: int, unit: str) -> None:
    seen = read(f"GPU available: False\n{last}\n")
    assert (seen.current, seen.exact_max, seen.unit, seen.finished) == (number, number, unit, True)


def test_a_setting_that_nothing_has_reached_is_no_progress() -> None:
    assert read("max_steps=450\nwill stop when max_steps is reached\n").current is None


def test_a_table_of_settings_starts_no_run() -> None:
    seen = read(lines("epoch #/9 loss 0.3", 1, 2, 3) + "   :  restarted?        false   :\n")
    assert (seen.current, seen.exact_max) == (3, 9)
