"""Iris: captured answers of its controller and its command, of two generations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onbox.backends.base import Done, EngineRefused, Job, JobState, Order, Submitted
from onbox.backends.iris.backend import Iris
from onbox.backends.iris.text import (
    STATES,
    Task,
    job_from,
    read_found,
    read_job,
    read_submission,
    read_tasks,
    run_argv,
    with_tasks,
)
from onbox.contract.readings import Absent, Unseen
from onbox.system.command import CommandResult
from onbox.system.http import NoReply, Question, Reply
from onbox.triage.classes import REMEDIES
from tests.onbox.backends.cases import case

if TYPE_CHECKING:
    from collections.abc import Sequence

FAILED = case("iris_rpc_GetJobStatus_failed.json")


def test_every_row_names_a_known_class() -> None:
    assert {row.failure_class for row in STATES if row.failure_class} <= REMEDIES.keys()


def test_a_failed_job_of_the_first_generation() -> None:
    job = read_job("/root/bad1", 200, FAILED)
    assert isinstance(job, Job)
    assert (job.state, job.reason, job.restarts) == (
        JobState.FAILED,
        "Exit code: 1. stderr: KeyError: 'learning_rate'",
        0,
    )


def test_a_preempted_job_runs_again() -> None:
    job = read_job("/root/pre", 200, case("iris_2026-11_rpc_GetJobStatus_preempted_running.json"))
    assert isinstance(job, Job)
    assert (job.state, job.restarts) == (JobState.RUNNING, 1)


def test_ids_are_compared_exactly() -> None:
    assert isinstance(read_job("/root/bad", 200, FAILED), Unseen)
    found = json.dumps({"jobs": [{"jobId": "/u/run-10"}, {"jobId": "/u/run-1"}]})
    assert read_found("run-1", 200, found) == "/u/run-1"
    assert isinstance(read_found("run-2", 200, found), Absent)
    assert isinstance(read_found("run-2", 200, json.dumps({"jobs": [], "hasMore": True})), Unseen)


def test_not_found_is_an_answer_and_other_errors_are_none() -> None:
    assert isinstance(read_job("/u/j", 404, '{"code": "not_found", "message": "Job /u/j not found"}'), Absent)
    assert isinstance(read_job("/u/j", 500, '{"code": "unknown", "message": "boom"}'), Unseen)
    assert isinstance(read_job("/u/j", 401, ""), Unseen)
    assert isinstance(read_job("/u/j", 200, "<html>"), Unseen)


def test_pending_for_capacity_tells_why() -> None:
    job = job_from(
        "/u/j", {"state": "JOB_STATE_PENDING", "pendingReason": "Scheduler: Insufficient CPU\n\nAutoscaler: no"}
    )
    assert (job.state, job.note) == (JobState.PENDING, "waits for capacity")
    assert job.reason == "Scheduler: Insufficient CPU Autoscaler: no"


def test_the_pending_reason_of_an_ended_job_is_not_believed() -> None:
    data = {"state": "JOB_STATE_SUCCEEDED", "pendingReason": "Scheduler: Insufficient CPU"}
    assert job_from("/u/j", data).reason == ""


def test_a_state_of_a_newer_controller_is_unknown() -> None:
    assert job_from("/u/j", {"state": "JOB_STATE_DREAMING"}).state is JobState.UNKNOWN
    assert job_from("/u/j", {}).state is JobState.UNKNOWN


def test_the_exit_code_is_the_tasks() -> None:
    tasks = read_tasks(200, case("iris_rpc_ListTasks_k9.json"))
    assert tasks == [Task(137)]
    job = with_tasks(Job("/root/k9", JobState.FAILED, "FAILED"), tasks, None)
    assert (job.exit_code, job.failure_class) == (137, None)
    assert "not proven" in job.note


def test_kills_near_the_memory_limit_are_oom() -> None:
    tasks = [Task(137, 980_000_000)] * 13 + [Task(1, 10_000_000)]
    job = with_tasks(Job("/u/j", JobState.FAILED, "FAILED"), tasks, 10**9)
    assert job.failure_class == "host_oom"
    assert job.note == "13 of 14 tasks were killed near their memory limit: raise --memory"


def test_kills_far_from_the_memory_limit_are_not() -> None:
    job = with_tasks(Job("/u/j", JobState.FAILED, "FAILED"), [Task(137, 10**8)], 10**9)
    assert job.failure_class is None


def test_a_running_task_has_no_exit_code() -> None:
    assert read_tasks(200, case("iris_2026-11_rpc_ListTasks_pre.json")) == [Task(None)]


# -- submission


def test_the_id_is_on_standard_output_or_in_a_log_line() -> None:
    out, err = case("iris_2026-11_job_run_no_wait.out.txt"), case("iris_2026-11_job_run_no_wait.err.txt")
    assert read_submission(0, out, err) == Submitted("/root/bad1")
    assert read_submission(0, "", err) == Submitted("/root/bad1")


def test_refusals_are_told_from_silence() -> None:
    old = read_submission(1, "", case("iris_client_too_old_error.txt"))
    assert isinstance(old, EngineRefused)
    assert old.failure_class == "config_error"
    assert isinstance(read_submission(1, "", case("iris_2026-11_cli_controller_down.txt")), Unseen)
    assert isinstance(read_submission(0, "", ""), Unseen)


def test_a_session_token_is_never_shown() -> None:
    shown = read_submission(1, "", "dashboard http://127.0.0.1:1/?session_token=eyJhbGciOi.x.y\n")
    assert isinstance(shown, EngineRefused)
    assert "eyJ" not in shown.why


def test_the_command_never_waits_and_names_its_job() -> None:
    settings = {"config": "marin_dev", "args": ("--cpu", "4"), "command": "iris"}
    assert run_argv(Order("digits-1", ("onbox", "chain"), "/p"), settings) == [
        *("iris", "--config", "marin-dev.yaml", "job", "run", "--no-wait", "--job-name", "digits-1"),
        *("--cpu", "4", "-e", "ONBOX_JOB", "iris:digits-1", "--", "sh", "-c"),
        'cd -- "${IRIS_WORKDIR:-.}" 2>/dev/null || :; exec "$@"',
        *("onbox-job", "onbox", "chain"),
    ]


# -- the back end


def controller(answers: dict[str, Reply | NoReply], asked: list[Question]) -> Iris:
    def ask(question: Question, _: float) -> Reply | NoReply:
        asked.append(question)
        return answers[question.url.rpartition("/")[2]]

    def run(argv: Sequence[str], _: float, __: str | None) -> CommandResult:
        return CommandResult(0, "/root/digits-1\n", "")

    return Iris({"controller": "http://c:1"}, ask=ask, run=run, environ={})


def test_a_failed_job_is_looked_at_task_by_task() -> None:
    answers: dict[str, Reply | NoReply] = {
        "GetJobStatus": Reply(200, FAILED.replace("bad1", "k9")),
        "ListTasks": Reply(200, case("iris_rpc_ListTasks_k9.json")),
    }
    job = controller(answers, []).look(["/root/k9"])["/root/k9"]
    assert isinstance(job, Job)
    assert job.exit_code == 137


def test_a_controller_that_is_down_is_could_not_look() -> None:
    down = NoReply("connection refused")
    assert isinstance(controller({"GetJobStatus": down}, []).look(["/u/j"])["/u/j"], Unseen)


def test_a_job_is_stopped_by_the_rpc() -> None:
    asked: list[Question] = []
    assert controller({"TerminateJob": Reply(200, "{}")}, asked).stop("/u/j", urgent=True) == Done()
    assert asked[0].body == {"jobId": "/u/j"}


def test_without_a_controller_there_is_nothing_to_ask() -> None:
    with pytest.raises(ValueError, match="controller"):
        Iris({})
