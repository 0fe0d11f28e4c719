"""Slurm's commands and their answers: argv in data, text to jobs. Pure.

`squeue -O` with fixed widths is the form that changed least between versions; `--json` is only a fallback for tools
that have nothing else. Every parser takes what the command printed on its two streams and its exit code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.backends.base import EngineRefused, Job, Order, Submitted
from onbox.backends.slurm.states import job_from, shell_code, wait_code
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Users set these to their taste (squeue(1), sacct(1)), and an answer must not depend on it. They are taken away, not
# emptied: an empty SQUEUE_USERS or SQUEUE_PARTITION hides every job (Slurm 22.05).
_TASTE = ("SQUEUE_", "SACCT_", "SLURM_TIME_FORMAT", "SLURM_JSON", "SLURM_YAML")

_COLUMNS = (("JobID", 24), ("State", 24), ("Reason", 64), ("exit_code", 12), ("RestartCnt", 12), ("Dependency", 80))
SQUEUE_FORMAT = ",".join(f"{name}:{width}" for name, width in _COLUMNS)
SACCT_OLD_FIELDS = "JobID,State,ExitCode"
# What sacct is asked for, the newest first: 22.05 has no Restarts, much older ones no Reason of a job.
SACCT_FIELDS = (f"{SACCT_OLD_FIELDS},Reason,Restarts", f"{SACCT_OLD_FIELDS},Reason", SACCT_OLD_FIELDS)

FORGOTTEN = "Invalid job id specified"
NO_ACCOUNTING = "accounting storage is disabled"
SAID_LIMIT = 300
JOB_ID = r"[0-9]+(?:_[0-9]+)?"


class CommandAnswer(NamedTuple):
    """What a command said. code: its exit code."""

    code: int
    out: str
    err: str


def neutral_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a question to Slurm: the caller's without its taste, messages in English."""
    return {**{key: value for key, value in environ.items() if not key.startswith(_TASTE)}, "LC_ALL": "C"}


# These would make a submission another one: it waits, is many jobs, or goes or prints where nobody looks for it.
_ELSEWHERE = frozenset(
    "SBATCH_WAIT SBATCH_ARRAY_INX SBATCH_CLUSTERS SLURM_CLUSTERS SBATCH_OUTPUT SBATCH_ERROR SBATCH_INPUT".split()
)
# What a job has from its allocation, by which a submission from inside it would hand its own share on: srun refuses
# SLURM_MEM_PER_CPU beside the SLURM_MEM_PER_NODE of the new job, for one. SLURM_CONF says which Slurm it is.
_OF_A_JOB = ("SLURM_", "SLURMD_", "SRUN_", "PMI_", "PMIX_", "PMI2_")
_GPUS_OF_A_JOB = frozenset({"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"})
_KEPT = frozenset({"SLURM_CONF"})


def submission_environment(environ: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """The environment of sbatch, which its job inherits: the caller's own, taste included; where the caller is itself
    part of a job, without what that job was given.
    """
    kept = {key: value for key, value in environ.items() if key not in _ELSEWHERE}
    if "SLURM_JOB_ID" in environ:
        kept = {key: value for key, value in kept.items() if key in _KEPT or not key.startswith(_OF_A_JOB)}
        kept = {key: value for key, value in kept.items() if key not in _GPUS_OF_A_JOB}
    return {**kept, **more}


# -- argv


def sbatch_argv(order: Order, script: str) -> list[str]:
    """The words that submit `order`. Its command is handed to `script` as arguments: no value meets a shell."""
    words = ["sbatch", "--parsable", "--kill-on-invalid-dep=yes", "--open-mode=append", f"--job-name={order.name}"]
    words += [f"--chdir={order.folder}"]
    if "export" not in dict(order.options):
        words += ["--export=ALL"]  # whatever SBATCH_EXPORT of the site says: a stage finds what this shell finds
    if order.output is not None:
        words += [f"--output={order.output}"]
    if order.after:
        words += ["--dependency=afterok:" + ":".join(order.after)]
    words += [f"--{name}" if value is None else f"--{name}={value}" for name, value in order.options]
    return [*words, script, *order.argv]


def test_argv(order: Order) -> list[str]:
    """The words that ask whether and when such a job would begin. Nothing is submitted."""
    words = sbatch_argv(order, "")[1:-1]
    return ["sbatch", "--test-only", *(word for word in words if word != "--parsable"), "--wrap=true"]


def squeue_argv(job_ids: Sequence[str]) -> list[str]:
    """Ask the controller, ended jobs included: without `-t all` a failed job is simply not shown."""
    return ["squeue", "-h", "-a", "-t", "all", "-j", ",".join(job_ids), "-O", SQUEUE_FORMAT]


def squeue_name_argv(name: str) -> list[str]:
    return ["squeue", "-h", "-a", "-t", "all", f"--name={name}", "-O", SQUEUE_FORMAT]


def scontrol_argv(job_id: str) -> list[str]:
    """Ask the controller about one job: the only question whose answer says that it does not know it."""
    return ["scontrol", "show", "job", job_id]


def sacct_argv(job_ids: Sequence[str], fields: str) -> list[str]:
    """Ask the accounting (slurmdbd), which remembers what the controller has forgotten."""
    return ["sacct", "-n", "-P", "-X", "-j", ",".join(job_ids), "-o", fields]


def sacct_name_argv(name: str) -> list[str]:
    return ["sacct", "-n", "-P", "-X", "-S", "now-30days", f"--name={name}", "-o", SACCT_OLD_FIELDS]


def scancel_argv(job_id: str, *, urgent: bool) -> list[str]:
    """urgent: end the job (SIGTERM to all of it, then SIGKILL). Else SIGTERM for its batch process only, which is
    onbox: it ends the stage with the run's own grace and puts it on record.
    """
    return ["scancel", job_id] if urgent else ["scancel", "--batch", "--signal=TERM", job_id]


# -- answers


def parse_submission(answer: CommandAnswer) -> Submitted | EngineRefused | Unseen:
    """`sbatch --parsable`: `ID` or `ID;CLUSTER` on a line of its own, whatever plugins and wrappers print beside it;
    two ids are not an answer. A refusal is known by its words; all else is unseen: the job may have been taken.
    """
    lines = [line.strip() for line in answer.out.splitlines() if line.strip()]
    ids = {match[1] for line in lines if (match := re.fullmatch(rf"({JOB_ID})(?:;[\w.-]+)?", line))}
    if answer.code == 0 and len(ids) == 1:
        return Submitted(ids.pop())
    why = refusal(answer.err) or f"sbatch ended with {answer.code}"
    if is_unreachable(answer.err):
        return Unseen(why)
    if answer.code != 0:
        return EngineRefused(why, "config_error")
    return Unseen(f"sbatch printed no job id: {(lines or [''])[-1][:80]!r}")


def parse_squeue(text: str) -> dict[str, Job]:
    """Rows of `squeue -h -O SQUEUE_FORMAT`. A row that is cut off is left out: its job is then not known."""
    jobs = (_job_of_row(line) for line in text.splitlines())
    return {job.job_id: job for job in jobs if job is not None}


def _job_of_row(line: str) -> Job | None:
    cells, at = {}, 0
    for name, width in _COLUMNS:
        cells[name] = line[at : at + width].strip()
        at += width
    if not re.fullmatch(JOB_ID, cells["JobID"]) or not cells["State"]:
        return None
    code, restarts = cells["exit_code"], cells["RestartCnt"]
    if not restarts.isdigit():
        return None
    exit_code = wait_code(int(code)) if code.isdigit() else shell_code(code)
    return job_from(cells["JobID"], cells["State"], cells["Reason"], exit_code, int(restarts))


def parse_sacct(text: str) -> dict[str, Job]:
    """Rows of `sacct -n -P -X` with any of SACCT_FIELDS. The last row of a job is its newest life."""
    jobs = {}
    for line in text.splitlines():
        cells = [*line.split("|"), "", ""]
        if re.fullmatch(JOB_ID, cells[0]) and len(cells) >= 5:
            restarts = int(cells[4]) if cells[4].isdigit() else 0
            jobs[cells[0]] = job_from(cells[0], cells[1], cells[3], shell_code(cells[2]), restarts)
    return jobs


def parse_scontrol(text: str) -> dict[str, Job]:
    """Blocks of `scontrol show job`: `Key=value` words. Values with blanks (paths, comments) are not needed here."""
    jobs = {}
    for block in re.split(r"\n(?=JobId=)|\A(?=JobId=)", text):
        cells = dict(re.findall(r"(?:^|\s)(JobId|JobState|Reason|Restarts|ExitCode)=(\S*)", block))
        if re.fullmatch(JOB_ID, cells.get("JobId", "")) and cells.get("JobState") and "ExitCode" in cells:
            restarts = cells.get("Restarts", "")
            jobs[cells["JobId"]] = job_from(
                cells["JobId"],
                cells["JobState"],
                cells.get("Reason", ""),
                shell_code(cells["ExitCode"]),
                int(restarts) if restarts.isdigit() else 0,
            )
    return jobs


# -- what the answers mean together


def is_unreachable(said: str) -> bool:
    """Whether a command failed because nobody answered it, which says nothing about any job."""
    return bool(
        re.search(
            r"Unable to contact|Connection (?:refused|timed out)|connect failure|Socket timed out|"
            r"Zero Bytes were transmitted|Protocol authentication error|Munge|DBD|slurmdbd|Communication",
            said,
            re.IGNORECASE,
        )
    )


COMES_BACK = frozenset({"PREEMPTED", "NODE_FAIL", "BOOT_FAIL"})


def weigh(job_id: str, controller: Maybe[Job], history: Maybe[Mapping[str, Job]]) -> Maybe[Job]:
    """What is known of a job. controller: its word; `Absent`: it says that it does not know the job. history: the
    accounting's answer; `Absent`: there is none.

    The controller's word goes first. Where it does not know the job, the accounting decides; where that does not know
    it either, Slurm has *forgotten* the job, which proves neither success nor failure. Where the controller does not
    answer, only an end that the accounting has on record counts, and not one after which Slurm may have put the job
    back into its queue: the accounting may know of its former life only.
    """
    if isinstance(controller, Job):
        return controller
    past = None if isinstance(history, Absent | Unseen) else history.get(job_id)
    if (
        past is not None
        and not past.is_live
        and not (isinstance(controller, Unseen) and past.native_state in COMES_BACK)
    ):
        return past
    if isinstance(controller, Absent) and isinstance(history, Unseen):
        return Unseen(f"the controller has forgotten the job, and the accounting could not be asked: {history.why}")
    return controller


def read_queue(answer: CommandAnswer) -> Maybe[Mapping[str, Job]]:
    """The controller's answer to `squeue_argv`: the jobs that it shows. One that it does not show is not thereby
    unknown to it: `read_one` settles that. Rows that make no sense are not an answer; what a site's wrapper prints
    beside them is passed over, if there is a row.
    """
    if answer.code != 0 and FORGOTTEN not in answer.err:
        return Unseen(said(answer.err) or f"squeue ended with {answer.code}")
    jobs = parse_squeue(answer.out)
    lines = [line for line in answer.out.splitlines() if line.strip()]
    rows = [line for line in lines if re.match(rf"{JOB_ID}(?:\s|$)", line)]
    if len(jobs) == len(rows) and (rows or not lines or answer.code != 0):
        return jobs
    return Unseen(f"squeue's answer makes no sense: {safe_words((rows or lines)[0], 100)!r}")


def read_one(job_id: str, answer: CommandAnswer) -> Maybe[Job]:
    """The controller's answer to `scontrol_argv`."""
    if answer.code == 0:
        found = parse_scontrol(answer.out).get(job_id)
        return found or Unseen(f"scontrol's answer makes no sense: {safe_words(answer.out, 100)!r}")
    if FORGOTTEN in answer.err:
        return Absent("Slurm does not know this job any more")
    return Unseen(said(answer.err) or f"scontrol ended with {answer.code}")


def read_history(answer: CommandAnswer) -> Maybe[Mapping[str, Job]]:
    """The accounting's answer to `sacct_argv`; `Absent` where the site keeps no accounting."""
    if NO_ACCOUNTING in answer.err.lower():
        return Absent("Slurm keeps no accounting here")
    if answer.code == 0:
        return parse_sacct(answer.out)
    return Unseen(said(answer.err) or f"sacct ended with {answer.code}")


def knows_no_field(answer: CommandAnswer) -> bool:
    """Whether sacct is too old for the fields it was asked for."""
    return answer.code != 0 and "nvalid field" in answer.err


def refusal(err: str) -> str:
    """What sbatch complained of: its own lines, without what a site's plugins print before them."""
    marks = ("sbatch: error:", "allocation failure:", "sbatch: unrecognized", "sbatch: option", "sbatch: invalid")
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith(marks)]
    return said("; ".join(line.removeprefix("sbatch: ").removeprefix("error: ") for line in own or lines))


def said(text: str) -> str:
    """What a command complained of, in one bounded line."""
    return safe_words(text, SAID_LIMIT)
