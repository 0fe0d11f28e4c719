"""W&B's server, asked from here, beside the look at the box: a second opinion of a second opinion.

Only where `[tracker] key` names a key, and only the server that the configuration names: the link in a log is text of
a box, and must not say where a key is sent. The questions are put while the box answers, and are given up soon.
"""

from __future__ import annotations

import base64
import os
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from onbox.config.key_text import KEY_CHARACTERS
from onbox.contract.readings import Absent, Unseen
from onbox.notify.targets import NotSet, look_up_reference
from onbox.system.clock import monotonic
from onbox.trackers.wandb_api import parse_answer, question
from patrol.probe.trackers import known, may_tell_more, with_server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.readings import Maybe
    from onbox.model.tracker import Intent, TrackerIdentity
    from onbox.trackers.reading import TrackerRun
    from patrol.memory.run_memory import Memories, RunMemory
    from patrol.snapshot import BoxLook, RunLook, TrackerLook

DEFAULT_API = "https://api.wandb.ai"
ASK_SECONDS = 3.0  # one question
ALL_SECONDS = 4.0  # all of them, of one box
QUESTIONS_LIMIT = 4

Asked = tuple[str, str]  # run and stage


class Server:
    """The questions of one look at one box. `ask` puts them on a thread of their own; `add_to` waits for the answers,
    and no longer than ALL_SECONDS after they were put.
    """

    def __init__(self, intent: Intent, folder: str, environ: Mapping[str, str]) -> None:
        self._intent, self._folder, self._environ = intent, folder, environ
        self._answers: dict[Asked, Maybe[TrackerRun]] = {}
        self._wanted: dict[Asked, TrackerIdentity] = {}
        self._thread: threading.Thread | None = None
        self._until = 0.0

    def ask(self, runs: Mapping[str, RunMemory]) -> None:
        """Put the questions about the runs of W&B that are known from earlier looks and not known to have ended."""
        if self._intent.key is None:
            return
        for name, run in runs.items():
            for stage, identity in known(run):
                if identity.tracker == "wandb" and identity.run_id and may_tell_more(run, stage):
                    self._wanted[name, stage] = identity
        self._wanted = dict(list(self._wanted.items())[:QUESTIONS_LIMIT])
        if self._wanted:
            self._until = monotonic() + ALL_SECONDS
            self._thread = threading.Thread(target=self._ask_all, daemon=True)
            self._thread.start()

    def add_to(self, look: BoxLook, memories: Memories) -> tuple[BoxLook, Memories]:
        """The look with the answers, which the memories of its runs keep."""
        if self._thread is None or isinstance(look.runs, Absent | Unseen):
            return look, memories
        self._thread.join(max(0.0, self._until - monotonic()))
        runs = dict(memories.runs)
        for (run, stage), answer in dict(self._answers).items():
            if run in runs and not isinstance(answer, Absent | Unseen):
                runs[run] = with_server(runs[run], stage, answer)
        return look._replace(runs=tuple(map(self._with_answers, look.runs))), memories._replace(runs=runs)

    def _with_answers(self, run: RunLook) -> RunLook:
        if not run.trackers:
            return run
        return run._replace(trackers=tuple(self._with_answer(run.run, one) for one in run.trackers))

    def _with_answer(self, run: str, look: TrackerLook) -> TrackerLook:
        wanted = self._wanted.get((run, look.stage))
        if wanted is None or wanted.key != look.identity.key:
            return look
        late = Unseen(f"W&B's server did not answer within {ALL_SECONDS:g} s")
        return look._replace(server=self._answers.get((run, look.stage), late))

    def _ask_all(self) -> None:
        try:
            key = look_up_reference(self._intent.key or "", self._environ, self._folder, limit=KEY_CHARACTERS)
        except NotSet as error:
            self._answers.update(dict.fromkeys(self._wanted, Unseen(f"[tracker] key: {error}")))
            return
        for asked, identity in self._wanted.items():
            self._answers[asked] = self._ask_one(identity, key)

    def _ask_one(self, identity: TrackerIdentity, key: str) -> Maybe[TrackerRun]:
        from onbox.system import http  # noqa: PLC0415 - as above

        api = self._intent.api or DEFAULT_API
        entity = identity.entity or self._intent.entity
        project = identity.project or self._intent.project
        if entity is None or project is None:
            return Unseen("neither the run's link nor [tracker] tells its entity and project")
        if not is_same_server(api, identity.url):
            return Unseen(
                f"the run's link is of another server than {urlsplit(api).hostname}: name it in [tracker] api"
            )
        token = base64.b64encode(f"api:{key}".encode()).decode("ascii")
        body = question(entity, project, identity.run_id or "")
        headers = (("Authorization", f"Basic {token}"),)
        reply = http.ask(http.Question("POST", f"{api}/graphql", body, headers), ASK_SECONDS)
        if isinstance(reply, http.NoReply):
            return Unseen(f"W&B's server: {reply.why}")
        return parse_answer(reply.status, reply.text, project)


def is_same_server(api: str, link: str | None) -> bool:
    """Whether a run's page is of the server with this address: W&B's own has its pages beside its API."""
    if link is None:
        return True
    try:
        there, here = urlsplit(link), urlsplit(api)
        if here.hostname == urlsplit(DEFAULT_API).hostname:
            return there.hostname in ("wandb.ai", "api.wandb.ai", "www.wandb.ai")
        return (there.hostname, there.port) == (here.hostname, here.port)
    except ValueError:
        return False


def server_for(intent: Intent, folder: str) -> Server:
    """With this process's environment."""
    return Server(intent, folder, os.environ)
