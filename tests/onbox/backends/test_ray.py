"""Ray Jobs: captured answers of its REST interface, and a head that answers like them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from onbox.backends.base import Done, EngineRefused, Job, JobState, Order, Submitted
from onbox.backends.ray.backend import Ray
from onbox.backends.ray.text import STATES, job_from, read_job, read_logs, read_submission, submission
from onbox.contract.readings import Absent, Unseen
from onbox.system.http import NoReply, Question, Reply
from onbox.triage.classes import REMEDIES
from tests.onbox.backends.cases import case

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = Reply(200, '{"version": "4", "ray_version": "2.60.0", "session_name": "session_1"}')


def test_every_row_names_a_known_class() -> None:
    assert {row.failure_class for row in STATES if row.failure_class} <= REMEDIES.keys()


@pytest.mark.parametrize(
    ("state", "exit_code", "name"),
    [
        (JobState.FAILED, 1, "actor-dead"),
        (JobState.FAILED, 1, "task-dead"),
        (JobState.PENDING, None, "need-gpu"),
    ],
)
def test_captured_jobs(state: JobState, exit_code: int | None, name: str) -> None:
    job = read_job(name, 200, case(f"ray_api_job_{name}.json"), "session_1")
    assert isinstance(job, Job)
    assert job.state is state
    assert exit_code is None or job.exit_code == exit_code


def test_words_in_the_message_prove_nothing() -> None:
    """Ray's text on any dead actor names the OOM killer as a possible cause."""
    assert "OOM killer" in case("ray_api_job_actor-dead.json")
    job = read_job("actor-dead", 200, case("ray_api_job_actor-dead.json"), "s")
    assert isinstance(job, Job)
    assert job.failure_class is None


def test_the_captured_list_has_no_unknown_state() -> None:
    jobs = [job_from(str(item["submission_id"]), item) for item in json.loads(case("ray_api_jobs_list.json"))]
    assert all(job.state is not JobState.UNKNOWN for job in jobs)
    assert 137 in {job.exit_code for job in jobs}


def test_a_stopped_job_of_a_captured_list() -> None:
    cut = case("ray_api_job_stopped.json")
    assert isinstance(read_job("slow-1", 200, cut, "s"), Unseen)  # its end is missing: partial JSON is not an answer
    job = read_job("slow-1", 200, cut.rstrip() + "}", "s")
    assert isinstance(job, Job)
    assert (job.state, job.exit_code) == (JobState.STOPPED, None)


@pytest.mark.parametrize("text", ["", "[", "[]", "null", '"x"'])
def test_what_is_no_job_is_could_not_look(text: str) -> None:
    assert isinstance(read_job("j", 200, text, "s"), Unseen)


def test_a_status_of_a_newer_ray_is_unknown() -> None:
    assert job_from("j", {"status": "HIBERNATING"}).state is JobState.UNKNOWN


def test_a_refused_token_says_what_to_set() -> None:
    refused = read_job("j", 401, "Unauthorized: Missing authentication token", "s")
    assert isinstance(refused, Unseen)
    assert "RAY_AUTH_TOKEN" in refused.why


def test_not_known_names_the_session_that_does_not_know_it() -> None:
    assert read_job("j", 404, "Job j does not exist", "session_2") == Absent(
        "the head (session session_2) does not know this job", session="session_2"
    )


def test_an_error_of_the_head_may_have_taken_the_job() -> None:
    assert isinstance(read_submission(500, "Traceback\nValueError: x", "s"), Unseen)
    assert isinstance(read_submission(400, "bad runtime_env", "s"), EngineRefused)
    assert read_submission(200, '{"submission_id": "j"}', "s") == Submitted("j", "s")


def test_words_of_the_entrypoint_are_quoted() -> None:
    order = Order("j", ("onbox", "chain", "a b", "$(x)"), "/dir with blank")
    body = submission(order, {"cpus": 2.0}, {"PATH": "/bin"})
    assert body["entrypoint"] == "cd -- '/dir with blank' && exec onbox chain 'a b' '$(x)'"
    assert body["entrypoint_num_cpus"] == 2.0
    assert body["runtime_env"] == {"env_vars": {"PATH": "/bin", "ONBOX_JOB": "ray:j"}}


def test_the_end_of_a_log_is_cut_here() -> None:
    assert read_logs(200, json.dumps({"logs": "a\nb\nc\n"}), 2) == "b\nc"
    assert isinstance(read_logs(200, "no json", 2), Unseen)


class Head:
    """Answers by method and path; remembers what was asked."""

    def __init__(self, answers: Mapping[tuple[str, str], Reply | NoReply]) -> None:
        self.answers, self.asked = answers, [Question("", "")]

    def __call__(self, question: Question, _: float) -> Reply | NoReply:
        self.asked.append(question)
        path = question.url.removeprefix("http://head:8265")
        return self.answers.get((question.method, path), Reply(404, "Job does not exist"))


def ray(head: Head, **settings: Any) -> Ray:
    found = {"address": "http://head:8265", "token": "env:TOKEN", **settings}
    return Ray(found, ask=head, environ={"TOKEN": "s3cret"})


def test_a_submission_knows_its_id_and_its_session() -> None:
    head = Head({("GET", "/api/version"): VERSION, ("POST", "/api/jobs/"): Reply(200, '{"submission_id": "digits-1"}')})
    assert ray(head).launch(Order("digits-1", ("true",), "/p")) == Submitted("digits-1", "session_1")
    assert dict(head.asked[-1].headers) == {"Authorization": "Bearer s3cret"}


def test_a_head_that_is_down_takes_nothing() -> None:
    head = Head({("GET", "/api/version"): NoReply("connection refused")})
    assert isinstance(ray(head).launch(Order("j", ("true",), "/p")), EngineRefused)
    assert isinstance(ray(head).look(["j"])["j"], Unseen)


def test_a_restarted_head_does_not_know_the_job() -> None:
    assert isinstance(ray(Head({("GET", "/api/version"): VERSION})).look(["j"])["j"], Absent)


def test_a_job_is_stopped_and_nothing_else() -> None:
    head = Head({("POST", "/api/jobs/a%2Fb/stop"): Reply(200, '{"stopped": true}')})
    assert ray(head).stop("a/b", urgent=False) == Done()


def test_a_token_that_is_not_there_is_told_by_its_name() -> None:
    with pytest.raises(ValueError, match="the variable NO_SUCH"):
        Ray({"token": "env:NO_SUCH"}, ask=Head({}), environ={})
