"""Slurm's answers, as captured: what each state and reason means, and what is not an answer at all."""

from __future__ import annotations

import pytest

from onbox.backends.base import EngineRefused, Job, JobState, Order, Submitted
from onbox.backends.slurm.states import STATES, base_state, find_row, job_from, shell_code, wait_code
from onbox.backends.slurm.text import (
    CommandAnswer,
    is_unreachable,
    neutral_environment,
    parse_sacct,
    parse_scontrol,
    parse_squeue,
    parse_submission,
    read_history,
    read_one,
    read_queue,
    sbatch_argv,
    submission_environment,
    weigh,
)
from onbox.contract.readings import Absent, Unseen
from onbox.triage.classes import REMEDIES
from tests.onbox.backends.cases import case

DOWN = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"
FORGOTTEN = "slurm_load_jobs error: Invalid job id specified\n"
NO_ACCOUNTING = "Slurm accounting storage is disabled\n"


def test_every_state_names_a_known_class() -> None:
    assert {row.failure_class for row in STATES if row.failure_class} <= REMEDIES.keys()


def test_every_row_can_be_reached() -> None:
    assert all(find_row(row.native_state, row.reason or "") is row for row in STATES)


@pytest.mark.parametrize(
    ("state", "failure_class", "words", "reason"),
    [
        (JobState.INTERRUPTED, "time_limit", "TIMEOUT", "TimeLimit"),
        (JobState.FAILED, "host_oom", "OUT_OF_MEMORY", "OutOfMemory"),
        (JobState.INTERRUPTED, "preempted", "PREEMPTED", "None"),
        (JobState.INTERRUPTED, "preempted", "NODE_FAIL", "NodeDown"),
        (JobState.BLOCKED, None, "PENDING", "DependencyNeverSatisfied"),
        (JobState.BLOCKED, None, "CANCELLED", "DependencyNeverSatisfied"),
        (JobState.PENDING, None, "PENDING", "Resources"),
        (JobState.PENDING, None, "PENDING", "ReqNodeNotAvail, UnavailableNodes:n1"),
        (JobState.STOPPED, "user_interrupt", "CANCELLED by 0", "None"),
        (JobState.STOPPED, "user_interrupt", "CANCELLED+", "None"),
        (JobState.FAILED, "host_oom", "OUT_OF_ME+", "None"),
        (JobState.UNKNOWN, None, "RE+", "None"),
        (JobState.ENDING, None, "RUNNING,COMPLETING", "None"),
        (JobState.UNKNOWN, None, "TELEPORTED", "None"),
    ],
)
def test_words_have_one_meaning(state: JobState, failure_class: str | None, words: str, reason: str) -> None:
    job = job_from("7", words, reason, None, 0)
    assert (state, failure_class) == (job.state, job.failure_class)


@pytest.mark.parametrize(
    ("word", "text"),
    [("CANCELLED", "CANCELLED by 0"), ("CANCELLED", "CANCELLED+"), ("COMPLETING", "RUNNING,COMPLETING"), ("", "")],
)
def test_the_deciding_word_of_a_state(word: str, text: str) -> None:
    assert word == base_state(text)


@pytest.mark.parametrize(
    ("code", "text"),
    [(0, "0:0"), (1, "1:0"), (137, "137:0"), (137, "0:9"), (143, "0:15"), (137, "0:125"), (None, ""), (None, "x:y")],
)
def test_exit_codes_are_the_shells(code: int | None, text: str) -> None:
    assert code == shell_code(text)


@pytest.mark.parametrize(("code", "status"), [(0, 0), (1, 256), (137, 35072), (137, 9), (137, 253), (143, 15)])
def test_raw_wait_statuses_become_the_shells(code: int, status: int) -> None:
    assert code == wait_code(status)


# -- captured answers


def test_scontrol_tells_every_captured_end() -> None:
    jobs = parse_scontrol(case("slurm_scontrol_failed_jobs.txt"))
    assert _of(jobs["7"]) == (JobState.INTERRUPTED, "time_limit", 137, 1)
    assert _of(jobs["9"]) == (JobState.INTERRUPTED, "preempted", 143, 0)
    oom = parse_scontrol(case("slurm_scontrol_oom_cgroup.txt"))["1"]
    assert _of(oom) == (JobState.FAILED, "host_oom", 137, 0)
    pending = parse_scontrol(case("slurm_scontrol_show_job_pending_dep.txt"))["2"]
    assert _of(pending) == (JobState.PENDING, None, None, 0)
    again = parse_scontrol(case("slurm_scontrol_requeued_after_preempt.txt"))["7"]
    assert _of(again) == (JobState.RUNNING, None, None, 1)


def _of(job: Job) -> tuple[JobState, str | None, int | None, int]:
    return job.state, job.failure_class, job.exit_code, job.restarts


def test_our_own_question_to_squeue_is_understood() -> None:
    jobs = parse_squeue(case("slurm_22.05_squeue.txt"))
    assert len(jobs) == 8
    assert (jobs["21"].state, jobs["21"].reason) == (JobState.STOPPED, "PartitionDown")


def test_sacct_with_and_without_reason_and_restarts() -> None:
    assert parse_sacct("12|TIMEOUT|0:0|TimeLimit|2\n12.batch|CANCELLED|0:15||\n")["12"].restarts == 2
    assert parse_sacct("12|CANCELLED by 0|0:15\n")["12"].state is JobState.STOPPED


WITH_STEPS = """\
1|COMPLETED|0:0|None
1.batch|COMPLETED|0:0|
1.extern|COMPLETED|0:0|
2|FAILED|3:0|None
2.batch|FAILED|3:0|
3|CANCELLED by 0|0:0|None
3.batch|CANCELLED|0:15|
4|COMPLETED|0:0|None
4.0|OUT_OF_MEMORY|0:125|
4.batch|COMPLETED|0:0|
5|REQUEUED|0:0|None
5.batch|CANCELLED||
5|NODE_FAIL|1:0|None
5.batch|CANCELLED||
6|OUT_OF_MEMORY|0:125|None
6.batch|OUT_OF_MEMORY|0:125|
"""


def test_accounting_with_steps_and_former_lives() -> None:
    """Steps are not the job; of a job that was requeued (`-D`) the last row is its newest life."""
    jobs = parse_sacct(WITH_STEPS)
    assert {job_id: job.state for job_id, job in jobs.items()} == {
        "1": JobState.SUCCEEDED,
        "2": JobState.FAILED,
        "3": JobState.STOPPED,
        "4": JobState.SUCCEEDED,
        "5": JobState.INTERRUPTED,
        "6": JobState.FAILED,
    }
    assert jobs["5"].failure_class == "preempted"
    assert (jobs["2"].exit_code, jobs["6"].failure_class) == (3, "host_oom")


@pytest.mark.parametrize(
    ("out", "job_id"),
    [
        ("12\n", "12"),
        ("12;cluster-1\n", "12"),
        ("Welcome\n12\nsee https://hpc.example\n", "12"),
        ("12\n13\n", None),
        ("job 12 of 13\n", None),
        ("", None),
    ],
)
def test_the_id_stands_on_a_line_of_its_own(out: str, job_id: str | None) -> None:
    answer = parse_submission(CommandAnswer(0, out, "sbatch: lua: 500 hours left\n"))
    assert answer == Submitted(job_id) if job_id else isinstance(answer, Unseen)


def test_what_a_wrapper_prints_beside_rows_is_passed_over() -> None:
    row = case("slurm_22.05_squeue.txt").splitlines()[0]
    found = read_queue(CommandAnswer(0, f"Welcome to the cluster\n{row}\n", ""))
    assert not isinstance(found, Absent | Unseen)
    assert len(found) == 1
    assert isinstance(read_queue(CommandAnswer(0, f"{row}\n{row[:30]}\n", "")), Unseen)  # one of them is cut off


def test_a_submission_from_inside_a_job_hands_nothing_of_it_on() -> None:
    inside = {
        "SLURM_JOB_ID": "7", "SLURM_MEM_PER_CPU": "30", "SLURM_CONF": "/etc/slurm/slurm.conf", "PMIX_RANK": "0",
        "SLURMD_NODENAME": "n0", "CUDA_VISIBLE_DEVICES": "3", "SBATCH_PARTITION": "gpu", "PATH": "/bin",
    }  # fmt: skip
    assert submission_environment(inside, {"A": "1"}) == {
        "SLURM_CONF": "/etc/slurm/slurm.conf", "SBATCH_PARTITION": "gpu", "PATH": "/bin", "A": "1",
    }  # fmt: skip
    outside = {key: value for key, value in inside.items() if key != "SLURM_JOB_ID"}
    assert submission_environment(outside, {}) == outside


@pytest.mark.parametrize("text", ["", "\n", "garbage", "7", "7 RUNNI", "\x00\xff", "JobId=7 JobState=", "7||\n"])
def test_what_is_cut_off_makes_no_job(text: str) -> None:
    assert parse_squeue(text) == {}
    assert parse_scontrol(text) == {}


# -- what is an answer


def test_the_three_meanings_of_a_failed_question() -> None:
    assert read_queue(CommandAnswer(1, "", FORGOTTEN)) == {}
    assert isinstance(read_queue(CommandAnswer(1, "", DOWN)), Unseen)
    assert isinstance(read_queue(CommandAnswer(1, "", "squeue: error: Invalid user: nobody")), Unseen)


def test_rows_that_make_no_sense_are_no_answer() -> None:
    assert isinstance(read_queue(CommandAnswer(0, "JOBID STATE\n", "")), Unseen)


def test_only_scontrol_says_that_a_job_is_not_known() -> None:
    assert isinstance(read_one("7", CommandAnswer(1, "", FORGOTTEN)), Absent)
    assert isinstance(read_one("7", CommandAnswer(1, "", DOWN)), Unseen)
    assert isinstance(read_one("7", CommandAnswer(0, "", "")), Unseen)


def test_no_accounting_is_not_silence() -> None:
    assert isinstance(read_history(CommandAnswer(1, "", NO_ACCOUNTING)), Absent)
    assert isinstance(read_history(CommandAnswer(1, "", "sacct: error: slurmdbd: Connection refused")), Unseen)


RUNNING = job_from("7", "RUNNING", "None", None, 0)
ENDED = job_from("7", "COMPLETED", "None", 0, 0)
NOT_KNOWN, DOWN_NOW, NO_HISTORY = Absent("not known"), Unseen("down"), Absent("no accounting")


def test_the_controller_goes_before_the_accounting() -> None:
    assert weigh("7", RUNNING, {"7": ENDED}) == RUNNING


def test_the_accounting_tells_what_the_controller_forgot() -> None:
    assert weigh("7", NOT_KNOWN, {"7": ENDED}) == ENDED
    assert weigh("7", NOT_KNOWN, {}) == NOT_KNOWN
    assert weigh("7", NOT_KNOWN, NO_HISTORY) == NOT_KNOWN


def test_a_controller_that_is_down_leaves_only_ends_on_record() -> None:
    assert weigh("7", DOWN_NOW, {"7": ENDED}) == ENDED
    assert weigh("7", DOWN_NOW, {"7": RUNNING}) == DOWN_NOW
    assert weigh("7", DOWN_NOW, NO_HISTORY) == DOWN_NOW


def test_forgotten_needs_the_accountings_word_where_there_is_one() -> None:
    assert isinstance(weigh("7", NOT_KNOWN, Unseen("slurmdbd is down")), Unseen)


# -- submission


def test_an_order_is_words_never_a_shell_line() -> None:
    order = Order(
        "digits-train-1", ("py", "$(rm -rf /)"), "/a b", "/o/%j.out", ("5", "6"), (("requeue", None), ("time", "1-0"))
    )
    assert sbatch_argv(order, "/job.sh") == [
        "sbatch",
        "--parsable",
        "--kill-on-invalid-dep=yes",
        "--open-mode=append",
        "--job-name=digits-train-1",
        "--chdir=/a b",
        "--export=ALL",
        "--output=/o/%j.out",
        "--dependency=afterok:5:6",
        "--requeue",
        "--time=1-0",
        "/job.sh",
        "py",
        "$(rm -rf /)",
    ]


@pytest.mark.parametrize("out", ["17\n", "17;cluster-a\n", "a site's greeting\n17\n"])
def test_the_id_is_on_the_last_line(out: str) -> None:
    assert parse_submission(CommandAnswer(0, out, "")) == Submitted("17")


def test_a_refusal_is_told_from_silence() -> None:
    no = "sbatch: error: Batch job submission failed: Requested node configuration is not available"
    late = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
    assert isinstance(parse_submission(CommandAnswer(1, "", no)), EngineRefused)
    assert isinstance(parse_submission(CommandAnswer(1, "", late)), Unseen)
    assert isinstance(parse_submission(CommandAnswer(0, "", "")), Unseen)


def test_words_of_an_unreachable_controller() -> None:
    assert is_unreachable(DOWN)
    assert not is_unreachable(FORGOTTEN)


def test_a_submission_goes_where_it_is_looked_for() -> None:
    env = submission_environment({"SBATCH_WAIT": "1", "SBATCH_CLUSTERS": "b", "SBATCH_ACCOUNT": "lab"}, {"A": "1"})
    assert env == {"SBATCH_ACCOUNT": "lab", "A": "1"}


def test_a_users_taste_is_taken_away_not_emptied() -> None:
    env = neutral_environment({"SQUEUE_USERS": "", "SQUEUE_FORMAT": "%i", "SLURM_CONF": "/c", "LC_ALL": "de"})
    assert env == {"SLURM_CONF": "/c", "LC_ALL": "C"}


@pytest.mark.parametrize(("state", "believed"), [("COMPLETED", True), ("PREEMPTED", False), ("NODE_FAIL", False)])
def test_a_former_life_is_no_end_while_the_controller_is_silent(state: str, *, believed: bool) -> None:
    history = parse_sacct(f"7|{state}|0:0\n")
    assert isinstance(weigh("7", Unseen("down"), history), Job if believed else Unseen)
    assert isinstance(weigh("7", Absent("forgotten"), history), Job)
