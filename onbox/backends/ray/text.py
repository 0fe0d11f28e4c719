"""Ray Jobs' REST interface: requests as data, answers to jobs. Pure.

Source: `ray/dashboard/modules/job/` of Ray 2.60 and answers captured from it. The `message` of a job holds up to
20,000 characters of its log and is never searched for words.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from onbox.backends.base import EngineRefused, Job, JobState, Order, Submitted
from onbox.contract.json_text import parse_object
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTE_LIMIT = 200


class RayState(NamedTuple):
    """A status with an error_type (None: any). First match wins."""

    status: str
    error_type: str | None
    state: JobState
    failure_class: str | None = None
    note: str = ""


STATES: tuple[RayState, ...] = (
    RayState("PENDING", None, JobState.PENDING, None, "waits for resources, or is being set up"),
    RayState("RUNNING", None, JobState.RUNNING),
    RayState("SUCCEEDED", None, JobState.SUCCEEDED),
    RayState("STOPPED", None, JobState.STOPPED, "user_interrupt", "stopped"),
    RayState("FAILED", "JOB_ENTRYPOINT_COMMAND_ERROR", JobState.FAILED),
    RayState(
        "FAILED", "JOB_ENTRYPOINT_COMMAND_START_ERROR", JobState.FAILED, "not_started", "its command did not start"
    ),
    RayState("FAILED", "RUNTIME_ENV_SETUP_FAILURE", JobState.FAILED, "config_error", "its runtime_env was not set up"),
    RayState("FAILED", "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE", JobState.INTERRUPTED, "not_started", "no room for it"),
    RayState(
        "FAILED", "JOB_SUPERVISOR_ACTOR_START_TIMEOUT", JobState.INTERRUPTED, "not_started", "no room for it in time"
    ),
    RayState(
        "FAILED", "JOB_SUPERVISOR_ACTOR_START_FAILURE", JobState.INTERRUPTED, "ray_node_died", "Ray did not start it"
    ),
    RayState(
        "FAILED", "JOB_SUPERVISOR_ACTOR_DIED", JobState.INTERRUPTED, "ray_node_died", "the node it ran on was lost"
    ),
    RayState("FAILED", "JOB_SUPERVISOR_ACTOR_UNKNOWN_FAILURE", JobState.INTERRUPTED, "ray_node_died", "Ray lost it"),
    RayState("FAILED", None, JobState.FAILED),
)


def find_row(status: str, error_type: str | None) -> RayState | None:
    """The first row for a status; None for one that this version does not know."""
    for row in STATES:
        if row.status == status and row.error_type in (None, error_type):
            return row
    return None


def submission(order: Order, settings: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """The body of `POST /api/jobs/`. Ray hands the entrypoint to a shell: its words are quoted for one.

    environment: variables that the job's command needs to find its programs, beside those of the order.
    """
    entrypoint = f"exec {shlex.join(order.argv)}"
    if order.folder:
        entrypoint = f"cd -- {shlex.quote(order.folder)} && {entrypoint}"
    asked = {
        "entrypoint_num_cpus": settings.get("cpus"),
        "entrypoint_num_gpus": settings.get("gpus"),
        "entrypoint_memory": settings.get("memory"),
        "entrypoint_resources": settings.get("resources"),
    }
    return {
        "submission_id": order.name,
        "entrypoint": entrypoint,
        "runtime_env": {"env_vars": {**environment, **dict(order.env), "ONBOX_JOB": f"ray:{order.name}"}},
        "metadata": {"onbox": order.name},
        **{key: value for key, value in asked.items() if value is not None},
    }


def job_path(submission_id: str, end: str = "") -> str:
    return f"/api/jobs/{quote(submission_id, safe='')}{end}"


def read_submission(status: int, text: str, session: str) -> Submitted | EngineRefused | Unseen:
    """The answer to a submission. Only a clear no is a refusal: after a 5xx the job may be there."""
    if status == 200:
        job_id = (parse_object(text) or {}).get("submission_id") or (parse_object(text) or {}).get("job_id")
        return Submitted(str(job_id), session) if job_id else Unseen("the head's answer names no job")
    why = explain_status(status, text)
    return EngineRefused(why, "config_error" if status == 400 else None) if 400 <= status < 500 else Unseen(why)


def read_job(submission_id: str, status: int, text: str, session: str) -> Maybe[Job]:
    """The answer to `GET /api/jobs/ID`. session: which life of the head answers, "" if that is not known."""
    if status == 404:
        return Absent(f"the head (session {session or 'not known'}) does not know this job", session)
    data = parse_object(text)
    if status != 200 or data is None:
        return Unseen(explain_status(status, text) if status != 200 else "the head's answer is not a job")
    return job_from(submission_id, data)


def job_from(submission_id: str, data: Mapping[str, Any]) -> Job:
    """A job from its JobDetails."""
    status, error_type = str(data.get("status")), data.get("error_type")
    row = find_row(status, error_type)
    if row is None:
        return Job(submission_id, JobState.UNKNOWN, status, note="a state that this version does not know")
    code = data.get("driver_exit_code")
    exit_code = _shell_code(code) if isinstance(code, int) else None
    return Job(submission_id, row.state, status, str(error_type or ""), row.note, row.failure_class, exit_code)


def _shell_code(code: int) -> int:
    """Ray tells Python's return code: negative for a signal."""
    return 128 - code if code < 0 else code


def read_session(status: int, text: str) -> str:
    """Which life of the head this is, from `GET /api/version`; "" if it does not tell."""
    return str((parse_object(text) or {}).get("session_name") or "") if status == 200 else ""


def read_version(text: str) -> str | None:
    """The version that a head tells in its answer to `GET /api/version`; None for an answer that is not a head's."""
    data = parse_object(text)
    if data is None or not ({"ray_version", "session_name"} & data.keys()):
        return None
    return f"Ray {str(data.get('ray_version') or 'of an unknown version')[:40]}"


def read_logs(status: int, text: str, lines: int) -> Maybe[str]:
    """The end of `GET /api/jobs/ID/logs`, which has no tail of its own."""
    if status == 404:
        return Absent("the head does not know this job")
    logs = (parse_object(text) or {}).get("logs")
    if status != 200 or not isinstance(logs, str):
        return Unseen(explain_status(status, text) if status != 200 else "the head's answer holds no log")
    return "\n".join(logs.splitlines()[-lines:]) if lines else ""


def explain_status(status: int, text: str) -> str:
    """An HTTP status as a reason."""
    if status in (401, 403):
        how = "needs a token" if status == 401 else "does not accept this token"
        return f"HTTP {status}: the head {how}: set [ray] token, RAY_AUTH_TOKEN or ~/.ray/auth_token"
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return f"HTTP {status}: {lines[-1][:NOTE_LIMIT]}" if lines else f"HTTP {status}"
