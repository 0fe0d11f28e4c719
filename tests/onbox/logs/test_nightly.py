"""A log to which cron adds one run after another: what is told is of the newest one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from onbox.logs.progress import ProgressReader, read_progress
from onbox.triage.beside_progress import with_progress
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

CRASH = "Traceback (most recent call last):\n  File \"train.py\", line 12, in main\n    go()\nKeyError: 'lr'\n"
FRESH = Evidence(log_age_seconds=30.0)


def stamped(day: int, steps: int = 10, last: str = "finished, model written\n") -> str:
    """A run of ten steps whose logger tells the time."""
    head = f"2026-11-{day:02} 03:00:00 INFO starting nightly retrain\n"
    work = "".join(f"2026-11-{day:02} 03:{at:02}:00 INFO step {at}/10 loss 0.3\n" for at in range(1, steps + 1))
    return head + work + (f"2026-11-{day:02} 03:{steps:02}:01 INFO {last}" if last else "")


def dated(day: int, epochs: int = 5, last: str = "Saved model.pt\n") -> str:
    """A run of five epochs that only prints, below the date that its script prints."""
    head = f"Sat Nov {day:2} 03:00:00 UTC 2026\nLoading data\nModel has 1.2M parameters\n"
    return head + "".join(f"Epoch [{at}/5] loss 0.3\n" for at in range(1, epochs + 1)) + last


Run = Callable[..., str]
BOTH = pytest.mark.parametrize("run", [stamped, dated])


@BOTH
def test_the_maximum_is_the_runs_however_many_there_were(run: Run) -> None:
    log = "".join(map(run, range(3, 7))) + run(7, 2, "")
    seen = read_progress(log.encode())
    assert (seen.current, seen.exact_max, seen.finished) == (2, 10 if run is stamped else 5, False)


@BOTH
def test_a_run_that_died_two_nights_ago_is_over(run: Run) -> None:
    log = run(3) + run(4) + run(5, 2, CRASH) + run(6)
    progress = read_progress(log.encode())
    verdict = with_progress(classify(log.encode(), Evidence(log_age_seconds=40000.0)), progress)
    assert (verdict.failure_class, verdict.state, progress.finished) == ("success_healthy", "done", True)


def test_a_run_that_has_said_one_line_is_not_the_one_that_died() -> None:
    log = stamped(3) + stamped(4) + stamped(5, 2, CRASH) + stamped(6, 0, "")
    assert classify(log.encode(), FRESH).state == "running"
    seen = read_progress(log.encode())
    assert (seen.current, seen.loss) == (None, None)


def test_a_run_that_has_just_begun_is_not_the_one_that_was_done() -> None:
    log = stamped(3) + stamped(4) + stamped(5, 0, "")
    seen = read_progress(log.encode())
    assert (seen.current, seen.finished) == (None, False)
    assert with_progress(classify(log.encode(), FRESH), seen).state == "running"


def test_a_run_that_died_tonight_did() -> None:
    log = stamped(3) + stamped(4, 2, CRASH) + stamped(5) + stamped(6, 4, CRASH)
    assert classify(log.encode(), FRESH).failure_class == "code_error"
    assert read_progress(log.encode()).current == 4


def test_loops_within_a_run_are_no_runs() -> None:
    """The same first line before each part, and no time between them."""
    part = "fitting one more model\n" + "".join(f"step {at}/10 loss 0.3\n" for at in range(1, 11))
    assert read_progress((part * 3 + "fitting one more model\nstep 1/10 loss 0.2\n").encode()).exact_max is None


@pytest.mark.parametrize("cut", range(40, 400, 37))
def test_it_is_the_same_however_the_log_comes(cut: int) -> None:
    log = (stamped(3, 3) + stamped(4, 4)).encode()
    reader = ProgressReader()
    reader.feed(log[:cut])
    reader = ProgressReader.from_state(reader.state())
    reader.feed(log[cut:])
    assert reader.result() == read_progress(log)


BEHIND_A_HEADLINE = "=== run {n} ===\nloading data/train.csv\n"
STEPS = "".join(f"epoch {at}/10 loss 0.5\n" for at in range(1, 6))
JUST_BEGUN = pytest.mark.parametrize(
    "log",
    [
        BEHIND_A_HEADLINE.format(n=1) + STEPS + CRASH + BEHIND_A_HEADLINE.format(n=2),
        dated(3) + dated(4, 2, CRASH) + "Thu Nov  5 03:00:00 UTC 2026\nLoading data\n",
    ],
    ids=["headline", "date"],
)


@JUST_BEGUN
@pytest.mark.parametrize("evidence", [Evidence(exit_code=1), Evidence(exit_code=137), FRESH])
def test_a_run_that_has_just_begun_is_judged_by_itself(log: str, evidence: Evidence) -> None:
    verdict = classify(log.encode(), evidence)
    assert verdict.failure_class != "code_error"
    assert (verdict.confidence, verdict.line) == ("low", log.splitlines()[-1])


@JUST_BEGUN
def test_a_run_that_has_just_begun_shows_nothing_of_the_one_before(log: str) -> None:
    assert read_progress(log.encode()).current is None


def test_an_end_date_below_a_crash_begins_no_run() -> None:
    log = dated(3) + "Tue Nov  3 05:00:00 UTC 2026\n" + dated(4, 2, CRASH) + "Wed Nov  4 05:00:00 UTC 2026\n"
    assert classify(log.encode(), Evidence(exit_code=1)).line == "KeyError: 'lr'"
