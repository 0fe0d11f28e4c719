"""What a log says at its end: that all is done, or only that a part is."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

STEPS = "".join(f"step {at}/900 loss {3 - at / 400:.3f}\n" for at in range(1, 8))

ALL_DONE = [
    "Finished: SUCCESS",
    "final status: SUCCEEDED",
    "Build status: passed",
    "Result: SUCCESS",
    "12 tasks succeeded, 0 failed",
    "total: 44 ok: 44 failed: 0",
    "host1 : ok=12   changed=4    unreachable=0    failed=0    skipped=1    rescued=0    ignored=0",
    "Done. PASS=4 WARN=0 ERROR=0 SKIP=0 TOTAL=4",
    "3/3 succeeded",
    "Completed 33/33 trials",
    "All stages passed.",
    "ran to completion",
    "Benchmark finished",
    "Script finished in 0m 2s",
    "Program completed in 33 seconds",
    "Apply complete! Resources: 3 added, 0 changed, 0 destroyed.",
    "Total wall time: 0:00:05",
    "finished with 0 errors",
    "exited normally",
]

A_PART = [
    "Finished: UNSTABLE",
    "status=PENDING",
    "task 3 status: success",
    "12 tasks succeeded, 3 failed",
    "ok: 12 failed: 0 running: 4",
    "total: 100 ok: 44 failed: 0",
    "3/5 succeeded",
    "status: ok",
    "rank 3 exited with code 0",
    "child process exited with status 0",
    "if it ends with exit code 0",
    "0 failed so far",
    "epoch 3 finished",
    "Script finished with errors",
]


@pytest.mark.parametrize("line", ALL_DONE)
def test_a_log_that_says_all_is_done_is_done(line: str) -> None:
    verdict = classify((STEPS + line + "\n").encode())
    assert (verdict.failure_class, verdict.state) == ("success_healthy", "done")


@pytest.mark.parametrize("line", A_PART)
def test_a_log_that_speaks_of_a_part_is_not_done(line: str) -> None:
    assert classify((STEPS + line + "\n").encode()).state != "done"


@pytest.mark.parametrize("line", ["12 tasks succeeded, 0 failed", "Finished: SUCCESS"])
def test_a_bare_complaint_before_it_is_over(line: str) -> None:
    assert (
        classify(f"{STEPS}Error: upstream closed the connection\n{line}\n".encode()).failure_class == "success_healthy"
    )


@pytest.mark.parametrize(
    "said",
    [
        "sync to s3 ... done",
        "uploading results to s3://b ... ok",
        "[post] notify: ok",
        "sent 1,234 bytes  received 35 bytes  2,538.00 bytes/sec",
        "logs uploaded",
        "job script finished",
        "eval: skipped",
        "skipping evaluation",
        "Total wall time: 00:12:33",
        "==> finished in 3s",
        "[info] upload complete",
        "[entrypoint] bye",
        "exit code 0",
    ],
)
@pytest.mark.parametrize("died", ["RuntimeError: boom", "Segmentation fault (core dumped)", "Killed"])
def test_what_a_script_does_in_any_case_undoes_no_failure(died: str, said: str) -> None:
    verdict = classify(f"step 88/100\n{died}\n{said}\n".encode(), Evidence(log_age_seconds=30.0))
    assert verdict.terminal, verdict
    assert died in (verdict.line or "")


@pytest.mark.parametrize(
    "died",
    [
        "train.py: error: unrecognized arguments: --lrr 1",
        "/opt/run.sh: line 9:  4411 Killed                  python train.py",
        "/opt/run.sh: line 9:  4411 Segmentation fault      (core dumped) ./solver in.dat",
        "make: *** [Makefile:5: a.o] Error 1",
        "Traceback (most recent call last):\n  File \"/u/t.py\", line 8, in <module>\n    main()\nKeyError: 'k'",
        "Error in solve.default(a) : system is exactly singular\nExecution halted",
    ],
)
@pytest.mark.parametrize(
    "said",
    [
        "job completed",
        "pipeline finished",
        "log saved to run.log",
        "archive created: run1.tar.gz",
        "All done!",
        "Total time: 12 s",
    ],
)
def test_closing_words_do_not_raise_the_dead(died: str, said: str) -> None:
    verdict = classify(f"step 88/100\n{died}\n{said}\n".encode(), Evidence(log_age_seconds=30.0))
    assert verdict.terminal, verdict
