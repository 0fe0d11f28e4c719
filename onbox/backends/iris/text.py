"""Iris: the controller's Connect-JSON RPC as data, its `iris job run` as argv, answers to jobs. Pure.

The RPC is the same over the three generations of the command line, whose verbs and JSON are not; only `job run`, which
packs the workspace, is left to the command. Sources: captures of marin-iris 0.2.20 and 0.2.227; `controller.proto`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from onbox.backends.base import EngineRefused, Job, JobState, Order, Submitted
from onbox.contract.json_text import parse_object
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SERVICE = "/iris.cluster.ControllerService/"
JOB_ID = r"/[^/\s]+/\S+"
NOTE_LIMIT = 300

# Names that people use for clusters, and the files that hold them.
CLUSTER_FILES = {
    "marin": "marin.yaml",
    "marin_prod": "marin.yaml",
    "marin-prod": "marin.yaml",
    "marin_dev": "marin-dev.yaml",
    "marin-dev": "marin-dev.yaml",
    "coreweave": "coreweave.yaml",
}


class IrisState(NamedTuple):
    """A state of a job without its prefix JOB_STATE_."""

    native_state: str
    state: JobState
    failure_class: str | None = None
    note: str = ""


STATES: tuple[IrisState, ...] = (
    IrisState("PENDING", JobState.PENDING),
    IrisState("BUILDING", JobState.PENDING, None, "its workspace is being made ready"),
    IrisState("RUNNING", JobState.RUNNING),
    IrisState("SUCCEEDED", JobState.SUCCEEDED),
    IrisState("FAILED", JobState.FAILED),
    IrisState("KILLED", JobState.STOPPED, "user_interrupt", "stopped"),
    IrisState("WORKER_FAILED", JobState.INTERRUPTED, "preempted", "the worker it ran on was lost"),
    IrisState("UNSCHEDULABLE", JobState.FAILED, "config_error", "no group of workers can ever hold it"),
)

# Words of a submission's refusal, and what they prove. First match wins.
REFUSALS: tuple[tuple[re.Pattern[str], str | None], ...] = (
    (lazy(r"client is too old", re.IGNORECASE), "config_error"),
    (lazy(r"JobAlreadyExists|still running", re.IGNORECASE), None),
    (lazy(r"is unschedulable|no scaling group", re.IGNORECASE), "config_error"),
    (lazy(r"No such (?:command|option)", re.IGNORECASE), "config_error"),
    (lazy(r"unauthenticated|permission.denied|\b40[13]\b", re.IGNORECASE), "auth_error"),
)
_UNREACHED = r"Connection refused|connect error|timed? ?out|error sending request|UNAVAILABLE|retrying in"


class Task(NamedTuple):
    """One task of a job. exit_code: the shell's; None while it runs. peak_bytes: None: not told."""

    exit_code: int | None
    peak_bytes: int | None = None


# -- argv and requests


def run_argv(order: Order, settings: Mapping[str, Any]) -> list[str]:
    """The words that submit `order`, and do not wait for it."""
    words = [str(settings.get("command") or "iris")]
    if "cluster" in settings:
        words += ["--cluster", str(settings["cluster"])]
    elif "config" in settings:
        words += ["--config", CLUSTER_FILES.get(str(settings["config"]), str(settings["config"]))]
    else:
        words += ["--controller-url", str(settings.get("controller", ""))]
    words += ["job", "run", "--no-wait", "--job-name", order.name, *map(str, settings.get("args") or ())]
    for name, value in (*order.env, ("ONBOX_JOB", f"iris:{order.name}")):
        words += ["-e", name, value]
    return [*words, "--", "sh", "-c", _IN_WORKSPACE, "onbox-job", *order.argv]


# A worker in a container begins in the workspace, one on plain processes does not; both may name it.
_IN_WORKSPACE = 'cd -- "${IRIS_WORKDIR:-.}" 2>/dev/null || :; exec "$@"'


def logs_argv(job_id: str, settings: Mapping[str, Any], lines: int) -> list[str]:
    words = [str(settings.get("command") or "iris"), "--controller-url", str(settings.get("controller", ""))]
    return [*words, "job", "logs", job_id, "--max-lines", str(max(1, lines)), "--tail"]


def name_query(name: str) -> dict[str, Any]:
    """The body of ListJobs for jobs of this name; the filter is a substring, so the answer is compared exactly."""
    return {"query": {"nameFilter": name, "limit": 50}}


# -- answers


def read_submission(code: int, out: str, err: str) -> Submitted | EngineRefused | Unseen:
    """`iris job run --no-wait`: the bare id on standard output, or in a log line on either stream."""
    found = re.findall(rf"(?m)^({JOB_ID})\s*$", out) or re.findall(rf"Job submitted: ({JOB_ID})", f"{out}\n{err}")
    if code == 0 and found:
        return Submitted(found[-1])
    why = last_line(err) or last_line(out) or f"iris ended with {code}"
    for pattern, failure_class in REFUSALS:
        if pattern.search(err + out):
            return EngineRefused(why, failure_class)
    if code == 0 or re.search(_UNREACHED, err + out, re.IGNORECASE):
        return Unseen(why)
    return EngineRefused(why)


def last_line(text: str) -> str:
    """The last line with something in it, without a session token that a URL in it may carry, bounded."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub(r"(session_token=)[^\s&]+", r"\1…", lines[-1])[:NOTE_LIMIT] if lines else ""


def read_job(job_id: str, status: int, text: str) -> Maybe[Job]:
    """The answer to GetJobStatus. Not found is an answer; every other error is none."""
    data = parse_object(text)
    if status == 404 or (data or {}).get("code") == "not_found":
        return Absent("the controller does not know this job")
    if status != 200 or data is None:
        return Unseen(explain(status, data))
    job = data.get("job")
    if not isinstance(job, dict) or job.get("jobId") != job_id:
        return Unseen("the controller's answer is about no such job")
    return job_from(job_id, job)


def is_job_list(text: str) -> bool:
    """Whether an answer to ListJobs is a controller's; fields that are empty may be missing."""
    data = parse_object(text)
    return data is not None and isinstance(data.get("jobs", []), list)


def explain(status: int, data: Mapping[str, Any] | None) -> str:
    """An error of the RPC as a reason."""
    if status in (401, 403):
        return f"HTTP {status}: the controller wants another token: set [iris] token"
    said = str((data or {}).get("message") or (data or {}).get("code") or "")
    return f"HTTP {status}: {said[:NOTE_LIMIT]}" if said else f"HTTP {status}"


def job_from(job_id: str, data: Mapping[str, Any]) -> Job:
    """A job from its JobStatus. Fields that are zero or empty may be missing; int64 are texts.

    The reason of a pending job is its `pendingReason`, which for ended jobs is a copy of the error. The job's own exit
    code is 0 even when it failed: the tasks have it (see `with_tasks`).
    """
    native = str(data.get("state", "JOB_STATE_UNSPECIFIED")).removeprefix("JOB_STATE_").upper()
    row = next((row for row in STATES if row.native_state == native), None)
    if row is None:
        return Job(job_id, JobState.UNKNOWN, native, note="a state that this version does not know")
    waits = row.state is JobState.PENDING
    said = str(data.get("pendingReason" if waits else "error") or "")
    reason = " ".join(said.split())[:NOTE_LIMIT]
    note = row.note or ("waits for capacity" if waits and reason else "")
    restarts = _number(data.get("preemptionCount")) + _number(data.get("failureCount"))
    if row.state is JobState.FAILED:
        restarts = max(0, restarts - 1)  # the last failure is its end, not a restart
    return Job(job_id, row.state, native, reason, note, row.failure_class, None, restarts)


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | str) and str(value).isdigit() else 0


def memory_limit(text: str) -> int | None:
    """The memory in bytes that each task may use, from an answer to GetJobStatus; None: not told."""
    job = (parse_object(text) or {}).get("job")
    resources = job.get("resources") if isinstance(job, dict) else None
    return (_number(resources.get("memoryBytes")) or None) if isinstance(resources, dict) else None


def read_tasks(status: int, text: str) -> list[Task]:
    """The tasks of an answer to ListTasks; empty where there is none to be read."""
    tasks = (parse_object(text) or {}).get("tasks") if status == 200 else None
    return [_task(item) for item in tasks if isinstance(item, dict)] if isinstance(tasks, list) else []


def _task(data: Mapping[str, Any]) -> Task:
    over = "finishedAt" in data
    usage = data.get("resourceUsage")
    peak = _number(usage.get("memoryPeakMb")) * 10**6 if isinstance(usage, dict) else 0
    code = data.get("exitCode", 0)
    shell = shell_code(code) if over and isinstance(code, int) else None
    return Task(shell, peak or None)


def shell_code(code: int) -> int:
    """Iris tells -9 for a process that SIGKILL ended, and 137 for a shell that saw one: the same."""
    return 128 - code if code < 0 else code


NEAR_LIMIT = 0.9
SIGKILL_CODE = 137


def with_tasks(job: Job, tasks: Sequence[Task], limit_bytes: int | None) -> Job:
    """A failed job with the exit code of its tasks; killed for memory where peaks near the limit prove it.

    limit_bytes: the memory that each task may use; None: not known.
    """
    codes = [task.exit_code for task in tasks if task.exit_code]
    if not codes:
        return job
    job = job._replace(exit_code=codes[0])
    killed = [task for task in tasks if task.exit_code == SIGKILL_CODE]
    near = [task for task in killed if limit_bytes and (task.peak_bytes or 0) >= NEAR_LIMIT * limit_bytes]
    if near:
        note = f"{len(near)} of {len(tasks)} tasks were killed near their memory limit: raise --memory"
        return job._replace(failure_class="host_oom", note=note)
    if killed:
        return job._replace(note=f"{len(killed)} of {len(tasks)} tasks were killed (SIGKILL), by whom is not proven")
    return job


def read_found(name: str, status: int, text: str) -> Maybe[str]:
    """The id of the job of this very name, from an answer to `name_query`."""
    data = parse_object(text)
    if status != 200 or data is None:
        return Unseen(explain(status, data))
    ids = [str(job.get("jobId")) for job in data.get("jobs") or () if isinstance(job, dict)]
    exact = [job_id for job_id in ids if job_id.rpartition("/")[2] == name]
    if exact:
        return exact[0]
    return Unseen("there are more jobs than the answer holds") if data.get("hasMore") else Absent(f"no job {name}")
