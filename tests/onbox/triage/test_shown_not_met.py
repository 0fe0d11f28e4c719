"""Lines that show a trouble which the run has not met, or tell it in a way that is easily missed."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

LOOP = "".join(f"epoch {at}/6 loss {1 / at:.3f}\n" for at in range(1, 7))
FINE = {
    "a command that make shows": 'test a = b || (echo "fold a: killed by the watchdog"; exit 3)\nfold a: score 0.71\n',
    "what is about to be tried": "limit probe: a child allocates until it is killed\nlimit probe: PASS\n",
    "a test of a lost loss": "t/test_read.py::test_row[loss=nan] PASSED  [ 50%]\n=== 2 passed in 0.31s ===\n",
    "a figure called error": f"{LOOP}curve drawn; mean error [0.31 0.07 0.05]\n",
    "a server that is waited for": (
        "curl: (7) Failed to connect to localhost port 8080: Connection refused\nprobe 1 failed, waiting\n"
        "api is up after 2 probes\n"
    ),
    "a spot machine's job that was queued again": (
        "work: step 0 loss 3.1\n[agent] this spot instance will be reclaimed in 120 s\n"
        "[agent] job saved its state, node shuts down: PREEMPTED\n[queue] requeued on a new instance\n"
        "work: step 0 loss 3.1\nwork: step 9 loss 0.4\nwork: complete\n[agent] job ended with status 0\n"
    ),
}
ENCODING = """\
Traceback (most recent call last):
  File "/a/t.py", line 3, in <module>
    text = open(cfg['corpus'], encoding='utf-8').read()
UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe4 in position 9: invalid continuation byte
"""
MODEL = """\
Traceback (most recent call last):
  File "/a/t.py", line 9, in <module>
    agent = PPO.load('last.zip')
zipfile.BadZipFile: File is not a zip file
"""
CHECK = """\
Traceback (most recent call last):
  File "/a/test_clip.py", line 9, in test_low
    self.assertEqual(clip(-9), -5, 'low values must be clipped as well')
AssertionError: -9 != -5 : low values must be clipped as well
"""
NORM = "".join(f"step {at} norm {'NaN' if at > 2 else at} max error 0.0\n" for at in range(1, 9))
DAEMON = """\
pushing snapshot
@ERROR: auth failed on module nightly
rsync error: error starting client-server protocol (code 5) at main.c(1850)
"""
FAILED = {
    "a row of data that cannot be read": ("ValueError: row 31: cannot parse timestamp '2024-13-02'\n", "data_error"),
    "text in another encoding, named in a setting": (ENCODING, "data_error"),
    "a model that its library cannot open": (MODEL, "checkpoint_corrupt"),
    "a backup that counts errors": ("tar of run_2\nbackup finished, errors: 2\nrestore of run_2 failed\n", None),
    "a check of two values": (CHECK, "code_error"),
    "a norm that is no number": (NORM, "divergence"),
    "a report of tests that goes on": (
        "TAP version 13\nok 1 - mean\nnot ok 2 - sum\n1..2\n# tests 2\n# pass 1\n# fail 1\n# skipped 0\n# todo 0\n",
        "code_error",
    ),
    "a daemon that refuses its user": (DAEMON, "auth_error"),
    "a code of SIGTERM": (f"{LOOP}compress job: exit 143\n", "user_interrupt"),
}


@pytest.mark.parametrize("log", FINE.values(), ids=FINE)
def test_what_is_shown_has_not_befallen_the_run(log: str) -> None:
    verdict = classify(log.encode(), Evidence(log_age_seconds=30.0))
    assert verdict.failure_class == "success_healthy", verdict


@pytest.mark.parametrize(("log", "wanted"), FAILED.values(), ids=FAILED)
def test_what_is_told_in_passing_is_a_failure(log: str, wanted: str | None) -> None:
    verdict = classify(log.encode(), Evidence(log_age_seconds=30.0))
    assert verdict.failure_class not in ("success_healthy", "unknown"), verdict
    assert wanted in (None, verdict.failure_class), verdict


def test_a_number_that_cannot_be_read_is_of_the_data_or_of_a_setting_and_never_sure() -> None:
    log = 'Exception in thread "main" java.lang.NumberFormatException: For input string: "64k"\n'
    assert classify(log.encode(), Evidence(exit_code=1)).confidence != "high"


def test_who_is_known_to_have_failed_is_told_what_the_log_alone_would_be_said_to_tell() -> None:
    log = "-e:1:in `go': undefined method `strip' for nil:NilClass (NoMethodError)\n\nrow.go; puts nil.strip\n"
    log += "             ^^^^^^\n\tfrom -e:1:in `<main>'\nrow 1\n"
    alone, known = (classify(log.encode(), evidence) for evidence in (Evidence(), Evidence(exit_code=1)))
    assert (known.failure_class, known.state) == (alone.failure_class, "dead") == ("code_error", "dead")
