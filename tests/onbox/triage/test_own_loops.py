"""A loop that counts things of its own kind, and troubles in each of its lines: whoever goes on with it lives."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify

CAUGHT = (
    "bad archive, left out\nTraceback (most recent call last):\n"
    '  File "/w/t.py", line 37, in read\n    gzip.decompress(b)\n'
    '  File "/usr/lib/python3.11/gzip.py", line 608, in decompress\n    raise EOFError("ended")\n'
    "EOFError: Compressed file ended before the end-of-stream marker was reached\n"
)
LOOPS = {
    "problems": "problem {n} samples 8 passed {m} runtime errors {k} timeouts 2 killed 1\n",
    "wells": "well {n}: reads=96 ok={m} failed={k} lost=1\n",
    "a logger's": "2026-11-28 10:00:{n:02d} INFO puzzle: board {n} moves {m} illegal {k} aborted 0\n",
}


def lines(form: str, first: int, last: int) -> str:
    return "".join(form.format(n=n, m=5 + n % 3, k=n % 4) for n in range(first, last))


@pytest.mark.parametrize("form", LOOPS.values(), ids=LOOPS)
def test_it_goes_on(form: str) -> None:
    log = lines(form, 0, 8) + CAUGHT + lines(form, 8, 40)
    assert classify(log.encode()).failure_class == "success_healthy"


@pytest.mark.parametrize("form", LOOPS.values(), ids=LOOPS)
def test_it_ends_there(form: str) -> None:
    log = lines(form, 0, 8) + CAUGHT
    assert classify(log.encode()).failure_class == "data_error"


def test_who_refuses_his_command_line_behind_the_work_of_another_is_heard() -> None:
    log = (
        "step 10/30 loss 0.3\nstep 20/30 loss 0.2\nstep 30/30 loss 0.2\nINFO Finished training at step 30.\n"
        "[run.sh] dataset digits\nFATAL Flags parsing error: flag --dataset=digits: value should be one of <a|b>\n"
        "Pass --helpshort or --helpfull to see help on flags.\n"
    )
    assert classify(log.encode()).failure_class == "config_error"
