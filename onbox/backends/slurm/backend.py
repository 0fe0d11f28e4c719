"""Slurm as a back end: each stage a job of its own, joined by `--dependency=afterok`."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING

from onbox.backends.base import QUERY_SECONDS, SUBMIT_SECONDS, Done, EngineRefused, Job, Order, Submitted
from onbox.backends.slurm import text
from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.system.command import CommandResult, NotRun, run_command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Run = Callable[[Sequence[str], float, Mapping[str, str]], CommandResult | NotRun]

SCRIPT_NAME = "slurm_job.sh"

# The same for every job; all that differs comes as arguments. The batch process becomes the command itself, so that
# the signals which Slurm sends to the batch process reach it. {job} is put together by Slurm's own variable.
JOB_SCRIPT = """\
#!/bin/sh
# A stage of a run as a Slurm job: onbox hands this file to sbatch, with the command as arguments.
ONBOX_JOB="slurm:$SLURM_JOB_ID"
export ONBOX_JOB
exec "$@"
"""


def _run(argv: Sequence[str], timeout_seconds: float, env: Mapping[str, str]) -> CommandResult | NotRun:
    return run_command(argv, timeout_seconds=timeout_seconds, env=env)


class Slurm:
    """The Slurm that the commands on PATH talk to. script: path of a file that holds JOB_SCRIPT."""

    name = "slurm"
    files: Mapping[str, str] = MappingProxyType({SCRIPT_NAME: JOB_SCRIPT})
    per_stage = True
    forgets = True

    def __init__(self, script: str, *, run: Run = _run, environ: Mapping[str, str] | None = None) -> None:
        self._script, self._run = script, run
        self._environ = os.environ if environ is None else environ
        self._neutral = text.neutral_environment(self._environ)

    def launch(self, order: Order) -> Submitted | EngineRefused | Unseen:
        if "\\" in (order.output or ""):
            return EngineRefused(
                "Slurm puts no job id into a path with a backslash: set another state_dir", "config_error"
            )
        env = text.submission_environment(self._environ, dict(order.env))
        answer = self._run(text.sbatch_argv(order, self._script), SUBMIT_SECONDS, env)
        if isinstance(answer, NotRun):
            return Unseen(answer.why) if answer.started else EngineRefused(answer.why, "not_started")
        return text.parse_submission(_answer(answer))

    def look(self, job_ids: Sequence[str]) -> Mapping[str, Maybe[Job]]:
        if not job_ids:
            return {}
        queue = self._ask(text.squeue_argv(job_ids), text.read_queue)
        words = {job_id: self._word(job_id, queue) for job_id in job_ids}
        missing = [job_id for job_id, word in words.items() if not isinstance(word, Job)]
        history = self._history(missing) if missing else Absent("not asked")
        return {job_id: text.weigh(job_id, word, history) for job_id, word in words.items()}

    def _word(self, job_id: str, queue: Maybe[Mapping[str, Job]]) -> Maybe[Job]:
        """The controller's word: what it shows in its queue, else what it says when it is asked for this one job."""
        if isinstance(queue, Absent | Unseen):
            return queue
        if job_id in queue:
            return queue[job_id]
        answer = self._run(text.scontrol_argv(job_id), QUERY_SECONDS, self._neutral)
        return Unseen(answer.why) if isinstance(answer, NotRun) else text.read_one(job_id, _answer(answer))

    def find(self, name: str) -> Maybe[str]:
        queue = self._ask(text.squeue_name_argv(name), text.read_queue)
        if isinstance(queue, Absent | Unseen):
            return queue
        if queue:
            return max(queue, key=lambda job_id: int(job_id.partition("_")[0]))
        history = self._ask(text.sacct_name_argv(name), text.read_history)
        if isinstance(history, Absent | Unseen):
            # The controller answers, remembers ended jobs for minutes, and has none of this name.
            return Absent(f"no job of the name {name}")
        return list(history)[-1] if history else Absent(f"no job of the name {name}")

    def logs(self, job_id: str, *, lines: int) -> Maybe[str]:
        return Absent(f"job {job_id} prints into a file of the run directory ({lines} lines were asked for)")

    def stop(self, job_id: str, *, urgent: bool) -> Done | EngineRefused | Unseen:
        answer = self._run(text.scancel_argv(job_id, urgent=urgent), QUERY_SECONDS, self._neutral)
        if isinstance(answer, NotRun):
            return Unseen(answer.why)
        if answer.code == 0 and "error" not in answer.err:
            return Done()
        why = text.said(answer.err)
        return Unseen(why) if text.is_unreachable(answer.err) else EngineRefused(why)

    def _history(self, job_ids: Sequence[str]) -> Maybe[Mapping[str, Job]]:
        answer: CommandResult | NotRun = NotRun("sacct was not asked")
        for fields in text.SACCT_FIELDS:
            answer = self._run(text.sacct_argv(job_ids, fields), QUERY_SECONDS, self._neutral)
            if isinstance(answer, NotRun) or not text.knows_no_field(_answer(answer)):
                break
        if isinstance(answer, NotRun):
            return Unseen(answer.why) if answer.started else Absent(answer.why)
        return text.read_history(_answer(answer))

    def _ask(
        self, argv: Sequence[str], read: Callable[[text.CommandAnswer], Maybe[Mapping[str, Job]]]
    ) -> Maybe[Mapping[str, Job]]:
        answer = self._run(argv, QUERY_SECONDS, self._neutral)
        return Unseen(answer.why) if isinstance(answer, NotRun) else read(_answer(answer))


def _answer(finished: CommandResult) -> text.CommandAnswer:
    return text.CommandAnswer(*finished)


def make(settings: Mapping[str, object], folder: str) -> Slurm:  # noqa: ARG001 - every back end is made alike
    """The Slurm of this machine; its script lies in `folder`."""
    return Slurm(os.path.join(folder, SCRIPT_NAME))
