"""How failures look, whatever their words: who goes on, what "done" is worth, what lies below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

if TYPE_CHECKING:
    from onbox.triage.verdict import Diagnosis

FRESH = Evidence(log_age_seconds=30.0)
CRASH = "Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    go()\nKeyError: 'w'\n"
NO_SPACE = "ERROR could not write part: No space left on device\n"


def read(text: str) -> Diagnosis:
    return classify(text.encode(), FRESH)


def steps(first: int, last: int, writer: str = "") -> str:
    return "".join(f"{writer}step {number}/100 loss 1.{number:02d}\n" for number in range(first, last + 1))


def test_the_last_steps_of_colleagues_do_not_save_a_dead_rank() -> None:
    log = steps(1, 4, "[rank0]: ") + steps(1, 4, "[rank1]: ")
    log += "".join(f"[rank1]: {line}\n" for line in CRASH.splitlines()) + steps(5, 12, "[rank0]: ")
    assert read(log).failure_class == "code_error"


def test_the_same_writer_going_on_saves_it() -> None:
    assert read(steps(1, 4) + CRASH + steps(5, 12)).failure_class == "success_healthy"


def test_a_bar_drawn_again_and_again_is_no_life() -> None:
    bar = "\r 40%|####      | 40/100 [00:{:02d}<00:15,  2.6it/s]"
    log = "".join(bar.format(second) for second in range(10, 12)) + "\n" + CRASH
    log += "".join(bar.format(second) for second in range(12, 20)) + "\n"
    assert read(log).failure_class == "code_error"


def test_a_counter_that_begins_again_is_a_new_run() -> None:
    assert read(steps(1, 9) + CRASH + steps(1, 2)).failure_class == "success_healthy"


def test_what_follows_a_prompt_is_a_new_run() -> None:
    assert read(CRASH + "$ pip install w\n$ python t.py\n" + steps(1, 1)).failure_class == "success_healthy"


def test_who_only_looks_at_what_is_left_runs_nothing() -> None:
    crashed = read(CRASH).failure_class
    for look in (
        "ls -s /cache\ntotal 0\n$ exit\n",
        "kubectl get job t\nt  0/1  4h\n",
        "nvidia-smi\nno process\n$ echo ok\nok\n",
    ):
        assert read(f"{CRASH}$ {look}").failure_class == crashed


@pytest.mark.parametrize("saved", ["", "saved ckpt-8\n"])
def test_done_counts_if_what_was_made_could_be_written(saved: str) -> None:
    log = steps(1, 7) + NO_SPACE + steps(8, 9) + saved + "Training completed.\n"
    assert read(log).failure_class == ("success_healthy" if saved else "disk_full")


def test_a_test_suite_may_provoke_what_it_likes() -> None:
    log = "test_full ... ERROR:root:No space left on device\nok\n\nRan 2 tests in 0.1s\n\nOK\n"
    assert read(log).failure_class == "success_healthy"


def test_a_warning_below_explains_the_error_above() -> None:
    below = "WARNING pool: cudaMalloc of 18253611008 bytes failed: out of memory\n"
    error = CRASH.replace("KeyError: 'w'", "AttributeError: 'NoneType' object has no attribute 'fill_'")
    verdict = read(below + error)
    assert verdict.failure_class == "cuda_oom"
    assert verdict.traceback[-1].startswith("AttributeError")
    assert read(below + CRASH).failure_class == "code_error"  # what has nothing to do with it is no consequence


def test_metrics_that_stay_at_nothing_are_a_defect() -> None:
    log = "".join(f"epoch {number} loss 0.0000 acc 0.0000\n" for number in range(6))
    verdict = read(log)
    assert (verdict.failure_class, verdict.rule, verdict.state) == ("code_error", "all-metrics-zero", "running")
    assert read(log.replace("loss 0.0000", "loss 0.3000")).failure_class == "success_healthy"


def test_a_gradient_that_explodes_is_a_divergence() -> None:
    calm = "".join(f"step {number} loss 2.1 grad_norm 1.{number}\n" for number in range(9))
    burst = "".join(f"step {number} loss 9.{number} grad_norm {10**number}\n" for number in (3, 4, 5))
    assert read(calm + burst).rule == "gradient-exploded"
    assert read(calm + burst.splitlines()[0] + "\nstep 10 loss 2.2 grad_norm 1.2\n").failure_class == "success_healthy"


def test_an_early_spike_and_an_early_stop_ask_for_the_identical_run() -> None:
    log = "epoch 0 loss 2 grad_norm 1.1\nepoch 1 loss 2 grad_norm 91\n"
    log += "".join(f"epoch {number} loss 2 grad_norm 1.{number}\n" for number in range(2, 14))
    verdict = read(log + "early stopping at epoch 13\n")
    assert (verdict.failure_class, verdict.rule) == ("divergence", "early-spike")
    assert "identical configuration" in verdict.remedy


def test_a_line_said_again_with_a_rising_number_is_a_loop_whatever_its_words() -> None:
    log = NO_SPACE.replace("could not write part", "log push") + "".join(f"zorp {n} glim\n" for n in range(1, 9))
    assert read(log).failure_class == "success_healthy"


@pytest.mark.parametrize(
    ("last", "failure_class"),
    [
        ("sed: -e expression #1, char 6: unterminated `s' command", "code_error"),
        ("LeaseRevoked: the machine goes back", "preempted"),
        ("[trainer] leaving with code 143", "preempted"),
        ("NOTE: 'out of memory' usually means a batch too big.", "success_healthy"),
        ("InsecureRequestWarning: unverified request to host 'h' failed before", "success_healthy"),
        ("request 311 was preempted for a longer prompt", "success_healthy"),
    ],
)
def test_the_last_line(last: str, failure_class: str) -> None:
    assert read(steps(1, 3) + last + "\n").failure_class == failure_class


def test_one_line_that_is_left_out_is_told_in_the_singular() -> None:
    frames = "".join(f'  File "t.py", line {at}, in f{at}\n    go()\n' for at in range(7)) + "    ^^\n"
    shown = read(CRASH.replace('  File "t.py", line 3, in <module>\n    go()\n', frames)).traceback
    assert shown[1] == "  ... 1 line left out"


def test_the_traceback_is_bounded_and_redacted() -> None:
    frames = "".join(
        f'  File "t.py", line {n}, in f{n}\n    f{n + 1}("hf_abcdefghijklmnopqrstuvwxyz01")\n' for n in range(40)
    )
    shown = read(CRASH.replace('  File "t.py", line 3, in <module>\n    go()\n', frames)).traceback
    assert shown[0] == "Traceback (most recent call last):"
    assert shown[1] == "  ... 66 lines left out"
    assert shown[-1] == "KeyError: 'w'"
    assert len(shown) <= 20
    assert "hf_abcdefgh" not in "".join(shown)


def test_an_early_spike_is_remembered_however_long_the_run_was() -> None:
    norms = [1.0 + at % 3 / 10 for at in range(2000)]
    norms[40:44] = [90.0, 120.0, 110.0, 80.0]
    lines = [f"step {at}/9000 loss 2.{at % 10} grad_norm {norm:.2f}" for at, norm in enumerate(norms)]
    log = "\n".join([*lines, "early stopping: no improvement in 20 evaluations"]) + "\n"
    assert classify(log.encode(), Evidence(log_age_seconds=30.0)).failure_class == "divergence"


def _short_names(first: int, last: int, figures: str) -> str:
    return "".join(f"[INFO] ep=3 step={number}/90 {figures}\n" for number in range(first, last + 1))


def test_figures_that_are_lost_to_the_end_are_a_divergence_whatever_their_names() -> None:
    log = _short_names(1, 9, "L=0.41 rec=0.3 ord=1.1") + _short_names(10, 19, "L=nan rec=nan ord=1.1")
    seen = read(log)
    assert (seen.failure_class, seen.terminal, seen.line_number) == ("divergence", False, 10)


@pytest.mark.parametrize(
    "log",
    [
        _short_names(1, 9, "L=0.4 rec=0.3 ord=1.1") + _short_names(10, 12, "L=nan rec=nan ord=1.1"),
        _short_names(1, 19, "L=nan rec=nan ord=1.1"),
        _short_names(1, 9, "ep_ret=1.5 ep_len=7 q=1") + _short_names(10, 19, "ep_ret=nan ep_len=nan q=1"),
        _short_names(1, 9, "loss=0.4 px=1.5 py=7") + _short_names(10, 19, "loss=0.4 px=nan py=nan"),
        _short_names(1, 9, "L=0.4 rec=0.3 o=1")
        + _short_names(10, 19, "L=nan rec=nan o=1")
        + "[INFO] step=20 rec=0.3\n",
    ],
    ids=["for a few steps", "never numbers", "no episode ended", "the loss is a number", "a number again"],
)
def test_figures_that_are_missing_at_times_are_none(log: str) -> None:
    assert read(log).failure_class == "success_healthy"


MISSING = "find: 'sub-{}/func': No such file or directory\n"


@pytest.mark.parametrize(
    "shell",
    ["job.sh: line 99: syntax error: unexpected end of file\n", "job.sh: 99: Syntax error: end of file unexpected\n"],
    ids=["bash", "dash"],
)
def test_a_script_that_ends_in_its_own_syntax_error_had_gone_on_until_there(shell: str) -> None:
    seen = read("".join(map(MISSING.format, range(30))) + shell)
    assert (seen.failure_class, seen.line) == ("code_error", shell.strip())


LOGGER = "2025-11-06 18:40:07,709 - {} - {}\n"
PART_DONE = LOGGER.format("Supervisor", "INFO - All tasks completed")
MORE_WORK = "".join(LOGGER.format("manager", f"INFO - Launched agent {name}") for name in ("a", "b", "c", "d"))
SLIP = LOGGER.format("root", "ERROR - Error running Reasoner: name 'n' is not defined")


@pytest.mark.parametrize(
    ("log", "failure_class"),
    [
        (PART_DONE + MORE_WORK + SLIP, "code_error"),
        (PART_DONE + SLIP, "success_healthy"),
        (PART_DONE + MORE_WORK + SLIP + MORE_WORK, "success_healthy"),
        (
            PART_DONE
            + MORE_WORK
            + LOGGER.format("pool", "ERROR - Error closing pool: 'P' object has no attribute 'h'"),
            "success_healthy",
        ),
    ],
    ids=["last of all", "right after", "work went on", "at its end"],
)
def test_an_error_in_the_last_line_counts_where_only_a_part_was_done(log: str, failure_class: str) -> None:
    assert read(log).failure_class == failure_class


NO_DISPLAY = "Unable to init server: Could not connect: Connection refused\n\n"


def test_a_program_that_works_on_without_a_display_is_alive() -> None:
    assert read(NO_DISPLAY + "WARNING:pkg:Using a temporary folder\n" * 6).failure_class == "success_healthy"
    assert read(NO_DISPLAY).failure_class == "network_blip"


def test_a_thread_that_ended_normally_is_no_claim_of_the_program() -> None:
    log = steps(1, 9) + CRASH + "[I ProcessGroup.cpp:844] [Rank 1] NCCL watchdog thread terminated normally\n"
    assert read(log + "ERROR:elastic: failed (exitcode: 1) local_rank: 0 (pid: 23) of binary: python\n").terminal
    assert read(steps(1, 100) + "[I ProcessGroup.cpp:844] NCCL watchdog thread terminated normally\n").terminal is False


def test_a_table_below_an_error_is_no_life_sign() -> None:
    error = CRASH.replace("KeyError: 'w'", "pool.OutOfMemoryError: 1 worker(s) were killed: the node ran low on memory")
    rows = "".join(
        f"{pid}\t{share}\tpool::load\n" for pid, share in ((26591, 1.4), (26592, 1.2), (20442, 0.1), (27434, 0))
    )
    assert read(f"warm up\n{error}PID\tMEM(GB)\tCOMMAND\n{rows}").failure_class == "host_oom"


def test_where_a_signal_found_the_program_is_not_why_it_ended() -> None:
    signal = "*** SIGTERM received at time=1755416551 on cpu 89 ***\n"
    where = "".join(f'  File "/env/monitor.py", line {at}, in run\n    self.run()\n' for at in (719, 45))
    asked = steps(1, 8) + signal + "Terminated with signal 15\n" + where + "    time.sleep(INTERVAL_S)\n"
    assert read(asked).failure_class in ("preempted", "user_interrupt")  # whoever sent it


def test_a_process_that_ends_because_another_rank_died_is_not_a_bad_network() -> None:
    said = (
        "F1123 03:48:44.96 9038 client.h:80] Terminating process because the distributed service detected fatal errors."
    )
    assert (
        read(said + " Likely another task died. absl::Status: DEADLINE_EXCEEDED\n").failure_class
        == "nccl_or_distributed"
    )


CASES = {
    "TAP with remarks": (
        "1..3\nok 1 job exits 137 when the OOM killer strikes\n# touch: cannot touch '/root/x': Permission denied\n"
        "ok 2 disk full: No space left on device\n# try 3 failed: Connection refused\nok 3 - killed by signal 9\n"
    ),
    "a case that is known to fail": (
        "t/01-loader.t ..\nok 1 - truncated checkpoint\nnot ok 2 - all_reduce # TODO NCCL error is not handled\nok\n"
    ),
    "Go and GoogleTest": (
        "=== RUN TestKilled\n--- PASS: TestKilled (0.1s)\n[ RUN      ] Gpu.CUDA out of memory\n"
        "[       OK ] Gpu.CUDA out of memory (1 ms)\n"
    ),
    "a tally at the end": "x OK\nReason: CUDA not available\n[ FAIL 0 | WARN 0 | SKIP 1 | PASS 5 ]\n",
}


@pytest.mark.parametrize("log", CASES.values(), ids=CASES)
def test_what_a_test_case_is_called_is_no_trouble(log: str) -> None:
    assert read(log).failure_class == "success_healthy"


def test_a_test_case_that_failed_is() -> None:
    assert read("1..2\nok 1 - reads\nnot ok 2 - writes\n").failure_class == "code_error"


def test_what_a_dead_program_said_before_its_buffered_output_is_its_last_word() -> None:
    verdict = classify(b"cannot parse vocab at t.pl line 2.\niter 1/9\niter 2/9\niter 3/9\n", Evidence(exit_code=1))
    assert (verdict.failure_class, verdict.line_number) == ("data_error", 1)


def test_the_place_of_a_fault_in_a_worker_is_where_the_worker_was() -> None:
    frames = '  File "/env/lib/python3.11/multiprocessing/pool.py", line {}, in {}\n    return self._value\n'
    log = "multiprocessing.pool.RemoteTraceback:\n" + CRASH.replace("Traceback", '"""\nTraceback').replace(
        "line 3", "line 7"
    )
    log += '"""\n\nThe above exception was the direct cause of the following exception:\n\n'
    log += CRASH.replace("KeyError: 'w'\n", frames.format(367, "map") + "KeyError: 'w'\n")
    assert read(log).where == "t.py:7"


NEVER_A_NUMBER = "".join(f"[{at:4d}/600] mass=nan max|u|=nan\n" for at in range(20, 420, 20))


def test_figures_that_never_were_numbers_are_a_divergence() -> None:
    assert read(NEVER_A_NUMBER + "wrote state to out.npz\n").failure_class == "divergence"
    assert read(NEVER_A_NUMBER.replace("mass=nan", "mass=1.5")).failure_class == "success_healthy"


@pytest.mark.parametrize(
    ("line", "failure_class"),
    [
        ("fatal: [w1]: UNREACHABLE! => Connection refused\nw1 : ok=0 unreachable=1 ignored=0", "network_blip"),
        ("sim.SimException: There is no registered Platform called CUDA", "cuda_env"),
        ("OSError: Cannot find empty port in range: 7860-7860. Choose another by the parameter", "port_in_use"),
        ("Logging in as lab ...\nLogin incorrect.", "auth_error"),
        ("/w/a.nim(6, 18) Error: type mismatch: got 'int' but expected 'string'", "code_error"),
        ("RECORD 10\nlibrt: a.cob:10: error: subscript of 'ITEM' is out: 11\n  maximum subscript for 'ITEM': 10",
         "code_error"),
        ("t.rb:1:in `<main>': undefined method `foo' for nil:NilClass (NoMethodError)", "code_error"),
        (" 'response_status_count/503': 2,\n 'retry/reason_count/503 Service Unavailable': 2,", "success_healthy"),
    ],
)  # fmt: skip
def test_how_tools_of_other_trades_end(line: str, failure_class: str) -> None:
    assert read(line + "\n").failure_class == failure_class
