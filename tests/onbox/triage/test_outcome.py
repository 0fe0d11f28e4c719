"""What the last line of a log says of the work, and what that decides about the complaints above it."""

from __future__ import annotations

import pytest

from onbox.logs.outcome import Outcome
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence
from onbox.triage.reading.outcome import outcome_of

FRESH = Evidence(log_age_seconds=30.0)

MADE = (
    "vocabulary is ready",
    "table of 30 rows written",
    "2026-01-02 03:04:05 INFO app: index published (third try)",
    "figures in out/loss.svg",
    "all good, nothing lost",
    "sweep complete: 12 cells, failed: 0",
)
LOST = (
    "half an index is of no use",
    "none of the layouts could be compiled",
    "no scores were written",
    "the archive stays here unsent",
    "search halted, 3 of 8 trials have a score",
    "Nothing was saved.",
    "gave it up after the third mirror",
    "etl.sh: finished with status 3 after 2 s",
    "2 errors generated.",
    "results written: none",
    "0 rows written",
    "nothing to plot, the table has no rows",
)
NEITHER = (
    "step 12 loss 0.3",
    "Please make sure that all parts are complete",
    "once the index is written, run it again",
    "timeouts 3, crashed engines 0",
    "best {'C': 1} 0.97 failed trials: 8",
    "Complete log: .state/2026.log",
    "state written to restart.91",  # by who has to leave
    "Closing the cache done",
    "Done. PASS=1 WARN=0 ERROR=1 SKIP=1 TOTAL=3",
    "    return whole if complete else saved",
    "ValueError: not written",
    "\x1b[0m",
)


@pytest.mark.parametrize("line", MADE)
def test_work_that_is_there_is_read_from_its_last_line(line: str) -> None:
    assert outcome_of(line) is Outcome.MADE


@pytest.mark.parametrize("line", LOST)
def test_work_that_will_not_be_there_is_read_from_its_last_line(line: str) -> None:
    assert outcome_of(line) is Outcome.LOST


@pytest.mark.parametrize("line", NEITHER)
def test_a_line_that_says_neither_decides_nothing(line: str) -> None:
    assert outcome_of(line) is None


PANIC = (
    "thread 'p-2' panicked at m.rs:5:9:\nbad tile\nstack backtrace:\npart 0: 3 rows\npart 1: 4 rows\n   0: m::work\n"
    "note: run with `RUST_BACKTRACE=full`\n"
)
TRACE = "Traceback (most recent call last):\n{}ConnectionResetError: [Errno 104] Connection reset by peer\n"
THREAD = "Exception in thread T-1 (run):\n" + TRACE.format(
    '  File "/usr/lib/python3.11/threading.py", line 982, in run\n    self.f()\n'
)
CRASH = (
    "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n"
    '  File "/w/f.py", line 6 in feature\n{}'
)
POOL = '  File "/w/v/joblib/externals/loky/process_executor.py", line 490 in _process_worker\n'

ENDS = {
    "a complaint, and the work is there": ("part 1\nb: 401 Unauthorized\npart 1 8 kB\nmirror complete\n", True),
    "a full disk, and another file is there": (
        "scores 0.3\ncould not draw: a.svg: No space left on device\nscores.tsv ready\n",
        True,
    ),
    "a full disk, and what was to be there is not": ("scores 0.3\na.tsv: No space left on device\na.tsv lost\n", False),
    "a part that died, and the work is of no use": (f"{PANIC}a partial map is of no use\n", False),
    "a part that died, and the work is there": (f"{PANIC}2 parts mapped, map.bin written\n", True),
    "a thread that died behind the work": (
        f"step 9 loss 0.1\nmodel written\n{THREAD}",
        True,
    ),
    "a thread that died on the way": (f"step 9 loss 0.1\nreading on\n{THREAD}", False),
    "a worker of a pool that crashed": (f"{CRASH.format(POOL)}\nrepeating with threads\nf.npy: 16 rows\n", True),
    "a program that crashed": (f"{CRASH.format('')}\njob ends\nhost n1: 16 cores\n", False),
    "a helper that was killed, and counting on": (
        "".join(f"answer {at}: judged\n" for at in range(6))
        + "new judge 294 (old exitcode -9)\n"
        + "".join(f"answer {at}: judged\n" for at in range(6, 12)),
        True,
    ),
    "a program that was killed, and what a buffer held of it": (
        "".join(f"answer {at}: judged\n" for at in range(6)) + "exitcode -9\n",
        False,
    ),
    "what was complained of is fine in a later line": (
        "tile-4: connection refused\n\ttile-4: 12 rows (backup)\nmap.bin: written\n",
        True,
    ),
    "no complaint, and nothing is there": ("reading tile-4\n0 tiles written\n", False),
}


@pytest.mark.parametrize(("log", "is_well"), list(ENDS.values()), ids=list(ENDS))
def test_the_last_line_decides_whether_a_complaint_was_the_end(log: str, *, is_well: bool) -> None:
    verdict = classify(log.encode(), FRESH)
    assert (verdict.failure_class == "success_healthy") is is_well, verdict


def test_a_process_that_a_signal_ended_is_told_by_its_negative_code() -> None:
    assert classify(b"step 4 loss 0.2\nworker exited, code -9\n", FRESH).failure_class == "host_oom"


GROWS = "sweep {} residual {:.3e}\n"


def test_a_figure_that_grows_without_bound_is_a_divergence() -> None:
    blown = "".join(GROWS.format(at, 2.0 * 40.0**at) for at in range(14))
    assert classify(blown.encode(), FRESH).failure_class == "divergence"
    large = "".join(
        GROWS.format(at, 2e19 * 1.5**at) for at in range(14)
    )  # as a loss or a number of floating operations
    assert classify(large.encode(), FRESH).failure_class == "success_healthy"


def test_a_figure_that_leaps_beyond_all_that_is_measured_is_a_divergence() -> None:
    leaps = "".join(f"volume = 0.53{at}  Max = 1.00{at}\n" for at in range(8)) + "volume = 479.6  Max = 7.6\n"
    assert (
        classify(f"{leaps}volume = 1.1459e+21  Max = 4.66e+40\nCorrecting\n".encode(), FRESH).rule == "figure-blown-up"
    )
    assert classify(f"{leaps}Correcting\n".encode(), FRESH).failure_class == "success_healthy"


FITS = (
    "v.py:493: FitFailedWarning: \n12 fits failed out of a total of 72.\n{}Traceback (most recent call last):\n"
    '  File "/v/site-packages/sklearn/model_selection/_validation.py", line 855, in _fit_and_score\n    e.fit(x)\n'
    "ValueError: Solver lbfgs supports only l2\n\n  warnings.warn(message, FitFailedWarning)\nINFO wrote cv.csv\n"
)


def test_exceptions_that_a_library_counts_and_sums_up_are_no_end() -> None:
    told = classify(FITS.format("12 fits failed with the following error:\n").encode(), FRESH)
    assert told.failure_class == "success_healthy"


def test_what_another_logger_has_caught_has_its_own_level() -> None:
    well = "2026-01-02 03:04:05 | ERROR | stderr | INFO:     Application startup complete.\n"
    assert classify(well.encode(), FRESH).failure_class == "success_healthy"
    ill = "2026-01-02 03:04:05 | ERROR | stderr | ERROR:    Application startup failed.\n"
    assert classify(ill.encode(), FRESH).failure_class != "success_healthy"


def test_who_asked_a_workflow_to_end_is_its_user() -> None:
    log = "rule blast:\nTerminating processes on user request, this might take some time.\nError in rule blast:\n"
    assert classify(f"{log}Complete log: .state/2026.log\n".encode(), FRESH).failure_class == "user_interrupt"
