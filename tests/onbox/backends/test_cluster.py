"""Looks at clusters: what answers and silence mean, and what is asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onbox.backends.base import Job, JobState
from onbox.backends.cluster import ClusterLook, Endpoint, JobLog, NoLook, endpoint_of, look
from onbox.backends.cluster_reasons import BY_KEY
from onbox.backends.iris.cluster import log_query
from onbox.backends.iris.cluster import read_log as read_iris_log
from onbox.backends.iris.cluster import read_told as read_iris
from onbox.backends.log_signs import line_worth_reading, signs_in
from onbox.backends.ray.cluster import read_dead_nodes, read_log, read_told, with_log
from onbox.contract.readings import Absent, Unseen
from onbox.system.http import KINDS, NoReply, Question, Reply
from tests.box import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable

RAY = Endpoint("ray", "http://127.0.0.1:8265")
FAR = Endpoint("ray", "http://head.example:8265")


def case(name: str) -> str:
    return (REPOSITORY / "tests" / "cases" / "backends" / name).read_text()


def answering(answers: dict[str, str], asked: list[str] | None = None) -> Callable[[Question, float], Reply | NoReply]:
    def ask(question: Question, _: float) -> Reply | NoReply:
        path = "/" + question.url.split("/", 3)[3].partition("?")[0]
        if asked is not None:
            asked.append(path)
        return Reply(200, answers[path]) if path in answers else Reply(404, "does not exist")

    return ask


def silent(kind: str) -> Callable[[Question, float], Reply | NoReply]:
    return lambda _question, _seconds: NoReply("words", kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("endpoint", [RAY, FAR])
def test_no_answer_has_a_reason_and_a_remedy(kind: str, endpoint: Endpoint) -> None:
    found = look(endpoint, ("a",), 5.0, ask=silent(kind), environ={})
    assert isinstance(found, NoLook)
    assert BY_KEY[found.reason].remedy
    assert endpoint.address in found.detail


def test_the_two_ends_of_a_tunnel_are_told_apart() -> None:
    def reason(endpoint: Endpoint, kind: str) -> str:
        found = look(endpoint, ("a",), 5.0, ask=silent(kind), environ={})
        assert isinstance(found, NoLook)
        return found.reason

    assert reason(RAY, "refused") == "tunnel"
    assert reason(RAY, "closed") == reason(FAR, "refused") == "engine_down"


@pytest.mark.parametrize(
    ("status", "reason"), [(401, "engine_token"), (403, "engine_token"), (500, "engine_error"), (404, "engine_garbled")]
)
def test_a_status_has_its_reason(status: int, reason: str) -> None:
    found = look(
        RAY, ("a",), 5.0, ask=lambda *_: Reply(status, "Traceback\nKeyError: secret=hunter2hunter2"), environ={}
    )
    assert isinstance(found, NoLook)
    assert found.reason == reason
    assert "hunter2" not in found.detail


def test_one_question_for_each_job_and_none_after_silence() -> None:
    asked: list[str] = []
    answers = {"/api/version": case("ray_api_version.json"), "/api/jobs/a": case("ray_api_job_steps2.json")}
    found = look(RAY, ("a", "b"), 5.0, brief=True, ask=answering(answers, asked), environ={})
    assert isinstance(found, ClusterLook)
    assert asked == ["/api/version", "/api/jobs/a", "/api/jobs/b"]
    assert isinstance(found.jobs["b"].word, Absent)

    def dies(question: Question, seconds: float) -> Reply | NoReply:
        return (
            NoReply("no answer", "late")
            if question.url.endswith("/a")
            else answering(answers, asked)(question, seconds)
        )

    asked.clear()
    found = look(RAY, ("a", "b"), 5.0, ask=dies, environ={})
    assert isinstance(found, ClusterLook)
    assert asked == ["/api/version"]
    assert all(isinstance(told.word, Unseen) for told in found.jobs.values())


def test_the_token_goes_into_the_header() -> None:
    seen: list[tuple[tuple[str, str], ...]] = []

    def ask(question: Question, _: float) -> Reply | NoReply:
        seen.append(question.headers)
        return NoReply("x", "late")

    look(RAY._replace(token="env:T"), ("a",), 5.0, ask=ask, environ={"T": "s3cret"})
    look(RAY, ("a",), 5.0, ask=ask, environ={"RAY_AUTH_TOKEN": "of-ray"})
    assert seen == [(("Authorization", "Bearer s3cret"),), (("Authorization", "Bearer of-ray"),)]


def test_a_token_that_is_not_there_is_no_look() -> None:
    found = look(RAY._replace(token="env:T"), ("a",), 5.0, ask=silent("late"), environ={})
    assert isinstance(found, NoLook)
    assert found.reason == "engine_token"


def test_an_address_by_the_environment() -> None:
    assert endpoint_of("ray", {}, {"RAY_API_SERVER_ADDRESS": "http://h:1/"}) == Endpoint("ray", "http://h:1")
    assert endpoint_of("iris", {}, {}) is None


def test_ray_tells_of_a_pending_job_why_it_waits() -> None:
    told = read_told("need-gpu", 200, case("ray_api_job_need-gpu.json"), "s")
    assert isinstance(told.word, Job)
    assert "waiting for resources" in told.word.reason
    assert told.began_at is None


@pytest.mark.parametrize("cut", range(1, 420, 23))
def test_half_an_answer_is_never_a_word(cut: int) -> None:
    assert isinstance(read_told("steps2", 200, case("ray_api_job_steps2.json")[:cut], "s").word, Unseen)


def test_a_running_job_whose_tasks_wait_in_vain() -> None:
    told = with_log(
        read_told("x", 200, case("ray_api_job_steps2.json"), "s"), 200, case("ray_api_logs_want_unmet.json")
    )
    assert told.troubles
    assert "GPU" in told.troubles[0]
    assert "\x1b" not in told.troubles[0]


def test_dead_nodes_of_a_real_head() -> None:
    ((says, at),) = read_dead_nodes(200, case("ray_api_nodes_one_dead.json"))
    assert "health check failed" in says
    assert at > 1.7e9
    assert read_dead_nodes(500, "") == ()


def test_a_log_that_is_not_there_is_absent_and_one_that_fails_is_unseen() -> None:
    assert isinstance(read_log(404, ""), Absent)
    assert isinstance(read_log(500, "x"), Unseen)
    assert isinstance(read_iris_log(500, "x")[0], Unseen)
    assert isinstance(read_iris_log(404, "{}")[0], Absent)


def test_iris_tells_times_and_the_lines_of_the_newest_attempt_only() -> None:
    log, _ = read_iris_log(200, case("iris_rpc_FetchLogs_steps.json"))
    assert isinstance(log, JobLog)
    assert log.text.splitlines()[0].startswith("step 1/")
    assert log.written_at is not None
    entries = [
        {"key": "/u/j/0:0", "attemptId": 0, "data": "step 90/100", "timestamp": {"epochMs": "1000"}},
        {"key": "/u/j/0:1", "attemptId": 1, "data": "step 1/100", "timestamp": {"epochMs": "2000"}},
    ]
    log, _ = read_iris_log(200, json.dumps({"entries": entries, "cursor": "2"}))
    assert isinstance(log, JobLog)
    assert (log.text, log.written_at) == ("step 1/100", 2.0)


def test_iris_is_asked_for_lines_since_the_submission_only() -> None:
    query = log_query("/u/j", 1.5)
    assert (query["source"], query["sinceMs"], query["matchScope"]) == ("/u/j/", "1500", "MATCH_SCOPE_PREFIX")


def test_iris_tasks_that_wait_beside_others_that_run() -> None:
    data = json.loads(case("iris_2026-11_rpc_GetJobStatus_preempted_running.json"))
    data["job"].update(taskStateCounts={"running": 3, "pending": 1}, taskCount=4, pendingReason="Insufficient TPUs")
    told = read_iris("/root/pre", 200, json.dumps(data))
    assert told.troubles == ("1 of 4 tasks wait: Insufficient TPUs",)
    assert isinstance(told.word, Job)
    assert told.word.state is JobState.RUNNING


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("ray.exceptions.OwnerDiedError: Failed to retrieve object", "owner-died"),
        (
            "The node with node id: 5 and address: 10.0.0.2 has been marked dead because the detector missed",
            "node-died",
        ),
        ("(autoscaler +5s) Error: No available node types can fulfill resource request {'GPU': 1.0}", "unsatisfied"),
        ("Autoscaler: Unsatisfied autoscaler demand: insufficient_resources: cpu", "unsatisfied"),
        ("RuntimeError: No accelerator found. Please run on a TPU or GPU.", "no-accelerator"),
        ("jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: no devices", "precondition"),
        ("open(/dev/vfio/0): Device or resource busy", "device-busy"),
    ],
)
def test_a_sign_is_seen(line: str, sign: str) -> None:
    assert [found.partition(":")[0] for found in signs_in(f"step 1\n{line}\nstep 2")] == [sign]


@pytest.mark.parametrize(
    "line", ["val mean absolute error: 0.31", "Error: retrying (1/3)", "loss 0.5", "restoring node ids"]
)
def test_a_bare_error_is_no_sign(line: str) -> None:
    assert signs_in(line) == ()


def test_the_line_that_a_person_should_read() -> None:
    assert line_worth_reading("ray", "loss 0.5\nKeyError: 'lr'\nbye") == "KeyError: 'lr'"
    assert line_worth_reading("iris", "x\nOOM when allocating\nbye") == "OOM when allocating"
    assert line_worth_reading("ray", "nothing") == ""
