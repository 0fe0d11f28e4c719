"""Iris as a back end: its controller's RPC to look and to stop, its command to submit. The whole chain is one job."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from onbox.backends.base import QUERY_SECONDS, SUBMIT_SECONDS, Done, EngineRefused, Job, JobState, Order, Submitted
from onbox.backends.iris import text
from onbox.backends.secrets import bearer, find_token
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.system.command import CommandResult, NotRun, run_command
from onbox.system.http import NoReply, Question, Reply, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Ask = Callable[[Question, float], Reply | NoReply]
    Run = Callable[[Sequence[str], float, str | None], CommandResult | NotRun]


def _run(argv: Sequence[str], timeout_seconds: float, folder: str | None) -> CommandResult | NotRun:
    return run_command(argv, timeout_seconds=timeout_seconds, folder=folder)


class Iris:
    """The Iris cluster whose controller answers at `controller`."""

    name = "iris"
    files: Mapping[str, str] = MappingProxyType({})
    per_stage = False
    forgets = False

    def __init__(
        self,
        settings: Mapping[str, Any],
        *,
        ask: Ask = ask,
        run: Run = _run,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        if "controller" not in settings:
            raise ValueError("set [iris] controller to the controller's URL: it is asked how jobs do")
        self._settings, self._ask, self._run = settings, ask, run
        self.address = str(settings["controller"]).rstrip("/")
        self._token = find_token(settings.get("token"), os.environ if environ is None else environ)

    def launch(self, order: Order) -> Submitted | EngineRefused | Unseen:
        answer = self._run(text.run_argv(order, self._settings), SUBMIT_SECONDS, order.folder)
        if isinstance(answer, NotRun):
            return Unseen(answer.why) if answer.started else EngineRefused(answer.why, "not_started")
        return text.read_submission(*answer)

    def look(self, job_ids: Sequence[str]) -> Mapping[str, Maybe[Job]]:
        return {job_id: self._look(job_id) for job_id in job_ids}

    def find(self, name: str) -> Maybe[str]:
        answer = self._say("ListJobs", text.name_query(name))
        return Unseen(answer.why) if isinstance(answer, NoReply) else text.read_found(name, *answer)

    def logs(self, job_id: str, *, lines: int) -> Maybe[str]:
        """No output says nothing: the command prints none for a job that it does not know, too."""
        answer = self._run(text.logs_argv(job_id, self._settings, lines), QUERY_SECONDS, None)
        if isinstance(answer, NotRun):
            return Unseen(answer.why)
        if answer.code != 0:
            return Unseen(text.last_line(answer.err) or f"iris ended with {answer.code}")
        return answer.out or Absent("no line of it is known")

    def stop(self, job_id: str, *, urgent: bool) -> Done | EngineRefused | Unseen:  # noqa: ARG002 - Iris knows one way
        answer = self._say("TerminateJob", {"jobId": job_id})
        if isinstance(answer, NoReply):
            return Unseen(answer.why)
        return Done() if answer.status == 200 else EngineRefused(text.explain(answer.status, None))

    def _look(self, job_id: str) -> Maybe[Job]:
        answer = self._say("GetJobStatus", {"jobId": job_id})
        if isinstance(answer, NoReply):
            return Unseen(f"{self.address}: {answer.why}")
        job = text.read_job(job_id, *answer)
        if isinstance(job, Absent | Unseen) or job.state is not JobState.FAILED:
            return job
        tasks = self._say("ListTasks", {"jobId": job_id})
        found = [] if isinstance(tasks, NoReply) else text.read_tasks(*tasks)
        return text.with_tasks(job, found, text.memory_limit(answer.text))

    def list_question(self) -> Question:
        """What every controller answers, with the token."""
        return self._question("ListJobs", text.name_query("onbox-check"))

    def _say(self, method: str, body: Mapping[str, Any]) -> Reply | NoReply:
        return self._ask(self._question(method, body), QUERY_SECONDS)

    def _question(self, method: str, body: Mapping[str, Any]) -> Question:
        return Question("POST", self.address + text.SERVICE + method, body, bearer(self._token))


def make(settings: Mapping[str, Any], folder: str) -> Iris:  # noqa: ARG001 - every back end is made alike
    """The Iris cluster of these settings. Raises ValueError where they do not suffice."""
    return Iris(settings)
