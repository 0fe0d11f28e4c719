"""Lines that a program always words alike, rounded cells, and lists and advice that count nothing."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read

CELLS = "-------------------\n| loss    | 26.5     |\n| samples | 2.7e+04 |\n| step    | {}     |\n"
MANIFEST = lines("part-0000#-of-00040.bin 700000 aa2d47300df9385a20fcdff536ac039b", 1, 2, 3, 4, 5, 6)
PACKED = lines("d/part-0000#-of-00040.bin to d/part-0000#-of-00040.bin.gz ", 1, 2, 3, 4, 5, 6)
ADVICE = (
    "STOP: TOTAL NO. OF ITERATIONS REACHED LIMIT\n\n"
    "Increase the number of iterations to improve the convergence (max_iter=70).\n[[37  0]\n [ 0 40]]\n"
)
# (log, current, exact maximum)
COUNTS: dict[str, tuple[str, float | None, int | None]] = {
    "inputs of a fuzzer": ("".join(f"#{at}\tNEW    cov: 71{at} ft: 27 corp: 9/28Kb\n" for at in (5, 6, 9)), 9, None),
    "the same, of several jobs": (
        "".join(f"#{at}: cov: 27 ft: 25 corp: 50\n" for at in (50, 60, 90)),
        90,
        None,
    ),
    "a step that a table rounds": ("".join(map(CELLS.format, (970, 980, 990, "1e+03", "1.01e+03"))), 1010, None),
    "progress in Korean": (lines("진행률: #/15", 1, 2), 2, 15),
    "a list of files": (MANIFEST, None, None),
    "files and what is made of them": (PACKED, None, None),
    "advice": (ADVICE, None, None),
    "an assignment that a shell traces": (lines("++ defaults.sh[#]export flux_iteration=2", 7, 8), None, None),
}


@pytest.mark.parametrize(("log", "current", "most"), COUNTS.values(), ids=COUNTS)
def test_counts(log: str, current: float | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)


STEPS = lines("step #, loss: 0.31", *range(50, 900, 50))
OVER = {
    "a target, with its step and loss": STEPS + "Target loss of 0.3 achieved at step 861! Final loss: 0.29\n",
    "a benchmark of Horovod": lines("[0]<stdout>:Iter #: 433.1 img/sec per GPU", *range(9))
    + "[0]<stdout>:Img/sec per GPU: 408.8 +-79.4\n[0]<stdout>:Total img/sec on 2 GPU(s): 817.6 +-158.8\n",
    "tests with errors": "ERROR t.py::test_a - CommError: no artifact\n===== 20 warnings, 4 errors in 13.34s =====\n",
}


@pytest.mark.parametrize("log", OVER.values(), ids=OVER)
def test_is_over(log: str) -> None:
    assert read(log).finished is True


def test_what_begins_in_the_last_line_is_not_over() -> None:
    assert not read("INFO:search NSGAII finished; Elapsed Time: 0:04:21.66\nINFO:search NSGAII starting\n").finished
