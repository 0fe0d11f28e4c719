"""The last lines of a log: laments in words of their own, and work of which nothing came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.logs.progress import read_progress
from onbox.triage.beside_progress import with_progress, with_verdict
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

if TYPE_CHECKING:
    from onbox.triage.verdict import Diagnosis

REFUSALS = (
    "The batch size must be divisible by the number of devices (got 10 and 4)",
    "tool: option '--size' needs a value",
    "index version 3 is newer than this program understands",
    "resume: no checkpoint there and --require-resume given",
)
WORK = "reading shards\nepoch 1/9 loss 0.8\nepoch 2/9 loss 0.6\n"
LAMENTS = (
    "ended without success",
    "ABNORMAL TERMINATION",
    "This run is wasted.",
    "Nothing could be written",
    "so nothing was saved",
    "items: 0 -> exit 4",
    'time=2026-01-02T03:12:00Z level=warn msg="received interrupt, stopping before epoch 3"',
    "Monitored metric loss = nan is not finite. Signaling Trainer to stop.\nbest weights/e1.ckpt state FINISHED",
    "::error file=a.py,line=2::a.py:2: undefined name `totl`",
)
NOTHING = (
    "scanning in/*.csv\nmatched 0 files\ndone\n",
    "splitting video\nOutput: 0 clips\n",
    "asking 500 questions\n500/500\nexact match 0/500\n",
    "***** Running training *****\n  Num examples = 0\n  Num Epochs = 3\nTraining completed.\n",
)
NOTHING_TO_DO = (
    "comparing\nuploaded 0 files, 120 unchanged\n",
    "checking\nfound 0 corrupt files\n",
    "polling\nprocessed 0 new messages\nup to date\n",
)


def verdict_of(log: str, exit_code: int | None = None) -> Diagnosis:
    evidence = Evidence(log_age_seconds=30.0, exit_code=exit_code)
    return with_progress(classify(log.encode(), evidence), read_progress(log.encode()))


@pytest.mark.parametrize("last", LAMENTS)
def test_a_run_whose_last_words_lament_has_failed(last: str) -> None:
    verdict = verdict_of(f"{WORK}{last}\n")
    assert verdict.state == "dead", verdict
    assert verdict.failure_class != "success_healthy"


@pytest.mark.parametrize("last", LAMENTS[:4])
def test_a_lament_beside_exit_code_0_is_told(last: str) -> None:
    verdict = verdict_of(f"{WORK}{last}\n", exit_code=0)
    assert (verdict.rule, verdict.confidence) == ("exit-0-beside-a-fault", "low")


@pytest.mark.parametrize("log", NOTHING)
@pytest.mark.parametrize("exit_code", [None, 0])
def test_an_end_of_which_nothing_came_is_never_sure(log: str, exit_code: int | None) -> None:
    verdict = verdict_of(log, exit_code)
    name = "data_error" if exit_code is None else "success_healthy"
    assert (verdict.failure_class, verdict.rule, verdict.confidence) == (name, "counts-none", "low")
    assert verdict.state != "dead"
    assert "see whether that was meant" in verdict.remedy


@pytest.mark.parametrize("log", NOTHING_TO_DO)
def test_where_there_was_nothing_to_do_a_zero_is_right(log: str) -> None:
    verdict = verdict_of(log, exit_code=0)
    assert (verdict.rule, verdict.confidence) == ("ended-well", "high")


def test_an_exit_code_of_0_without_a_word_is_not_called_sure() -> None:
    assert verdict_of("", exit_code=0).confidence == "medium"


def test_who_wrote_nothing_and_failed_is_not_sent_to_read_the_log() -> None:
    verdict = verdict_of("", exit_code=1)
    assert (verdict.failure_class, verdict.state) == ("unknown", "dead")
    assert verdict.remedy.startswith("It wrote nothing before it failed: type its command by hand")
    assert "Read the end" in verdict_of("step 1/9 loss 2\n", exit_code=1).remedy


def test_who_is_known_to_have_failed_behind_a_word_of_success_is_told_so() -> None:
    verdict = verdict_of("step 1/2 loss 1\nstep 2/2 loss 1\nAll done, model saved.\n", exit_code=1)
    assert (verdict.state, verdict.rule) == ("dead", "unproven")
    assert verdict.remedy.startswith("Its log says that it is done, yet it is known to have failed")


def test_how_old_a_log_is_does_not_change_how_its_words_are_read() -> None:
    logs = [f"{WORK}{last}\n" for last in LAMENTS]
    for log in logs:
        known = {classify(log.encode(), Evidence(log_age_seconds=age)).failure_class for age in (None, 5.0, 600.0)}
        assert len(known) == 1, log


def test_of_suites_alone_a_full_counter_is_an_end_beside_a_fault() -> None:
    log = "".join(f"step {at}/3 loss 0.5\n" for at in (1, 2, 3)) + "free(): double free detected in tcache 2\n"
    log += "run.sh: line 1: 17 Aborted (core dumped) ./fit\n"
    verdict, progress = classify(log.encode()), read_progress(log.encode())
    assert verdict.state == "dead"
    assert not with_verdict(progress._replace(finished=True), verdict).finished


def test_what_only_the_exit_code_calls_well_is_not_sure() -> None:
    log = "Phase 3/4: routing\nNet vdd: 12 violations\nPhase 3/4 failed: 12 DRC violations remain\nflow terminated\n"
    verdict = verdict_of(log, exit_code=0)
    assert (verdict.failure_class, verdict.confidence) == ("success_healthy", "low")
    assert verdict.remedy.startswith("Only its exit code says that it ended well")


def test_a_limit_that_was_reached_is_no_success_where_nothing_was_written() -> None:
    steps = "".join(f"Iteration {at}/80 residual 1.1e+1\n" for at in (78, 79, 80))
    log = f"{steps}Maximum number of iterations reached without convergence.\nNo solution written.\n"
    assert verdict_of(log).state == "dead"


def test_a_gradient_that_is_lost_by_another_name() -> None:
    log = "".join(f"it {at}/1000 loss 0.00 gnorm nan\n" for at in (700, 800, 900))
    assert verdict_of(f"it 600/1000 loss 0.41 gnorm 1.1\n{log}").failure_class == "divergence"


@pytest.mark.parametrize("last", REFUSALS)
@pytest.mark.parametrize("exit_code", [None, 1])
def test_a_program_that_says_last_what_must_be_chosen_otherwise_did_not_begin(last: str, exit_code: int | None) -> None:
    verdict = verdict_of(f"starting run\nloading data\n{last}\n", exit_code)
    assert (verdict.failure_class, verdict.state, verdict.confidence) == ("config_error", "dead", "low"), verdict


def test_advice_above_the_work_is_no_refusal() -> None:
    assert verdict_of(f"{REFUSALS[0]}\n{WORK}").failure_class == "success_healthy"


def test_a_program_that_has_written_nothing_has_failed_however_full_its_counter_is() -> None:
    verdict = verdict_of("encode 1/3\nencode 2/3\nencode 3/3\nencoder: no output written\n")
    assert (verdict.failure_class, verdict.state) == ("code_error", "dead")


@pytest.mark.parametrize(
    ("line", "failure_class"),
    [
        ("Cannot connect to the Docker daemon at unix:///run/x.sock. Is the docker daemon running?", "config_error"),
        ("fatal: repository '/srv/x.git' does not exist", "config_error"),
        ('psql:load.sql:4: ERROR:  invalid byte sequence for encoding "UTF8": 0xff', "data_error"),
        ("rank 3 has not answered for 30 min, leaving", "nccl_or_distributed"),
    ],
)
def test_what_a_last_line_names_tells_its_class(line: str, failure_class: str) -> None:
    assert verdict_of(f"begin\nload\n{line}\n").failure_class == failure_class


def test_a_guard_against_a_full_disk_is_none() -> None:
    log = "step 99/200 loss 0.5\nstep 100/200 loss 0.5\ncheckpoint saved (disk full guard: keep 5)\n"
    assert verdict_of(log).failure_class == "success_healthy"


def test_a_word_for_the_end_beside_a_code_of_failure_is_no_success() -> None:
    log = f'{WORK}rsync: [receiver] mkstemp "/mnt/x" failed: Permission denied (13)\nsync finished, exit=23\n'
    assert verdict_of(log).failure_class == "permission_error"


def test_damaged_rows_that_are_counted_beside_those_kept_were_meant_to_be_left_out() -> None:
    log = f"{WORK}Dataset card written: 493 rows kept, 7 corrupt rows dropped (1.4 %)\n"
    assert verdict_of(log).failure_class == "success_healthy"


def test_a_signal_that_a_person_asked_for_is_no_preemption() -> None:
    log = f"{WORK}worker: SIGTERM received (operator kim: stop requested by hand), flushing\nexit 143\n"
    assert verdict_of(log).failure_class == "user_interrupt"


@pytest.mark.parametrize(
    ("last", "failure_class"),
    [
        (
            "pkg.CatBoostError: src/libs/options.cpp:16: Error: bootstrap doesn't support 'subsample' option",
            "config_error",
        ),
        ("ort.InvalidProtobuf: 7 : Load model from m.onnx failed:Protobuf parsing failed.", "checkpoint_corrupt"),
        (
            "xgboost.core.XGBoostError: c_api.cc:15: Check failed: Invalid model format in: `a.ubj`.",
            "checkpoint_corrupt",
        ),
        ("7:M # Fatal error loading the DB: Invalid argument. Exiting.", "data_error"),
        ("   1 | print *,'ERROR: residual is NaN'\n     |   1\nError: Syntax error at (1)", "code_error"),
        (
            "kern.h:1:3: error: x\ngmake[1]: *** [main.o] Error 1\nbuild.sh: collecting artifacts\nMakefile",
            "code_error",
        ),
    ],
)
def test_what_a_library_says_of_a_file_or_a_setting_is_no_defect(last: str, failure_class: str) -> None:
    assert verdict_of(f"begin\nload\n{last}\n").failure_class == failure_class


def test_damaged_pieces_that_were_replaced_end_nothing() -> None:
    log = f"{WORK}two epochs ok, damaged samples replaced: [33, 150]\n"
    assert verdict_of(log).failure_class == "success_healthy"


@pytest.mark.parametrize(
    "log",
    [
        "epoch 3/3\nERROR: could not save model: [Errno 28] No space left on device\nAll done.\n",
        "epoch 3/3\ncp: cannot create regular file '/out/m.pt': No such file or directory\nAll done.\n",
        "epoch 3/3\nfit: done\nexport: unsupported opset 9\nmake: *** [Makefile:5: export] Error 3\n",
    ],
)
def test_a_result_that_was_lost_is_no_success_whatever_the_script_says(log: str) -> None:
    assert verdict_of(log).state == "dead"
    assert verdict_of(log, exit_code=0).confidence == "low"


def test_a_process_that_runs_has_not_died() -> None:
    log = "curl: (7) Failed to connect to mirror port 443: Connection refused\nLoading model\n"
    assert verdict_of(log).state == "dead"
    alive = classify(log.encode(), Evidence(log_age_seconds=3.0, process_alive=True))
    assert (alive.failure_class, alive.state, alive.confidence) == ("success_healthy", "running", "low")
    assert "Its process runs" in alive.remedy
    assert alive.secondary[0].failure_class == "network_blip"


@pytest.mark.parametrize(
    "noise",
    [
        "Failed to connect to bus: Host is down",
        "libGL error: failed to load driver: swrast",
        "bash: cannot set terminal process group (-1): Inappropriate ioctl for device",
        "2026-01-02 03:04:05.1: E cuda_driver.cc:265] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no device",
        "E0000 00:00:1733 cuda_dnn.cc:8310] Unable to register cuDNN factory: one has already been registered",
    ],
)
def test_what_a_bare_machine_makes_libraries_say_at_their_start_is_no_death(noise: str) -> None:
    assert verdict_of(f"{noise}\nLoading model\n").failure_class == "success_healthy"


def test_a_traceback_that_was_raised_as_expected_ends_nothing() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "/srv/t.py", line 10, in <module>\n    f(1)\nZeroDivisionError: x\n'
    )
    log = f"{WORK}WARNING:root: self-check: it was raised as expected\n{trace}----\nINFO:root: params saved\n"
    assert verdict_of(log).failure_class == "success_healthy"


def test_a_code_of_failure_counts_whatever_was_skipped_beside_it() -> None:
    assert verdict_of(f"{WORK}[2/3] load\n[3/3] skipped, report rc=1\n").state == "dead"


@pytest.mark.parametrize("last", ["WARNING: final checkpoint not saved", "could not upload the report to s3"])
@pytest.mark.parametrize("exit_code", [None, 0])
def test_a_result_that_is_not_kept_is_told_beside_a_good_end(last: str, exit_code: int | None) -> None:
    verdict = verdict_of(f"{WORK}{last}\nTraining finished.\n", exit_code)
    assert verdict.confidence == "low"
    assert "result" in verdict.remedy


@pytest.mark.parametrize(
    "last", ["best model not saved: val loss did not improve", "could not save the model, trying /b\nmodel saved to /b"]
)
def test_a_result_that_need_not_be_kept_or_is_after_all_changes_nothing(last: str) -> None:
    verdict = verdict_of(f"{WORK}{last}\nTraining finished.\n", exit_code=0)
    assert verdict.rule == "ended-well"
    assert verdict.confidence != "low"


ENDS = (
    '{"event": "end", "job": "fit-7", "status": "FAILED"}',
    '{"msg": "finished", "success": false, "reason": "timeout"}',
    "Program terminated abnormally.",
    "1 of 3 exports failed\nmail sent\nfinished",
    "mirror-b never answered, nothing more we can do tonight",
    "\u4e0b\u8f7d\u5931\u8d25\uff0c\u5df2\u653e\u5f03",
)


@pytest.mark.parametrize("last", ENDS)
def test_an_exit_code_of_0_is_not_sure_beside_a_last_line_that_complains(last: str) -> None:
    verdict = verdict_of("epoch 1/2 loss 0.8\nepoch 2/2 loss 0.6\n" + last + "\n", exit_code=0)
    assert verdict.confidence != "high"
    assert verdict.remedy != "Leave it alone."


@pytest.mark.parametrize("last", ["0 errors, 0 warnings\nall done", "done, no failures", "test accuracy 0.93"])
def test_an_exit_code_of_0_is_sure_beside_a_good_end(last: str) -> None:
    verdict = verdict_of("epoch 1/2 loss 0.8\nepoch 2/2 loss 0.6\n" + last + "\n", exit_code=0)
    assert (verdict.confidence, verdict.remedy) == ("high", "Leave it alone.")


def test_what_was_outlived_is_no_death_beside_an_exit_code_of_0() -> None:
    steps = "".join(f"it {at}/1000 nll 2.9\n" for at in range(400, 1001, 100))
    notice = "cloud notice: this instance will be reclaimed in 30 seconds\n---- boot ----\npicked up at 310\n"
    verdict = verdict_of(f"it 300/1000 nll 4.1\n{notice}{steps}model saved to m.pt\n", exit_code=0)
    assert verdict.failure_class == "success_healthy"


@pytest.mark.parametrize("first", ["Abort any time with Ctrl-C.", "Press q to quit, Ctrl-C to cancel the download"])
def test_what_the_reader_may_do_has_not_happened(first: str) -> None:
    verdict = verdict_of(f"{first}\n")
    assert verdict.failure_class == "success_healthy"


def test_an_error_of_r_that_goes_on_in_the_next_line_is_read_to_its_end() -> None:
    verdict = verdict_of("Error in cv.fit(x, y) : \n  x has missing values; impute them first\nExecution halted\n")
    assert verdict.failure_class == "data_error"


FAILED_TESTS = (
    "0 features passed, 1 failed, 0 skipped\n3 steps passed, 1 failed, 1 skipped, 0 undefined\nTook 0m0.012s\n",
    "Ok:                 2   \nFail:               1   \nSkipped:            0   \n\nFull log written to /b/log.txt\n",
    "Finished in 0.02 seconds\n5 examples, 1 failure\n",
)


@pytest.mark.parametrize("report", FAILED_TESTS)
def test_a_report_that_counts_failed_tests_is_one_of_a_failure(report: str) -> None:
    verdict = verdict_of(f"checking the loader\ncase 1 ok\ncase 2 ok\n\n{report}")
    assert (verdict.failure_class, verdict.state) == ("code_error", "dead"), verdict


def test_the_message_below_a_panic_is_what_is_shown() -> None:
    log = (
        f"{WORK}thread 'main' panicked at src/main.rs:14:26:\nthe mesh has 0 cells\nnote: run with `RUST_BACKTRACE=1`\n"
    )
    verdict = verdict_of(log)
    assert (verdict.state, verdict.line) == ("dead", "the mesh has 0 cells"), verdict
