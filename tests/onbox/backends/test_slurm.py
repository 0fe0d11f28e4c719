"""Slurm as a back end, its commands answered by a fake that answers like them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.backends.base import Done, EngineRefused, Job, JobState, Order, Submitted
from onbox.backends.slurm.backend import Slurm
from onbox.contract.readings import Absent, Unseen
from onbox.system.command import CommandResult, NotRun
from tests.onbox.backends.cases import case

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EMPTY = CommandResult(0, "", "")
FORGOTTEN = CommandResult(1, "", "slurm_load_jobs error: Invalid job id specified\n")
NO_ACCOUNTING = CommandResult(1, "", "Slurm accounting storage is disabled\n")
DOWN = CommandResult(1, "", "Unable to contact slurm controller (connect failure)\n")


class Fake:
    """Answers by the command's name; remembers what was asked."""

    def __init__(self, **answers: CommandResult | NotRun) -> None:
        self.answers = answers
        self.asked: list[Sequence[str]] = []
        self.environs: list[Mapping[str, str]] = []

    def __call__(self, argv: Sequence[str], _: float, env: Mapping[str, str]) -> CommandResult | NotRun:
        self.asked.append(argv)
        self.environs.append(env)
        return self.answers[argv[0]]


def slurm(fake: Fake) -> Slurm:
    return Slurm("/jobs/slurm_job.sh", run=fake, environ={"SQUEUE_USERS": "me", "HOME": "/h"})


def test_an_empty_queue_proves_nothing() -> None:
    fake = Fake(squeue=EMPTY, scontrol=DOWN, sacct=NO_ACCOUNTING)
    assert isinstance(slurm(fake).look(["7"])["7"], Unseen)


def test_a_job_is_forgotten_when_all_that_know_say_so() -> None:
    fake = Fake(squeue=EMPTY, scontrol=FORGOTTEN, sacct=NO_ACCOUNTING)
    assert isinstance(slurm(fake).look(["7"])["7"], Absent)


def test_the_accounting_is_asked_for_what_is_forgotten() -> None:
    fake = Fake(squeue=EMPTY, scontrol=FORGOTTEN, sacct=CommandResult(0, "7|OUT_OF_MEMORY|0:125|OutOfMemory|0\n", ""))
    job = slurm(fake).look(["7"])["7"]
    assert isinstance(job, Job)
    assert job.failure_class == "host_oom"


def test_a_site_without_sacct_still_forgets() -> None:
    fake = Fake(
        squeue=EMPTY,
        scontrol=FORGOTTEN,
        sacct=NotRun("sacct cannot be started: No such file or directory", started=False),
    )
    assert isinstance(slurm(fake).look(["7"])["7"], Absent)


def test_an_old_sacct_is_asked_again_with_fewer_fields() -> None:
    fake = Fake(
        squeue=EMPTY,
        scontrol=FORGOTTEN,
        sacct=CommandResult(1, "", 'sacct: error: Invalid field requested: "Restarts"'),
    )
    slurm(fake).look(["7"])
    assert [argv[-1] for argv in fake.asked if argv[0] == "sacct"][-1] == "JobID,State,ExitCode"


def test_too_slow_is_could_not_look() -> None:
    slow = NotRun("squeue did not answer within 15 s")
    fake = Fake(squeue=slow, scontrol=slow, sacct=NO_ACCOUNTING)
    assert slurm(fake).look(["7"])["7"] == Unseen(slow.why)


def test_many_jobs_are_one_question() -> None:
    fake = Fake(squeue=CommandResult(0, case("slurm_22.05_squeue.txt"), ""))
    words = slurm(fake).look(["19", "20", "26"])
    assert len(fake.asked) == 1
    assert {word.state for word in words.values() if isinstance(word, Job)} == {JobState.STOPPED}


def test_questions_are_asked_without_the_users_taste() -> None:
    fake = Fake(squeue=EMPTY, scontrol=FORGOTTEN, sacct=NO_ACCOUNTING)
    slurm(fake).look(["7"])
    assert all("SQUEUE_USERS" not in env for env in fake.environs)


def test_a_job_inherits_the_callers_environment() -> None:
    fake = Fake(sbatch=CommandResult(0, "17\n", ""))
    order = Order("n", ("true",), "/", env=(("MORE", "1"),))
    assert slurm(fake).launch(order) == Submitted("17")
    assert fake.environs == [{"SQUEUE_USERS": "me", "HOME": "/h", "MORE": "1"}]


def test_no_slurm_here_is_said_so() -> None:
    gone = NotRun("sbatch cannot be started: No such file or directory", started=False)
    assert slurm(Fake(sbatch=gone)).launch(Order("n", ("true",), "/")) == EngineRefused(gone.why, "not_started")


def test_a_lost_submission_is_found_by_its_name() -> None:
    fake = Fake(squeue=CommandResult(0, case("slurm_22.05_squeue.txt"), ""))
    assert slurm(fake).find("digits-train-1") == "26"
    assert isinstance(slurm(Fake(squeue=EMPTY, sacct=NO_ACCOUNTING)).find("digits-train-1"), Absent)
    assert isinstance(slurm(Fake(squeue=DOWN)).find("digits-train-1"), Unseen)


def test_a_stop_is_gentle_unless_urgent() -> None:
    fake = Fake(scancel=EMPTY)
    assert slurm(fake).stop("7", urgent=False) == Done()
    slurm(fake).stop("7", urgent=True)
    assert [list(argv) for argv in fake.asked] == [["scancel", "--batch", "--signal=TERM", "7"], ["scancel", "7"]]
