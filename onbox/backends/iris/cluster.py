"""A look at jobs of an Iris controller: what is asked by its Connect-JSON RPC, and what the answers tell.

Source: marin-iris 0.2.20 and 0.2.227, `controller.proto`, `logging.proto`. The controller itself serves the logs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from onbox.backends.base import Job, JobState, Submitted
from onbox.backends.cluster import ClusterJob, ClusterLook, JobLog, NoLook, Questions, bad_answer
from onbox.backends.iris import text
from onbox.backends.log_signs import WORDS, signs_in
from onbox.contract.json_text import parse_object
from onbox.contract.readings import Absent, Unseen
from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.contract.readings import Maybe

LOGS = "/finelog.logging.LogService/FetchLogs"
LOG_LINES = 200
SINCE_SECONDS = 900.0  # signs in lines that are older than that are of an earlier trouble


WORTH_READING = re.compile(
    f"{WORDS}|exception|oom|ownerdiederror|dead node|node death|autoscaler unsatisfied resources|"
    "no accelerator found|failed_precondition|device or resource busy",
    re.IGNORECASE,
)


def default_address(_: Mapping[str, str]) -> str:
    """Iris has none: its controller is behind a tunnel of one's own."""
    return ""


def default_token(_: Mapping[str, str]) -> str | None:
    """Iris has no place of its own where a plain token lies."""
    return None


def look(questions: Questions, job_ids: Sequence[str], *, brief: bool) -> ClusterLook | NoLook:
    """1. Whether an Iris controller answers. 2. Each job; of one that failed its tasks, of one that does not wait its
    log.
    """
    answer = questions.say("GET", "/health")
    if answer is None:
        return questions.trouble or NoLook("engine_down", questions.endpoint.address)
    if answer.status != 200 or not parse_object(answer.text):
        return bad_answer(questions.endpoint.address, answer, "no Iris controller")
    return ClusterLook("", {job_id: _ask_one(questions, job_id, brief=brief) for job_id in job_ids})


def _ask_one(questions: Questions, job_id: str, *, brief: bool) -> ClusterJob:
    answer = questions.say("POST", text.SERVICE + "GetJobStatus", {"jobId": job_id})
    if answer is None:
        return ClusterJob(questions.unseen())
    told = read_told(job_id, answer.status, answer.text)
    if not isinstance(told.word, Job) or told.word.state is JobState.PENDING:
        return told
    if told.word.state is JobState.FAILED:
        tasks = questions.say("POST", text.SERVICE + "ListTasks", {"jobId": job_id})
        found = [] if tasks is None else text.read_tasks(*tasks)
        told = told._replace(word=text.with_tasks(told.word, found, text.memory_limit(answer.text)))
    if brief:
        return told
    logs = questions.say("POST", LOGS, log_query(job_id, told.submitted_at))
    if logs is None:
        return told._replace(log=questions.unseen())
    return with_log(told, *logs)


def with_log(told: ClusterJob, status: int, body: str) -> ClusterJob:
    """With the answer to FetchLogs, and of a job that runs the signs in its newest lines. Pure."""
    log, lines = read_log(status, body)
    if not (isinstance(log, JobLog) and isinstance(told.word, Job) and told.word.state is JobState.RUNNING):
        return told._replace(log=log)
    newest = log.written_at or 0.0
    recent = "\n".join(line for at, line in lines if newest - at <= SINCE_SECONDS)
    return told._replace(log=log, troubles=(*told.troubles, *signs_in(recent)))


def log_query(job_id: str, submitted_at: float | None) -> dict[str, Any]:
    """The body of FetchLogs for the end of all tasks' logs. A name that is used again has older jobs' lines, too: only
    those since this one's submission are asked for. Pure.
    """
    since = {} if submitted_at is None else {"sinceMs": str(int(submitted_at * 1000))}
    scope = {"source": f"{job_id}/", "matchScope": "MATCH_SCOPE_PREFIX"}
    return {**scope, "tail": True, "maxLines": LOG_LINES, **since}


def read_told(job_id: str, status: int, body: str) -> ClusterJob:
    """The answer to GetJobStatus. Pure."""
    word = text.read_job(job_id, status, body)
    whole: Any = parse_object(body) or {}
    job = whole.get("job")
    if not isinstance(word, Job) or not isinstance(job, dict):
        return ClusterJob(word)
    request = whole.get("request")
    argv = request.get("submitArgv") if isinstance(request, dict) else None
    command = " ".join(map(str, argv)) if isinstance(argv, list) else ""
    return ClusterJob(
        word,
        _seconds(job.get("submittedAt")),
        _seconds(job.get("startedAt")),
        _seconds(job.get("finishedAt")),
        safe_line(command, 500),
        troubles=_waiting_tasks(job) if word.state is JobState.RUNNING else (),
    )


def _waiting_tasks(job: Mapping[str, Any]) -> tuple[str, ...]:
    """A job of several tasks counts as running as soon as one of them does."""
    counts = job.get("taskStateCounts")
    waits = counts.get("pending") if isinstance(counts, dict) else None
    if not isinstance(waits, int) or isinstance(waits, bool) or waits < 1:
        return ()
    why = safe_line(job.get("pendingReason") or "no reason told", 160)
    return (f"{waits} of {job.get('taskCount')} tasks wait: {why}",)


def _seconds(value: object) -> float | None:
    """Of a Timestamp: `{"epochMs": "1795230908052"}`."""
    number = value.get("epochMs") if isinstance(value, dict) else None
    text_ = str(number)
    return int(text_) / 1000 if text_.isdigit() and 0 < len(text_) < 15 and int(text_) else None


def read_log(status: int, body: str) -> tuple[Maybe[JobLog], tuple[tuple[float, str], ...]]:
    """The answer to FetchLogs: the log of the newest attempt of each task, and its lines with their times. Pure."""
    data = parse_object(body) or {}
    if status == 404 or data.get("code") in ("unimplemented", "not_found"):
        return Absent("this controller serves no logs"), ()
    if status != 200 or not parse_object(body):
        return Unseen(f"its log: {text.explain(status, data)}"), ()
    entries = [entry for entry in data.get("entries") or () if isinstance(entry, dict)]
    newest: dict[str, int] = {}
    for entry in entries:
        task, attempt = _task_of(entry)
        newest[task] = max(attempt, newest.get(task, 0))
    lines = tuple(
        (_seconds(entry.get("timestamp")) or 0.0, str(entry.get("data") or "")[:2000])
        for entry in entries
        if _task_of(entry)[1] == newest[_task_of(entry)[0]]
    )
    cursor = str(data.get("cursor") or "0")
    if not lines:
        return JobLog("", None, 0), ()
    written = max(at for at, _ in lines)
    return JobLog("\n".join(line for _, line in lines), written or None, int(cursor) if cursor.isdigit() else 0), lines


def _task_of(entry: Mapping[str, Any]) -> tuple[str, int]:
    """`/user/job/0:2` is the third attempt of task 0."""
    task, _, attempt = str(entry.get("key") or "").rpartition(":")
    own = entry.get("attemptId")
    number = own if isinstance(own, int) else int(attempt) if attempt.isdigit() else 0
    return task, number


def log_argv(address: str, job_id: str) -> tuple[str, ...]:
    """The command that shows the job's log."""
    return ("iris", "--controller-url", address, "job", "logs", job_id)


def read_new_id(code: int, out: str, err: str) -> str | None:
    """The id that a submission printed; None where it printed none. Pure."""
    found = text.read_submission(code, out, err)
    return found.job_id if isinstance(found, Submitted) else None
