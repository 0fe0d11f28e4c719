"""A look at jobs of an engine that is asked over HTTP, whoever submitted them: its word, and what it shows beside it.

`look` asks; the `look` module of each engine knows what. A look at a cluster brings every job, or says why nothing
could be seen of any (`NoLook`): a controller that is down says nothing about a job.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from onbox.backends.cluster_reasons import BY_KEY
from onbox.backends.secrets import NoToken, bearer, find_token
from onbox.backends.table import cluster_of
from onbox.contract.readings import Absent, Unseen
from onbox.model.engines import BY_NAME
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system import http
from onbox.system.clock import monotonic
from onbox.system.http import LOOPBACK, NoReply, Question, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onbox.backends.base import Job
    from onbox.contract.readings import Maybe

    Ask = Callable[[Question, float], Reply | NoReply]

QUESTION_SECONDS = 4.0  # one question: a dashboard answers within milliseconds, one that is overloaded within seconds
LEAST_SECONDS = 0.2  # with less left a question is not asked
DETAIL_LIMIT = 300
NOT_TOLD = Absent("the engine does not tell")


class Endpoint(NamedTuple):
    """Where an engine answers. token: a reference (`env:NAME`, `file:PATH`); None: where its own tools look."""

    engine: str
    address: str
    token: str | None = None


class JobLog(NamedTuple):
    """The end of what the job's newest attempt has printed. written_at: of its newest line by the cluster's clock,
    seconds since the epoch; None: the engine does not tell. size: of the whole, as far as the engine tells.
    """

    text: str
    written_at: float | None = None
    size: int = 0


class ClusterJob(NamedTuple):
    """One job. Times are the cluster's, seconds since the epoch; None: not told (yet). command: as it was submitted.
    log: `Absent` where the engine holds none, NOT_TOLD where it was not asked. troubles: what the engine says against a
    job that it runs (a dead node, a demand that it cannot meet), in its words.
    """

    word: Maybe[Job]
    submitted_at: float | None = None
    began_at: float | None = None
    ended_at: float | None = None
    command: str = ""
    log: Maybe[JobLog] = NOT_TOLD
    troubles: tuple[str, ...] = ()


class ClusterLook(NamedTuple):
    """session: which life of the head or controller answers; "" where it does not tell."""

    session: str
    jobs: Mapping[str, ClusterJob]


class NoLook(NamedTuple):
    """Nothing could be seen. reason: a key of `cluster_reasons.REASONS`."""

    reason: str
    detail: str


_REASON_OF = {"name": "engine_name", "tls": "engine_tls", "proxy": "engine_tls", "late": "engine_late",
              "garbled": "engine_garbled", "url": "engine_garbled"}  # fmt: skip


def endpoint_of(engine: str, settings: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Endpoint | None:
    """From the engine's table of a configuration, or as frozen in a run; None where no address is known."""
    known = os.environ if environ is None else environ
    given = settings.get(BY_NAME[engine].address_key)
    address = str(given or cluster_of(engine).default_address(known)).rstrip("/")
    token = settings.get("token")
    return Endpoint(engine, address, None if token is None else str(token)) if address else None


class Questions:
    """Asks one cluster, within one deadline. The first question that nobody answers is the last: `trouble` says why."""

    def __init__(self, endpoint: Endpoint, seconds: float, token: str | None, ask: Ask) -> None:
        self.endpoint, self._headers, self._ask = endpoint, bearer(token), ask
        self._end = monotonic() + seconds
        self.trouble: NoLook | None = None

    def say(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Reply | None:
        """The answer; None: none came, and `trouble` tells why."""
        if self.trouble is not None:
            return None
        left = min(QUESTION_SECONDS, self._end - monotonic())
        if left < LEAST_SECONDS:
            self.trouble = NoLook("engine_late", f"{self.endpoint.address}: no time was left to ask")
            return None
        question = Question(method, self.endpoint.address + path, body, self._headers)
        answer = self._ask(question, left)
        if isinstance(answer, NoReply):
            self.trouble = no_reply(self.endpoint.address, answer)
            return None
        if answer.status in (401, 403):
            word = "needs a token" if answer.status == 401 else "does not accept this token"
            self.trouble = NoLook("engine_token", f"{self.endpoint.address}: HTTP {answer.status}: it {word}")
            return None
        return answer

    def unseen(self) -> Unseen:
        """What is to be said of a job that was not asked for any more."""
        trouble = self.trouble or NoLook("engine_garbled", "no answer that could be understood")
        return Unseen(f"{BY_KEY[trouble.reason].says} ({trouble.detail})")


def no_reply(address: str, answer: NoReply) -> NoLook:
    """Why nobody answered. On this machine's own address a tunnel's two ends are told apart. Pure."""
    detail = f"{address}: {answer.why}"
    here = urlsplit(address).hostname in LOOPBACK
    if answer.kind == "refused":
        return NoLook("tunnel" if here else "engine_down", detail)
    if answer.kind == "closed" and here:
        return NoLook("engine_down", f"{detail}: the tunnel is up, but the service behind it does not answer")
    return NoLook(_REASON_OF.get(answer.kind, "engine_down"), detail)


def bad_answer(address: str, answer: Reply, what: str) -> NoLook:
    """An answer that is not what was asked for. Pure."""
    if answer.status >= 500:
        return NoLook("engine_error", f"{address}: HTTP {answer.status}: {last_line(answer.text)}")
    return NoLook("engine_garbled", f"{address}: HTTP {answer.status}, and that is {what}")


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return safe_line(lines[-1], DETAIL_LIMIT) if lines else "no words"


def look(
    endpoint: Endpoint,
    job_ids: Sequence[str],
    seconds: float,
    *,
    brief: bool = False,
    ask: Ask = http.ask,
    environ: Mapping[str, str] | None = None,
) -> ClusterLook | NoLook:
    """Ask about each job by its id. Takes little more than `seconds`. brief: the engine's word only, no logs."""
    module = cluster_of(endpoint.engine)
    known = os.environ if environ is None else environ
    try:
        token = find_token(endpoint.token, known) or module.default_token(known)
    except NoToken as error:
        return NoLook("engine_token", str(error))
    return module.look(Questions(endpoint, seconds, token, ask), job_ids, brief=brief)
