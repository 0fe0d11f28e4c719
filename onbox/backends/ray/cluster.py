"""A look at jobs of a Ray head: what is asked of its dashboard, and what the answers tell. Requests and parsers apart.

Source: Ray 2.60, `dashboard/modules/{job,state}`. The `message` of a job that has ended holds its log; only that of a
pending one is the head's own word.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from onbox.backends.base import Job, JobState
from onbox.backends.cluster import ClusterJob, ClusterLook, JobLog, NoLook, Questions, bad_answer
from onbox.backends.log_signs import WORDS, signs_in
from onbox.backends.ray import text
from onbox.backends.ray.backend import default_address as default_address  # noqa: PLC0414 - part of this module, see `table.Look`
from onbox.backends.ray.backend import default_token as default_token  # noqa: PLC0414
from onbox.contract.json_text import parse_object
from onbox.contract.readings import Absent, Unseen
from onbox.outside import printable, safe_line
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.readings import Maybe

WORTH_READING = re.compile(WORDS)
_NEW_IDS = (lazy(r"Job '([^'\s]+)' submitted successfully"), lazy(r"\b(raysubmit_[A-Za-z0-9]{1,64})\b"))
TAIL_LINES = 200
TAIL_CHARS = 1 << 15


def look(questions: Questions, job_ids: Sequence[str], *, brief: bool) -> ClusterLook | NoLook:
    """1. Which life of the head answers. 2. Each job, and its log where it says more than the word. 3. The nodes, where
    a job runs.
    """
    answer = questions.say("GET", "/api/version")
    if answer is None:
        return questions.trouble or NoLook("engine_down", questions.endpoint.address)
    session = text.read_session(*answer)
    if answer.status != 200 or not parse_object(answer.text):
        return bad_answer(questions.endpoint.address, answer, "no Ray dashboard")
    jobs = {job_id: _ask_one(questions, job_id, session, brief=brief) for job_id in job_ids}
    if not brief and any(isinstance(told.word, Job) and told.word.state is JobState.RUNNING for told in jobs.values()):
        nodes = questions.say("GET", "/api/v0/nodes?detail=1")
        dead = read_dead_nodes(*nodes) if nodes is not None else ()
        jobs = {job_id: with_nodes(told, dead) for job_id, told in jobs.items()}
    return ClusterLook(session, jobs)


def _ask_one(questions: Questions, job_id: str, session: str, *, brief: bool) -> ClusterJob:
    answer = questions.say("GET", text.job_path(job_id))
    if answer is None:
        return ClusterJob(questions.unseen())
    told = read_told(job_id, answer.status, answer.text, session)
    if brief or not isinstance(told.word, Job) or told.word.state is JobState.PENDING:
        return told
    logs = questions.say("GET", text.job_path(job_id, "/logs"))
    if logs is None:
        return told._replace(log=questions.unseen())
    return with_log(told, logs.status, logs.text)


def with_log(told: ClusterJob, status: int, body: str) -> ClusterJob:
    """With the answer to `GET /api/jobs/ID/logs`, and of a job that runs the signs in it. Pure."""
    log = read_log(status, body)
    runs = isinstance(told.word, Job) and told.word.state is JobState.RUNNING
    return told._replace(log=log, troubles=signs_in(log.text) if runs and isinstance(log, JobLog) else ())


def read_told(job_id: str, status: int, body: str, session: str) -> ClusterJob:
    """The answer to `GET /api/jobs/ID`. Pure."""
    word = text.read_job(job_id, status, body, session)
    data = parse_object(body)
    if not isinstance(word, Job) or not data:
        return ClusterJob(word)
    if word.state is JobState.PENDING and isinstance(data.get("message"), str):
        word = word._replace(reason=safe_line(data["message"], text.NOTE_LIMIT), note="")
    began, ended = _seconds(data.get("start_time")), _seconds(data.get("end_time"))
    command = safe_line(data.get("entrypoint") or "", 500)
    waits = word.state is JobState.PENDING  # its start_time is that of its submission until it starts
    return ClusterJob(word, began, None if waits else began, ended, command)


def _seconds(value: object) -> float | None:
    return value / 1000 if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1e14 else None


def read_log(status: int, body: str) -> Maybe[JobLog]:
    """The end of the whole log, which is all that the head gives. Pure."""
    found = text.read_logs(status, body, TAIL_LINES)
    if isinstance(found, Absent | Unseen):
        return found
    data = parse_object(body) or {}
    return JobLog(found[-TAIL_CHARS:], None, len(str(data.get("logs") or "")))


def read_dead_nodes(status: int, body: str) -> tuple[tuple[str, float], ...]:
    """`(what is said of it, when it died)` of each node that the head counts as dead. Pure."""
    data: Any = parse_object(body) or {}
    for key in ("data", "result", "result"):
        data = data.get(key) if isinstance(data, dict) else None
    found = []
    for node in data if status == 200 and isinstance(data, list) else ():
        if isinstance(node, dict) and node.get("state") == "DEAD":
            why = safe_line(node.get("state_message") or "no reason told", 120)
            found.append(
                (f"node {str(node.get('node_ip'))[:40]} is dead: {why}", _seconds(node.get("end_time_ms")) or 0.0)
            )
    return tuple(found)


def with_nodes(told: ClusterJob, dead: Sequence[tuple[str, float]]) -> ClusterJob:
    """Nodes that died since the job began; the head remembers those of long ago, too."""
    if not isinstance(told.word, Job) or told.word.state is not JobState.RUNNING:
        return told
    lost = tuple(says for says, at in dead if told.began_at is not None and at >= told.began_at)
    return told._replace(troubles=(*lost, *told.troubles))


__all__ = ["default_token", "look", "read_dead_nodes", "read_log", "read_told", "with_log", "with_nodes"]


def log_argv(address: str, job_id: str) -> tuple[str, ...]:
    """The command that shows the job's log."""
    return ("ray", "job", "logs", "--address", address, job_id)


def read_new_id(code: int, out: str, err: str) -> str | None:
    """The id that a submission printed; None where it printed none. Pure."""
    said = printable(f"{out}\n{err}")
    ids: list[str] = [match for regex in _NEW_IDS for match in regex.findall(said)]
    return ids[0] if code == 0 and ids else None
