"""What Slurm's states and reasons mean: ordered tables. Pure.

Sources: squeue(1) "JOB STATE CODES" and "JOB REASON CODES"; the exit code of an OUT_OF_MEMORY job (0:125), the
reason after `scontrol requeuehold` and FAILED/JobLaunchFailure for a killed batch shell were seen on Slurm 22.05.
"""

from __future__ import annotations

from onbox.backends.base import Job, JobState
from onbox.named_tuple import NamedTuple

NEVER = "DependencyNeverSatisfied"


class SlurmState(NamedTuple):
    """A state, with the beginning of a reason (None: any). First match wins. held: until a person releases it."""

    native_state: str
    reason: str | None
    state: JobState
    failure_class: str | None = None
    note: str = ""
    held: bool = False


STATES: tuple[SlurmState, ...] = (
    SlurmState("PENDING", NEVER, JobState.BLOCKED, None, "the job before it did not succeed: it will never run"),
    SlurmState("PENDING", "JobHeld", JobState.PENDING, None, "held: it waits until somebody releases it", held=True),
    SlurmState(
        "PENDING",
        "job requeued in held",
        JobState.PENDING,
        None,
        "held after a requeue: somebody must release it",
        held=True,
    ),
    SlurmState("PENDING", "Resources", JobState.PENDING, None, "waits for free nodes"),
    SlurmState("PENDING", "Priority", JobState.PENDING, None, "waits: other jobs come first"),
    SlurmState("PENDING", "Dependency", JobState.PENDING, None, "waits for the job before it"),
    SlurmState(
        "PENDING", "BeginTime", JobState.PENDING, None, "waits for its time (after a requeue about two minutes)"
    ),
    SlurmState("PENDING", "ReqNodeNotAvail", JobState.PENDING, None, "waits: the nodes it needs are down or reserved"),
    SlurmState("PENDING", "QOS", JobState.PENDING, None, "waits: a limit of its QOS"),
    SlurmState("PENDING", "Assoc", JobState.PENDING, None, "waits: a limit of its account"),
    SlurmState(
        "PENDING", "Partition", JobState.PENDING, None, "waits: its partition is down or its limits are exceeded"
    ),
    SlurmState(
        "PENDING", "BadConstraints", JobState.PENDING, "config_error", "no node can ever satisfy its constraints"
    ),
    SlurmState("PENDING", None, JobState.PENDING),
    SlurmState("CONFIGURING", None, JobState.PENDING, None, "its nodes are being made ready"),
    SlurmState("REQUEUED", None, JobState.PENDING, None, "is put back into the queue"),
    SlurmState("REQUEUE_FED", None, JobState.PENDING),
    SlurmState(
        "REQUEUE_HOLD", None, JobState.PENDING, None, "held after a requeue: somebody must release it", held=True
    ),
    SlurmState("RESV_DEL_HOLD", None, JobState.PENDING, None, "held: its reservation was deleted", held=True),
    SlurmState(
        "SPECIAL_EXIT", None, JobState.PENDING, None, "held after a special exit: somebody must release it", held=True
    ),
    SlurmState("RUNNING", None, JobState.RUNNING),
    SlurmState("RESIZING", None, JobState.RUNNING),
    SlurmState("SUSPENDED", None, JobState.RUNNING, None, "suspended by Slurm"),
    SlurmState("STOPPED", None, JobState.RUNNING, None, "frozen by a signal, its nodes kept"),
    SlurmState("SIGNALING", None, JobState.ENDING),
    SlurmState("COMPLETING", None, JobState.ENDING),
    SlurmState("STAGE_OUT", None, JobState.ENDING),
    SlurmState("COMPLETED", None, JobState.SUCCEEDED),
    SlurmState("CANCELLED", NEVER, JobState.BLOCKED, None, "the job before it did not succeed: it never ran"),
    SlurmState("CANCELLED", None, JobState.STOPPED, "user_interrupt", "cancelled"),
    SlurmState("REVOKED", None, JobState.STOPPED, "user_interrupt", "revoked by another cluster of the federation"),
    SlurmState("TIMEOUT", None, JobState.INTERRUPTED, "time_limit", "ran into its time limit"),
    SlurmState("DEADLINE", None, JobState.INTERRUPTED, "time_limit", "ran into its deadline"),
    SlurmState("PREEMPTED", None, JobState.INTERRUPTED, "preempted", "preempted"),
    SlurmState(
        "NODE_FAIL", None, JobState.INTERRUPTED, "preempted", "its node was lost; its processes may still run there"
    ),
    SlurmState("BOOT_FAIL", None, JobState.INTERRUPTED, "preempted", "its node could not be booted"),
    SlurmState("OUT_OF_MEMORY", None, JobState.FAILED, "host_oom", "a process of it was killed for memory"),
    SlurmState("FAILED", "JobLaunchFailure", JobState.FAILED, None, "killed, or never begun: its own output tells"),
    SlurmState("FAILED", None, JobState.FAILED),
    SlurmState("LAUNCH_FAILED", None, JobState.FAILED, "not_started", "could not be started on its node"),
    SlurmState("RECONFIG_FAIL", None, JobState.FAILED, "not_started", "could not be started on its node"),
)

# A state may come with flags ("RUNNING+COMPLETING", a list in JSON): the flag that decides goes first.
_FLAGS_FIRST = ("COMPLETING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "STAGE_OUT", "SIGNALING", "RESIZING")


def base_state(words: str) -> str:
    """The deciding word of a state as Slurm prints it: `CANCELLED by 0`, `RUNNING,COMPLETING`, or cut to the width of
    a column: `CANCELLED+`, `OUT_OF_ME+`.
    """
    word = words.strip().upper().split(" ")[0]
    parts = [part for part in word.replace("+", ",").split(",") if part]
    found = next((flag for flag in _FLAGS_FIRST if flag in parts), parts[0] if parts else "")
    if word.endswith("+") and found and find_row(found, "") is None:
        whole = {row.native_state for row in STATES if row.native_state.startswith(found)}
        return whole.pop() if len(whole) == 1 else found
    return found


def find_row(state: str, reason: str) -> SlurmState | None:
    """The first row for a state and its reason; None for a state that this version does not know."""
    for row in STATES:
        if row.native_state == state and (row.reason is None or reason.startswith(row.reason)):
            return row
    return None


def job_from(job_id: str, words: str, reason: str, exit_code: int | None, restarts: int) -> Job:
    """A job from Slurm's words. exit_code: the shell's, as `shell_code` or `wait_code` make it."""
    state = base_state(words)
    reason = "" if reason in ("None", "(null)") else reason
    row = find_row(state, reason)
    if row is None:
        return Job(job_id, JobState.UNKNOWN, words, reason, "a state that this version does not know", None)
    over = row.state not in (JobState.PENDING, JobState.RUNNING, JobState.ENDING)
    code = exit_code if over else None
    return Job(job_id, row.state, state, reason, row.note, row.failure_class, code, restarts, row.held)


OOM_CODE = 125  # what Slurm reports as the "signal" of a job with an OOM kill


def shell_code(text: str) -> int | None:
    """The shell's exit code from `code:signal` (scontrol, sacct): `1:0` is 1, `0:9` is 137. None: no such text.

    `0:125` of an OUT_OF_MEMORY job is not a signal; it becomes 137, as the kill that it stands for.
    """
    code, colon, signal = text.strip().partition(":")
    if not (colon and code.isdigit() and signal.isdigit()):
        return None
    if int(signal) == OOM_CODE:
        return 137
    return 128 + int(signal) if int(signal) else int(code)


def wait_code(status: int) -> int:
    """The shell's exit code from a raw wait status (squeue before 23.02): 256 is 1, 9 is 137, 253 an OOM kill."""
    low = status & 0x7F
    if low == OOM_CODE:
        return 137
    return 128 + low if low else (status >> 8) & 0xFF
