"""Ray Jobs as a back end, by the REST interface of its dashboard. The whole chain is one job; `ray` is not imported."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from onbox.backends.base import QUERY_SECONDS, Done, EngineRefused, Job, Order, Submitted
from onbox.backends.ray import text
from onbox.backends.secrets import bearer, find_token, read_token_file
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.system.http import NoReply, Question, Reply, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Ask = Callable[[Question, float], Reply | NoReply]

DEFAULT_ADDRESS = "http://127.0.0.1:8265"
STOP_MARGIN_SECONDS = 15.0  # beyond the run's grace: to put the end on record, before Ray kills by force


class Ray:
    """The Ray head whose dashboard is at `address`."""

    name = "ray"
    files: Mapping[str, str] = MappingProxyType({})
    per_stage = False
    forgets = False

    def __init__(
        self, settings: Mapping[str, Any], *, ask: Ask = ask, environ: Mapping[str, str] | None = None
    ) -> None:
        self._settings, self._ask = settings, ask
        self._environ = os.environ if environ is None else environ
        self.address = str(settings.get("address") or default_address(self._environ)).rstrip("/")
        self._token = find_token(settings.get("token"), self._environ) or default_token(self._environ)

    def launch(self, order: Order) -> Submitted | EngineRefused | Unseen:
        session = self._session()
        if isinstance(session, Unseen):
            return EngineRefused(session.why)  # nothing was sent yet
        answer = self._say("POST", "/api/jobs/", text.submission(order, self._settings, self._environment()))
        return Unseen(answer.why) if isinstance(answer, NoReply) else text.read_submission(*answer, session)

    def look(self, job_ids: Sequence[str]) -> Mapping[str, Maybe[Job]]:
        session = self._session() if job_ids else ""
        if isinstance(session, Unseen):
            return dict.fromkeys(job_ids, session)
        return {job_id: self._look(job_id, session) for job_id in job_ids}

    def find(self, name: str) -> Maybe[str]:
        found = self._look(name, "")  # a job's name is its id
        return found if isinstance(found, Absent | Unseen) else name

    def logs(self, job_id: str, *, lines: int) -> Maybe[str]:
        answer = self._say("GET", text.job_path(job_id, "/logs"))
        return Unseen(answer.why) if isinstance(answer, NoReply) else text.read_logs(*answer, lines)

    def stop(self, job_id: str, *, urgent: bool) -> Done | EngineRefused | Unseen:  # noqa: ARG002 - Ray knows one way
        answer = self._say("POST", text.job_path(job_id, "/stop"))
        if isinstance(answer, NoReply):
            return Unseen(answer.why)
        return Done() if answer.status == 200 else EngineRefused(text.explain_status(*answer))

    def _look(self, job_id: str, session: str) -> Maybe[Job]:
        answer = self._say("GET", text.job_path(job_id))
        return Unseen(answer.why) if isinstance(answer, NoReply) else text.read_job(job_id, *answer, session)

    def version_question(self) -> Question:
        """What every head answers, with the token."""
        return self._question("GET", "/api/version")

    def _session(self) -> str | Unseen:
        answer = self._say("GET", "/api/version")
        if isinstance(answer, NoReply):
            return Unseen(f"{self.address}: {answer.why}")
        if answer.status != 200:
            return Unseen(f"{self.address}: {text.explain_status(*answer)}")
        return text.read_session(*answer)

    def _say(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Reply | NoReply:
        return self._ask(self._question(method, path, body), QUERY_SECONDS)

    def _question(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Question:
        return Question(method, self.address + path, body, bearer(self._token))

    def _environment(self) -> dict[str, str]:
        """Ray ends a stopped job by SIGTERM and, three seconds later, by force: give onbox its grace."""
        grace = float(self._settings.get("grace_seconds") or 0.0) + STOP_MARGIN_SECONDS
        return {"RAY_JOB_STOP_WAIT_TIME_S": str(round(grace))}


def default_address(environ: Mapping[str, str]) -> str:
    """Where Ray's own tools look for the dashboard."""
    return environ.get("RAY_API_SERVER_ADDRESS") or DEFAULT_ADDRESS


def default_token(environ: Mapping[str, str]) -> str | None:
    """The token where Ray's own tools look for it; None: there is none."""
    if environ.get("RAY_AUTH_TOKEN"):
        return environ["RAY_AUTH_TOKEN"].strip()
    return read_token_file(environ.get("RAY_AUTH_TOKEN_PATH") or "~/.ray/auth_token")


def make(settings: Mapping[str, Any], folder: str) -> Ray:  # noqa: ARG001 - every back end is made alike
    """The Ray head of these settings. Raises ValueError for a token that is not there."""
    return Ray(settings)
