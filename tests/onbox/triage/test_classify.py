"""The verdict: the log and the evidence weighed together."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from onbox.triage.by_end import STALE_SECONDS
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence
from onbox.triage.rules.rows import UserRow
from tests.box import BOUND_SECONDS

RUNNING = b"step 1 loss 3.1\nstep 2 loss 3.0\nstep 3 loss 2.9\n"
TRACE = b"""\
step 1 loss 3.1
Traceback (most recent call last):
  File "/w/train.py", line 12, in main
    step(batch)
  File "/opt/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1532, in _call
    return forward(x)
"""
KEY_ERROR = TRACE + b"KeyError: 'label'\n"
NO_SPACE = TRACE + b"OSError: [Errno 28] No space left on device: '/out/3.pt'\n"

PROOFS = [
    ("time_limit", Evidence(exit_code=143, signal=15, cause="timeout")),
    ("hang_stall", Evidence(exit_code=137, signal=9, cause="stalled")),
    ("not_started", Evidence(cause="not_started")),
    ("host_oom", Evidence(exit_code=137, oom_kill_delta=1)),
    ("host_oom", Evidence(exit_code=1, oom_kill_delta=2)),
    ("unknown", Evidence(exit_code=137, oom_kill_delta=0)),
    ("time_limit", Evidence(scheduler_state="TIMEOUT")),
    ("preempted", Evidence(scheduler_state="PREEMPTED")),
    ("preempted", Evidence(scheduler_state="NODE_FAIL")),
    ("host_oom", Evidence(scheduler_state="OUT_OF_MEMORY")),
    ("user_interrupt", Evidence(scheduler_state="CANCELLED by 1000")),
    ("user_interrupt", Evidence(exit_code=130)),
    ("preempted", Evidence(exit_code=143)),
    ("config_error", Evidence(exit_code=127)),
    ("false_success", Evidence(exit_code=0, gates=("artifact best.npz",))),
    ("success_healthy", Evidence(exit_code=0)),
    ("success_healthy", Evidence(process_alive=True)),
    ("unknown", Evidence(exit_code=1)),
    ("unknown", Evidence(process_alive=False)),
]


@pytest.mark.parametrize(("failure_class", "evidence"), PROOFS)
def test_evidence_speaks_where_the_log_does_not(failure_class: str, evidence: Evidence) -> None:
    assert classify(RUNNING, evidence).failure_class == failure_class


def test_a_scheduler_beats_the_traceback_it_provokes() -> None:
    verdict = classify(TRACE + b"KeyboardInterrupt\n", Evidence(scheduler_state="TIMEOUT"))
    assert (verdict.failure_class, verdict.terminal) == ("time_limit", True)


def test_a_traceback_beats_a_bare_exit_code() -> None:
    assert classify(KEY_ERROR, Evidence(exit_code=1)).failure_class == "code_error"


def test_a_refused_gate_may_have_a_cause_in_the_log() -> None:
    assert classify(NO_SPACE, Evidence(exit_code=0, gates=("artifact",))).failure_class == "disk_full"


def test_exit_0_makes_noise_harmless() -> None:
    log = RUNNING + b"BrokenPipeError: [Errno 32] Broken pipe\n"
    assert classify(log, Evidence(exit_code=0)).failure_class == "success_healthy"


def test_exit_0_does_not_hide_what_the_log_tells() -> None:
    log = b"step 1/10 loss 2\nERROR: training failed: could not open the data set\n"
    verdict = classify(log, Evidence(exit_code=0))
    assert (verdict.failure_class, verdict.confidence) == ("success_healthy", "low")
    assert [item.failure_class for item in verdict.secondary] == ["data_error"]
    assert "see whether the code was lost" in verdict.remedy
    assert classify(b"step 1/10 loss 2\nsaved\n", Evidence(exit_code=0)).confidence == "high"


@pytest.mark.parametrize("log", [KEY_ERROR, NO_SPACE, TRACE + b"MemoryError\n"])
def test_what_ended_with_0_is_done_whatever_its_log_says(log: bytes) -> None:
    verdict = classify(log, Evidence(exit_code=0))
    assert (verdict.failure_class, verdict.state, verdict.terminal) == ("success_healthy", "done", False)
    assert (verdict.rule, verdict.confidence) == ("exit-0-beside-a-fault", "low")
    assert verdict.secondary[0].failure_class == classify(log, Evidence(exit_code=1)).failure_class
    assert verdict.traceback == classify(log, Evidence(exit_code=1)).traceback != ()


def test_a_place_in_a_library_is_no_small_fix() -> None:
    library = (
        b'Traceback (most recent call last):\n  File "/usr/lib/python3.11/threading.py", line 982, in run\n    go()\n'
    )
    verdict = classify(library + b"KeyError: 'label'\n", Evidence(exit_code=1))
    assert (verdict.where, verdict.small_fix) == ("/usr/lib/python3.11/threading.py:982", False)
    assert classify(KEY_ERROR, Evidence(exit_code=1)).small_fix


def test_no_inodes_is_told_from_no_bytes() -> None:
    assert classify(NO_SPACE, Evidence(inodes_free=0, disk_free_bytes=10**9)).failure_class == "inode_exhausted"
    assert classify(NO_SPACE, Evidence(inodes_free=5)).failure_class == "disk_full"


@pytest.mark.parametrize(
    ("evidence", "failure_class"),
    [
        (Evidence(exit_code=1, disk_free_bytes=0), "disk_full"),
        (Evidence(process_alive=False, disk_free_bytes=512), "disk_full"),
        (Evidence(exit_code=1, disk_free_bytes=10**9, inodes_free=0), "inode_exhausted"),
        (Evidence(exit_code=1, disk_free_bytes=10**9, inodes_free=10**6), "unknown"),
        (Evidence(exit_code=1), "unknown"),
        (Evidence(exit_code=139, disk_free_bytes=0), "code_error"),
    ],
)
def test_a_disk_without_room_explains_a_log_without_last_words(evidence: Evidence, failure_class: str) -> None:
    assert classify(RUNNING, evidence).failure_class == failure_class


@pytest.mark.parametrize(
    ("evidence", "failure_class"),
    [
        (Evidence(exit_code=1, disk_free_bytes=0), "disk_full"),
        (Evidence(exit_code=1, inodes_free=0), "inode_exhausted"),
        (Evidence(exit_code=1, disk_free_bytes=10**9), "code_error"),
        (Evidence(exit_code=1), "code_error"),
    ],
)
def test_a_vague_exception_in_a_write_is_of_the_disk_that_had_no_room(evidence: Evidence, failure_class: str) -> None:
    frame = '  File "/app/train.py", line 12, in main\n    booster.save_model(path)\n'
    log = (
        RUNNING
        + b"Traceback (most recent call last):\n"
        + frame.encode()
        + b"lib.core.LibError: Check failed: n == 8\n"
    )
    assert classify(log, evidence).failure_class == failure_class
    elsewhere = classify(log.replace(b"save_model(path)", b"fit(data)"), evidence)
    assert elsewhere.failure_class == "code_error"


def test_a_bare_terminated_asks_for_no_restart_and_names_the_others() -> None:
    log = RUNNING + b"run.sh: line 7: 3191 Terminated              python train.py\n"
    verdict = classify(log, Evidence(log_age_seconds=30.0))
    assert (verdict.failure_class, verdict.confidence, verdict.retry) == ("user_interrupt", "low", False)
    assert {found.failure_class for found in verdict.secondary} == {"preempted", "time_limit"}
    assert classify(log, Evidence(exit_code=143)).failure_class == "preempted"


def test_a_verdict_names_the_users_own_frame() -> None:
    verdict = classify(KEY_ERROR, Evidence())
    assert (verdict.where, verdict.small_fix, verdict.line_number) == ("/w/train.py:12", True, 7)


def test_an_oom_is_no_small_fix() -> None:
    assert not classify(TRACE + b"RuntimeError: CUDA out of memory.\n", Evidence()).small_fix


@pytest.mark.parametrize(
    ("state", "age"), [("running", 30.0), ("stalled", STALE_SECONDS + 1), ("unknown", None), ("running", 1700.0)]
)
def test_silence_needs_evidence(state: str, age: float | None) -> None:
    log = b"opening the index\n"
    assert classify(log, Evidence(log_age_seconds=age)).state == state


def test_a_slow_run_is_given_its_own_pace() -> None:
    log = b"2026-01-01 00:00:00 epoch 1 loss 2\n2026-01-01 02:00:00 epoch 2 loss 1\n"
    assert classify(log, Evidence(log_age_seconds=3 * 3600.0)).state == "running"
    assert classify(log, Evidence(log_age_seconds=30 * 3600.0)).state == "stalled"


def test_a_lost_loss_runs_on_but_is_not_healthy() -> None:
    verdict = classify(b"step 1 loss 2.0\nstep 2 loss nan\nstep 3 loss nan\n", Evidence(log_age_seconds=5.0))
    assert (
        verdict.failure_class,
        verdict.terminal,
        verdict.state,
        verdict.line_number,
    ) == ("divergence", False, "running", 2)


def test_a_loss_that_came_back_is_healthy() -> None:
    log = b"step 1 loss nan\nstep 2 loss nan\nstep 3 loss 2.0\nstep 4 loss 1.9\n"
    assert classify(log, Evidence(log_age_seconds=5.0)).failure_class == "success_healthy"


def test_the_same_failure_has_the_same_signature() -> None:
    line = b"RuntimeError: expected 0x%x at step %d of /data/%s/x.bin on [rank%d]\n"
    first = classify(TRACE + line % (0x7F01, 12, b"a1", 1), Evidence())
    again = classify(RUNNING + TRACE + line % (0x9BCE, 994, b"b2", 3), Evidence())
    assert first.signature == again.signature
    assert first.signature != classify(KEY_ERROR, Evidence()).signature


def test_secrets_are_masked() -> None:
    token = b"hf_" + b"a" * 30
    verdict = classify(b"OSError: 401 Client Error for https://u:pw@h/x token=" + token + b"\n", Evidence())
    assert verdict.line is not None
    assert "aaaa" not in verdict.line
    assert "pw@" not in json.dumps(verdict.as_json())


def test_a_first_fault_outlives_a_flood() -> None:
    first = b"[rank3]: RuntimeError: CUDA out of memory. Tried to allocate 3 GiB\n"
    flood = [b"[rank%d]: Watchdog caught collective operation timeout: 0x%x\n" % (n % 8, n * 977) for n in range(8_000)]
    verdict = classify([RUNNING, first, *(b"".join(flood[at : at + 999]) for at in range(0, 8_000, 999))])
    assert (verdict.failure_class, verdict.line_number) == ("cuda_oom", 4)


@pytest.mark.parametrize("log", [b"", b"\n\n", b"\r", b"\x00" * 999, b"\xff" * 999])
def test_odd_logs_are_no_trouble(log: bytes) -> None:
    assert not classify(log, Evidence()).terminal


@pytest.mark.parametrize("age_seconds", [None, 30.0])
def test_an_empty_log_is_not_called_healthy(age_seconds: float | None) -> None:
    verdict = classify(b"", Evidence(log_age_seconds=age_seconds))
    assert (verdict.failure_class, verdict.state, verdict.confidence) == ("unknown", "unknown", "low")
    assert "empty" in verdict.remedy
    assert classify(b"", Evidence(process_alive=True)).failure_class == "success_healthy"


def test_a_huge_line_takes_no_time() -> None:
    began = time.process_time()
    assert classify(b"e" * 10_000_000 + b" CUDA out of memory", Evidence(exit_code=1)).failure_class == "cuda_oom"
    assert time.process_time() - began < BOUND_SECONDS


def test_a_users_row_comes_first() -> None:
    row = UserRow("seat .* refused", "license_busy", "Wait.", retry=True)
    verdict = classify(b"seat 12 refused\n" + KEY_ERROR, Evidence(), [row])
    assert (
        verdict.failure_class,
        verdict.remedy,
        verdict.retry,
        verdict.rule,
    ) == ("license_busy", "Wait.", True, "user-1")


def test_a_users_row_of_an_earlier_attempt_is_past() -> None:
    row = UserRow("seat refused", "license_busy")
    log = b"seat refused\n=== attempt 2 ===\n" + RUNNING
    assert classify(log, Evidence(log_age_seconds=1.0), [row]).failure_class == "success_healthy"


def test_a_defect_beside_a_kill_in_a_shared_group_is_a_defect() -> None:
    """The counter is the group's: somebody else in it may have been killed."""
    log = b"Traceback (most recent call last):\n  File 'train.py', line 3, in <module>\nValueError: bad learning rate\n"
    assert classify(log, Evidence(exit_code=1, oom_kill_delta=1)).failure_class != "host_oom"
    assert classify(b"", Evidence(exit_code=1, oom_kill_delta=1)).failure_class == "host_oom"
    assert classify(log, Evidence(exit_code=137, oom_kill_delta=1)).failure_class == "host_oom"


CASES = Path(__file__).resolve().parents[2] / "cases" / "triage"


@pytest.mark.parametrize(
    ("case", "rule", "words"),
    [
        ("rank_killed_first", "first-rank-killed", "failed (exitcode: -9) local_rank: 1"),
        ("rank_crashed_first", "first-rank-crashed", "failed (exitcode: -11) local_rank: 1"),
        ("loader_collate", "shape-or-device", "stack expects each tensor to be equal size"),
        ("loader_exit_code", "loader-crashed", "exited unexpectedly with exit code 1"),
        ("loader_segfault", "loader-crashed", "killed by signal: Segmentation fault"),
        ("faulthandler_dump", "crash-signal", "Fatal Python error: Segmentation fault"),
        ("hydra_override", "settings-library", "Could not override 'lrr'."),
    ],
)
def test_the_line_of_what_went_first_is_shown(case: str, rule: str, words: str) -> None:
    verdict = classify((CASES / f"{case}.log").read_bytes())
    assert (verdict.rule, words in (verdict.line or "")) == (rule, True), verdict


def test_an_environment_variable_that_is_on_is_no_progress() -> None:
    log = b"Traceback (most recent call last):\nKeyError: 'x'\n" + b"Set DEBUG_ERROR=1 to see more.\n" * 5
    assert classify(log).failure_class == "code_error"


def test_an_exit_code_of_2_after_steps_is_no_usage_error() -> None:
    verdict = classify(b"step 1 loss 2.0\nstep 2 loss 1.9\n", Evidence(exit_code=2))
    assert verdict.failure_class == "unknown"
    assert classify(b"starting\n", Evidence(exit_code=2)).failure_class == "config_error"


def test_a_loss_of_nothing_with_a_lost_gradient_is_divergence_and_a_skipped_step_is_not() -> None:
    lost = b"{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.1}\n{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.2}\n"
    skipped = b"{'loss': 4.0, 'grad_norm': nan, 'epoch': 0.1}\n{'loss': 3.9, 'grad_norm': 1.2, 'epoch': 0.2}\n"
    assert classify(lost).failure_class == "divergence"
    assert classify(skipped).failure_class == "success_healthy"
    assert classify(lost + skipped).failure_class == "success_healthy"


@pytest.mark.parametrize(
    ("line", "failure_class"),
    [
        ("RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable", "cuda_env"),
        ("tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:", "code_error"),
        ("ValueError: Your setup doesn't support bf16/gpu.", "cuda_env"),
        ("sudo: a password is required", "permission_error"),
        ("wget: server returned error: HTTP/1.1 404 Not Found", "config_error"),
        ('{"level":"critical","exception":"Traceback (most recent call last):\\n File \\"t.py\\"\\nKeyError: \'x\'"}',
         "code_error"),
        ('{"level":"info","message":"sample text: KeyError: \'x\'"}', "success_healthy"),
        ("Q: Why do I get Segmentation fault (core dumped)?\nstep 2 loss 1", "success_healthy"),
        ("Training done\nException ignored in: <module 'threading'>\nKeyboardInterrupt:", "success_healthy"),
        ("make: *** [Makefile:3: train] Error 1", "code_error"),
    ],
)  # fmt: skip
def test_a_last_line_is_understood(line: str, failure_class: str) -> None:
    end = Evidence(exit_code=1) if failure_class != "success_healthy" else Evidence(log_age_seconds=30.0)
    verdict = classify(f"step 1 loss 2.0\n{line}\n".encode(), end)
    assert verdict.failure_class == failure_class, verdict


def test_a_rule_of_dashes_is_not_shown_as_the_sign_of_life() -> None:
    verdict = classify(
        b"step 1 loss 2.0\nwarming the cache\n-----\n\xe2\x94\x80\xe2\x94\x80\n", Evidence(log_age_seconds=30.0)
    )
    assert verdict.line == "warming the cache"


def test_a_list_of_possible_causes_tells_none() -> None:
    hint = "(raylet) A worker died. Some common causes include: (1) the process was killed by the OOM killer, (2) ..."
    log = f"step 1 loss 2.0\n{hint}\nray.exceptions.ActorDiedError: The actor died unexpectedly before finishing.\n"
    assert classify(log.encode()).failure_class == "ray_node_died"


PEER_LOST = "[rank0]: torch.distributed.DistBackendError: NCCL error in: x.cpp:1 remote process exited\n"


@pytest.mark.parametrize(
    ("launcher", "failure_class"),
    [
        ("[launch.py:325:sigkill_handler] ['python', 't.py'] exits with return code = -9", "host_oom"),
        ("mpirun noticed that process rank 1 with PID 0 on node n1 exited on signal 9 (Killed).", "host_oom"),
        ("mpirun noticed that process rank 1 with PID 0 on n1 exited on signal 11 (Segmentation fault).", "code_error"),
        ("srun: error: n1: task 3: Killed", "host_oom"),
        ("E1121 11:44:39.679000 861 torch/x/api.py:1002] failed (exitcode: -6) local_rank: 1", "nccl_or_distributed"),
    ],
)
def test_the_launchers_word_on_the_first_rank_beats_the_others_broken_connections(
    launcher: str, failure_class: str
) -> None:
    assert classify(f"step 1 loss 2.0\n{PEER_LOST}{launcher}\n".encode()).failure_class == failure_class


def test_a_json_line_keeps_its_rank_and_its_level() -> None:
    line = '[rank3]: {"level":"ERROR","msg":"CUDA out of memory. Tried to allocate 2.00 GiB"}'
    assert classify(f"step 1 loss 2.0\n{line}\n".encode()).failure_class == "cuda_oom"
    survived = '{"level":"INFO","msg":"CUDA out of memory, halving the batch"}'
    assert classify(f"{survived}\nstep 1 loss 2.0\n".encode()).failure_class == "success_healthy"


def test_a_lost_loss_in_a_run_that_has_ended_well_does_not_run() -> None:
    log = b"[0]\ttrain-rmse:0.30\n[10]\ttrain-rmse:0.31\n[20]\ttrain-rmse:nan\n[30]\ttrain-rmse:nan\n"
    ended = classify(log, Evidence(exit_code=0))
    assert (ended.failure_class, ended.state) == ("divergence", "done")
    assert classify(log).state == "running"


@pytest.mark.parametrize(
    ("log", "failure_class"),
    [
        ("x.RpcError: PERMISSION_DENIED: /data/shards/7.tfrecord; Permission denied", "permission_error"),
        ("x.RpcError: PERMISSION_DENIED: the caller does not have permission", "auth_error"),
        ("task eval was killed because it timed out", "time_limit"),
        ("At line 7 of file a.f90\nFortran runtime error: Unformatted file structure has been corrupted", "data_error"),
        ("reading train.svm\nWrong input format at line 5", "data_error"),
        ("lib.Error: Unknown token na in data file", "data_error"),
        ("ValueError: num_samples should be a positive integer value, but got num_samples=0", "data_error"),
        ("numpy.linalg.LinAlgError: Singular matrix", "code_error"),
        ("Error in library(lme9) : there is no package called \u2018lme9\u2019\nExecution halted", "code_error"),
        ("Fatal error:\nThere was 1 error in input file(s)", "config_error"),
        ("Error: no such optimizer named adamm", "config_error"),
        ("--> FOAM FATAL ERROR:\nMaximum number of iterations exceeded: 50", "divergence"),
        ('Exception in thread "main" java.lang.NumberFormatException: For input string: "9x"', "data_error"),
        ("E0102 03:04:05.678901 7 a.cc:8] Check failed: file >= 0 : the option depth must be positive", "config_error"),
        ("ValueError: this estimator does not accept NaN", "data_error"),
        ('Traceback (most recent call last):\n  File "t.py", line 3, in <module>\nguard.LossIsNaN: 7', "divergence"),
        ("export failed: the time limit of the whole job was exceeded", "time_limit"),
        ("Error in saveRDS(x) : \n  error writing to connection", "disk_full"),
        ("duckdb.duckdb.ConversionException: Conversion Error: Could not convert string 'a' to INT32", "data_error"),
    ],
)
def test_what_programs_say_has_its_class(log: str, failure_class: str) -> None:
    assert classify(f"starts\n{log}\n".encode()).failure_class == failure_class


@pytest.mark.parametrize(
    "line",
    [
        "Error estimation of lm: 11.4",
        "Error rate 12 %",
        "Final Error: 0.27",
        "x + y, invalid programs 53",
        "saved, error 0.2",
    ],
)
def test_a_figure_that_is_called_error_is_none(line: str) -> None:
    assert classify(f"generation 3 best 0.1\n{line}\n".encode()).failure_class == "success_healthy"


def test_what_a_daemon_does_around_a_job_is_no_end_of_it() -> None:
    failed = "common_file_write_uint32s: write pid 71 to /sys/fs/cgroup/cgroup.procs failed: Device or resource busy"
    for trouble in (
        failed,
        "Unable to move pid 71 to init root cgroup /sys/fs/cgroup",
        "error unlocking cgroup 'a.scope'",
    ):
        log = f"epoch 1 loss 2.0\nepoch 2 loss 1.0\nresults in runs/7\nslurmstepd: error: {trouble}\n"
        assert classify(log.encode()).failure_class == "success_healthy"
        killed = "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch cgroup.\n"
        assert classify(f"{log}{killed}".encode()).failure_class == "host_oom"


def test_a_box_at_the_end_that_speaks_of_an_error_tells_of_one() -> None:
    rule = " ----------------------\n"
    boxed = f"energy 3.1\n{rule} This error is of no known kind\n{rule}{rule} See the manual\n{rule}"
    assert classify(boxed.encode()).failure_class == "code_error"
    table = f"energy 3.1\n{rule} Standard errors are robust\n{rule}"
    assert classify(table.encode()).failure_class == "success_healthy"


@pytest.mark.parametrize("exception", ["FloatingPointError: loss is nan", "ValueError: bad loss value"])
def test_the_check_that_found_a_lost_loss_is_shown_with_its_traceback(exception: str) -> None:
    frame = '  File "/w/train.py", line 32, in <module>\n    check()'
    log = f"epoch 1/5 loss nan\nTraceback (most recent call last):\n{frame}\n{exception}\n"
    verdict = classify(log.encode(), Evidence(exit_code=1))
    assert (verdict.failure_class, verdict.where) == ("divergence", "/w/train.py:32")
    assert (verdict.traceback[0], verdict.traceback[-1]) == ("Traceback (most recent call last):", exception)


def test_a_busy_device_is_a_tpu_only_where_one_is_named() -> None:
    assert (
        classify(b"step 1\nRuntimeError: open(/dev/vfio/1): Device or resource busy\n").failure_class == "tpu_bad_node"
    )
    assert classify(b"step 1\nOSError: [Errno 16] Device or resource busy: 'a.nfs1'\n").failure_class != "tpu_bad_node"


def test_the_code_below_a_complaint_hides_it_not() -> None:
    told = b"generation 7\nERROR (Table): undefined identifier popp.\n\nError on line 3, character 6:\n\n"
    verdict = classify(told + b"      p1 = popp.size;\n           ^^^^\n")
    assert (verdict.failure_class, verdict.line) == ("code_error", "ERROR (Table): undefined identifier popp.")


def test_a_command_is_not_the_name_of_a_signal() -> None:
    assert classify(b"load a.top\nsave b.top\nquit\n").failure_class == "success_healthy"
    assert classify(b"load a.top\nQuit (core dumped)\n").failure_class == "user_interrupt"


def test_a_success_that_is_told_again_and_again_is_of_a_part() -> None:
    fold = "fold {0}: training finished, 1{0}0 iterations\nscore 0.{0}\n"
    parts = "".join(map(fold.format, range(1, 5))) + "cannot open the test file\n"
    assert classify(parts.encode()).failure_class == "data_error"


def test_a_crash_after_a_build_is_no_noise_behind_the_work() -> None:
    build = "   Compiling parts v0.1.0\n    Finished `release` profile [optimized] target(s) in 0.4s\n"
    panic = "thread 'main' panicked at src/main.rs:3:9:\nindex out of bounds: the len is 4 but the index is 7\n"
    assert classify(f"{build}part 1\n{panic}".encode()).failure_class == "code_error"


def test_what_a_script_misses_behind_a_death_is_not_its_cause() -> None:
    death = "sim: a.c:4: main: Assertion `e < 9' failed.\njob.sh: line 1: 341 Aborted      ./sim\n"
    missed = "collecting\nls: cannot access '*.xyz': No such file or directory\nepilogue (rc 134)\n"
    assert classify(f"step 1\nstep 2\n{death}{missed}".encode()).failure_class == "code_error"


def test_a_signal_is_known_where_the_shell_leaves_no_space_behind_it() -> None:
    line = "job.sh: line 1: 4615 File size limit exceededpython fit.py"
    assert classify(f"block 1\n{line}\nfit ended with 153\n".encode()).failure_class == "quota_exceeded"


def test_the_last_complaint_counts_where_a_louder_one_before_it_was_outlived() -> None:
    loud = " #####\n ###    ERROR: geometry error!    ###\n #####\nreading B\n    saved to directory /w/out\n"
    last = "\n.######.\n.# Input error #.\n.######.\n\n    Timing: Wall=0.2 User=0.1\n"
    assert classify(f"{loud}{last}".encode()).failure_class != "success_healthy"


@pytest.mark.parametrize(
    ("code", "said", "failure_class"),
    [
        ("value = float(row[2])", "ValueError: could not convert string to float: 'n/a'", "data_error"),
        ("count = int(sys.argv[2])", "ValueError: invalid literal for int() with base 10: 'ten'", "config_error"),
        ("cfg = int(load_config()['n'])", "ValueError: invalid literal for int() with base 10: 'ten'", "config_error"),
        ("sched.load_state_dict(ckpt['sched'])", "KeyError: 'sched'", "checkpoint_corrupt"),
        ("return table['sched']", "KeyError: 'sched'", "code_error"),
        ("import spam", "ValueError: spam.array size changed, may indicate binary incompatibility", "code_error"),
        (
            "cv.split(x, y)",
            "ValueError: n_folds=9 cannot be greater than the number of rows in each class",
            "config_error",
        ),
        (
            "print(name)",
            "UnicodeEncodeError: 'charmap' codec can't encode character: maps to <undefined>",
            "code_error",
        ),
        ("net.cuda()", "torch.cuda.DeferredCudaCallError: call failed lazily at initialization", "cuda_env"),
    ],
)
def test_an_exception_is_understood_by_what_was_done(code: str, said: str, failure_class: str) -> None:
    log = f'Traceback (most recent call last):\n  File "/w/t.py", line 3, in <module>\n    {code}\n{said}\n'
    assert classify(log.encode()).failure_class == failure_class


READ_AS_CHECKPOINT = """\
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    state = restore_checkpoint(folder)
ValueError: Unpack failed: incomplete input
"""


def test_a_file_cut_off_is_a_checkpoint_where_one_was_read() -> None:
    assert classify(READ_AS_CHECKPOINT.encode()).failure_class == "checkpoint_corrupt"
    data = READ_AS_CHECKPOINT.replace("restore_checkpoint(folder)", "read_records(folder)")
    assert classify(data.encode()).failure_class == "data_error"


def _rows(*columns: str) -> str:
    return "".join(f"{at},{','.join(columns).format(value=1 / at)}\n" for at in range(1, 21))


def test_a_table_without_names_whose_figures_are_lost_has_diverged() -> None:
    good, lost = _rows("{value:.3f}", "{value:.2f}"), _rows("nan", "0.10")
    verdict = classify((good + lost).encode())
    assert (verdict.failure_class, verdict.line) == ("divergence", "1,nan,0.10")
    for healthy in (good + lost + good, good + _rows("nan", "{value:.3f}"), lost):  # back, of a check, never any
        assert classify(healthy.encode()).failure_class == "success_healthy"
