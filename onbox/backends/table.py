"""What does the work of an engine, by the table of engines (onbox/model/engines.py). Loaded on use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from onbox.model.engines import BY_NAME

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, Sequence

    from onbox.backends.base import Backend, Job, Order
    from onbox.backends.cluster import ClusterLook, NoLook, Questions
    from onbox.contract.readings import Maybe
    from onbox.model.manifest import Stage


def make_backend(name: str, settings: Mapping[str, Any], folder: str) -> Backend:
    """The back end `name`. settings: as frozen into run.json. folder: the run's folder for jobs, which exists.

    Raises KeyError for an unknown name, ValueError for settings that do not suffice.
    """
    backend: Backend = import_module(BY_NAME[name].backend).make(settings, folder)
    return backend


class Stages(Protocol):
    """The module `stages` of an engine where each stage is a job of its own."""

    def fit(self, order: Order, stage: Stage, jobs: str, settings: Mapping[str, Any], grace_seconds: float) -> Order:
        """The order with what only this engine knows: its output, its options. jobs: the run's folder for jobs."""
        ...

    def requeue_argv(self, job_id: str, stage: Stage) -> list[str] | None:
        """What puts a job back into the queue; None: the user does not want that."""
        ...


class LookModule(Protocol):
    """The module `look` of an engine that is asked over HTTP. WORTH_READING: which lines of a job's log a person should
    see first.
    """

    WORTH_READING: re.Pattern[str]

    def default_address(self, environ: Mapping[str, str]) -> str:
        """Where it is unless the configuration says otherwise; "": the configuration must say it."""
        ...

    def default_token(self, environ: Mapping[str, str]) -> str | None: ...

    def look(self, questions: Questions, job_ids: Sequence[str], *, brief: bool) -> ClusterLook | NoLook: ...

    def log_argv(self, address: str, job_id: str) -> tuple[str, ...]:
        """The command that shows the job's log."""
        ...

    def read_new_id(self, code: int, out: str, err: str) -> str | None:
        """The id that a submission printed; None where it printed none."""
        ...


class Probe(Protocol):
    """The module `probe` of an engine whose commands are asked on the box. Three texts of POSIX sh: FUNCTIONS with
    `onbox_NAME IDS…`, which prints what the engine says of these jobs; REACH with `onbox_reach_NAME`, which finds the
    engine's commands as the shell had them that submitted the run; QUEUE with `onbox_queue_NAME`, which lists the
    account's own jobs.
    """

    FUNCTIONS: str
    REACH: str
    QUEUE: str

    def parse_probe(self, output: str, job_ids: Sequence[str]) -> Mapping[str, Maybe[Job]]: ...

    def has_no_commands(self, output: str) -> bool:
        """Whether its commands are not there at all, so that nobody there can ever ask it."""
        ...

    def read_names(self, code: int | None, output: str) -> Maybe[dict[str, Job]]:
        """The account's own jobs by name. code, output: of `onbox_queue_NAME`; None: cut off."""
        ...


def stages_of(name: str) -> Stages:
    return cast("Stages", import_module(BY_NAME[name].stages))


def cluster_of(name: str) -> LookModule:
    return cast("LookModule", import_module(BY_NAME[name].look))


def probe_of(name: str) -> Probe:
    return cast("Probe", import_module(BY_NAME[name].probe))
