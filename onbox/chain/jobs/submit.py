"""Hand the stages of a frozen run to an engine, and settle what earlier submissions left. The caller holds the lock.

Journal first: the intent to submit is on record before the engine is asked, the job's id as soon as it is known. A
submission whose answer was lost is found again by its name, which is used once only.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.backends.base import Done, EngineRefused, Job, JobState, Order, Submitted
from onbox.chain.jobs.job_view import ask
from onbox.chain.state.folders import keep_out_of_git
from onbox.contract.events import Event, render_event
from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple
from onbox.runs.jobs import WHOLE, Jobs, KnownJob, record_of_end
from onbox.system.clock import utc_text, wall
from onbox.system.files import make_folders, replace_file
from onbox.system.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.backends.base import Backend
    from onbox.contract.paths import RunPaths

NAME_LIMIT = 120


NEVER_RUNS = "the job before it did not succeed: it would never run"


class Unanswered(Exception):
    """The engine could not be asked, so whether a job lives is not known: nothing may be started."""


class NotTaken(Exception):
    """The engine refused a job; what it had taken before in the same submission was ended again.

    left: ids of jobs that could not be ended.
    """

    def __init__(self, stage: str, refused: EngineRefused, left: Sequence[str]) -> None:
        self.stage, self.refused, self.left = stage, refused, tuple(left)
        super().__init__(refused.why)


class Planned(NamedTuple):
    """A job to be: of a stage (WHOLE: of all). order: without `name` and `after`, which the submission gives it."""

    stage: str
    order: Order


class Desk:
    """Where jobs of one run are submitted, ended and put on record. Needs the run's lock."""

    def __init__(self, paths: RunPaths, backend: Backend, jobs: Jobs, *, apart: bool = False) -> None:
        """apart: its jobs have another disk than this one, so that our lock says nothing of them."""
        self.paths, self.backend, self.jobs, self.apart = paths, backend, jobs, apart

    def note(self, record: dict[str, Any]) -> None:
        """Journal, flushed. Raises StateNotWritten."""
        stamped = {"at": utc_text(wall()), **record}
        journal = Journal(self.paths.journal)  # anew each time: the launch writes into it, too
        try:
            journal.append(render_event(stamped))
        finally:
            journal.close()
        self.jobs.apply(stamped)

    def _about(self, event: str, stage: str, **fields: Any) -> dict[str, Any]:
        return {"event": event, "stage": stage or None, "backend": self.backend.name, **fields}

    # -- what earlier submissions left

    def settle(self, *, forget: bool = False) -> dict[str, Job]:
        """Put on record what is over; the jobs that live, by stage. Raises Unanswered if one of them is not known.

        forget: by a person's word jobs that the engine has lost are over, wherever their processes may be. A job that
        can never run (what it depends on failed) is over; where the engine still keeps it, it is removed.
        """
        for known in self.jobs.open:
            if known.job_id is None:
                self._find(known)
        live = {}
        never = {job.job_id for job in self.jobs.of.values() if _failed(job)}
        for stage, look in ask(self.backend, self.jobs).items():
            if look.known.ended is not None:
                continue
            word = look.word
            if isinstance(word, Job) and word.state is JobState.PENDING and look.known.after in never:
                word = word._replace(state=JobState.BLOCKED, note=NEVER_RUNS)
            if isinstance(word, Unseen):
                raise Unanswered(f"{self.backend.name} job {look.known.job_id}: {word.why}")
            if isinstance(word, Absent) and self.apart and not self.backend.forgets and not forget:
                raise Unanswered(
                    f"{self.backend.name} job {look.known.job_id} is lost: {word.why}; when you have seen that "
                    "nothing of it runs: --forget-jobs"
                )
            if isinstance(word, Job) and word.is_live:
                live[stage] = word
                continue
            if isinstance(word, Job) and word.native_state == "PENDING":
                self.backend.stop(word.job_id, urgent=True)
            self.note(record_of_end(look.known, word))
            never |= {job.job_id for job in self.jobs.of.values() if _failed(job)}
        return live

    def _find(self, known: KnownJob) -> None:
        found = self.backend.find(known.name)
        if isinstance(found, Unseen):
            raise Unanswered(f"{self.backend.name} job named {known.name}: {found.why}")
        if isinstance(found, Absent):
            self.note(self._about(Event.JOB_REFUSED, known.stage, name=known.name, reason=f"never taken: {found.why}"))
        else:
            self.note(self._about(Event.JOB_SUBMITTED, known.stage, name=known.name, job_id=found))

    # -- a new submission

    def submit(self, planned: Sequence[Planned], run: str, run_id: str, *, after: str | None = None) -> list[KnownJob]:
        """All of them, each after the one before it, or none. after: the id of the job before the first; None: none.

        Raises NotTaken, Unanswered, StateNotWritten.
        """
        taken: list[KnownJob] = []
        for plan in planned:
            name = job_name(run, plan.stage, run_id, self.jobs.submissions + 1)
            answer = self._launch(plan.stage, plan.order._replace(name=name, after=() if after is None else (after,)))
            if isinstance(answer, EngineRefused):
                raise NotTaken(plan.stage, answer, self._undo(taken))
            taken.append(self.jobs.of[plan.stage])
            after = taken[-1].job_id
        return taken

    def _launch(self, stage: str, order: Order) -> Submitted | EngineRefused:
        self.note(self._about(Event.JOB_SUBMITTING, stage, name=order.name))
        answer = self.backend.launch(order)
        if isinstance(answer, Unseen):
            found = self.backend.find(order.name)
            if isinstance(found, Unseen):
                raise Unanswered(f"{answer.why}; it is looked for by its name {order.name} the next time")
            answer = EngineRefused(answer.why) if isinstance(found, Absent) else Submitted(found)
        if isinstance(answer, EngineRefused):
            self.note(self._about(Event.JOB_REFUSED, stage, name=order.name, reason=answer.why))
        else:
            session = {"session": answer.session} if answer.session else {}
            record = self._about(Event.JOB_SUBMITTED, stage, name=order.name, job_id=answer.job_id, **session)
            self.note({**record, **({"after": list(order.after)} if order.after else {})})
        return answer

    def _undo(self, taken: Sequence[KnownJob]) -> list[str]:
        return [str(job.job_id) for job in reversed(taken) if not isinstance(self.end(job, urgent=True), Done)]

    def end(self, job: KnownJob, *, urgent: bool) -> Done | EngineRefused | Unseen:
        """Ask the engine to end a job, on record first."""
        self.note(self._about(Event.JOB_STOPPING, job.stage, job_id=job.job_id, urgent=urgent))
        return self.backend.stop(str(job.job_id), urgent=urgent)


def _failed(job: KnownJob) -> bool:
    """Whether it is on record that this job ended without success, so that what depends on it will never run."""
    state = (job.ended or {}).get("state")
    return state is not None and JobState(state) is not JobState.SUCCEEDED


def job_name(run: str, stage: str, run_id: str, number: int) -> str:
    """A name that no other job has, and that says what it is: `digits-train-3aa1641a-1`."""
    words = f"{run}-{stage}" if stage != WHOLE else run
    return f"{words[:NAME_LIMIT]}-{run_id.rpartition('-')[2]}-{number}"


def make_job_folder(paths: RunPaths, files: Mapping[str, str]) -> None:
    """The folder for what belongs to jobs, with what the engine needs in it: text by name."""
    make_folders(paths.jobs)
    keep_out_of_git(os.path.dirname(paths.root))
    for name, text in files.items():
        replace_file(os.path.join(paths.jobs, name), text.encode("ascii"))
