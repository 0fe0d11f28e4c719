"""What a back end is: the words, and the five things that it can do. Nothing here knows any engine.

An engine is never told to do anything beyond one job: a job is submitted, looked at, stopped. There is no verb for a
node, a partition or a cluster.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

from onbox.contract.readings import Absent, Maybe, Unseen
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

QUERY_SECONDS = 15.0  # how long one question to an engine may take
SUBMIT_SECONDS = 60.0  # and one submission


class JobState(str, Enum):
    """What an engine says of a job, in our words.

    PENDING: waits (for capacity, a dependency, a time). BLOCKED: what it depends on failed: it will never run.
    ENDING: its command has ended or is being ended, its end state is still to come. INTERRUPTED: ended by the engine
    (time limit, preemption, lost node), not by itself. STOPPED: cancelled by somebody. UNKNOWN: a word that this
    version does not know.
    """

    PENDING = "pending"
    BLOCKED = "blocked"
    RUNNING = "running"
    ENDING = "ending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


LIVE = frozenset({JobState.PENDING, JobState.RUNNING, JobState.ENDING, JobState.UNKNOWN})


class Job(NamedTuple):
    """A job as its engine tells of it.

    native_state, reason: the engine's own words. note: what they mean, for people; "" where they speak for
    themselves. failure_class: of `triage/classes.py`, where the engine's word proves one, else None. exit_code: the
    shell's (128 + n for signal n); None while it runs or where the engine does not tell. restarts: how often the
    engine started it again under the same id. held: it waits until a person releases it.
    """

    job_id: str
    state: JobState
    native_state: str
    reason: str = ""
    note: str = ""
    failure_class: str | None = None
    exit_code: int | None = None
    restarts: int = 0
    held: bool = False

    @property
    def is_live(self) -> bool:
        """Whether it runs or may still run. One in a state that we do not know counts as live."""
        return self.state in LIVE


class Order(NamedTuple):
    """A job to be submitted.

    name: unique, by which the job can be found again if the answer was lost. argv: the command. folder: where it
    works. output: the file for what the job itself prints; None: the engine keeps it. after: ids of the jobs that must
    succeed first. options: (option, value) pairs for the engine, value None for a flag. env: variables to add.
    """

    name: str
    argv: tuple[str, ...]
    folder: str
    output: str | None = None
    after: tuple[str, ...] = ()
    options: tuple[tuple[str, str | None], ...] = ()
    env: tuple[tuple[str, str], ...] = ()


class Submitted(NamedTuple):
    """The engine took it. session: which life of the engine (a new one knows nothing of the old); "" if it has none."""

    job_id: str
    session: str = ""


class EngineRefused(NamedTuple):
    """The engine answered no. failure_class: as in `triage/classes.py`, where the answer proves one."""

    why: str
    failure_class: str | None = None


class Done(NamedTuple):
    """What was asked for was accepted (a stop takes its time: look)."""


class Backend(Protocol):
    """One engine. Every method asks at most for a bounded time and never raises for what the engine says or does not
    say: `Unseen` is the answer then. Of `launch` it means that the job may or may not exist: `find` tells.

    name: its name in the table. files: what it needs in its folder before a submission, text by name. per_stage:
    whether each stage is a job of its own, joined by the engine; else the whole chain is one job. forgets: whether it
    drops ended jobs after a while as a matter of course; one that does not has *lost* a job that it does not know, and
    the job's processes may live on. To *resume* is to `launch` again under a new name what `look` has shown to be over.
    """

    name: str
    files: Mapping[str, str]
    per_stage: bool
    forgets: bool

    def launch(self, order: Order) -> Submitted | EngineRefused | Unseen: ...

    def look(self, job_ids: Sequence[str]) -> Mapping[str, Maybe[Job]]:
        """What the engine says of each; `Absent` where it answers and does not know the job (any more)."""
        ...

    def find(self, name: str) -> Maybe[str]:
        """The id of the job of this name."""
        ...

    def logs(self, job_id: str, *, lines: int) -> Maybe[str]:
        """The end of what the job itself printed; `Absent` where the engine keeps none (see `Order.output`)."""
        ...

    def stop(self, job_id: str, *, urgent: bool) -> Done | EngineRefused | Unseen:
        """End one job. urgent: by force, else so that its command can put its house in order."""
        ...


__all__ = ["Absent", "Backend", "Done", "EngineRefused", "Job", "JobState", "Maybe", "Order", "Submitted", "Unseen"]
