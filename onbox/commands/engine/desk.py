"""The desk at which a run's jobs are submitted and settled: one at a time, and never beside a live job."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from onbox.backends.base import Job
from onbox.chain.jobs.submit import Desk, Unanswered
from onbox.chain.lock.lock_owner import Holder
from onbox.chain.lock.run_lock import take_lock
from onbox.chain.state.frozen_run import read_head
from onbox.commands.engine.view import make_engine
from onbox.contract.events import parse_events
from onbox.contract.exits import Exit
from onbox.contract.runfile import is_apart
from onbox.errors import Trouble
from onbox.outside import safe_text
from onbox.runs.jobs import Jobs, replay_jobs
from onbox.system.journal import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onbox.backends.base import Job
    from onbox.contract.paths import RunPaths


class AlreadyAtWork(Exception):
    """The run is at work already. fingerprint: of its chain. who: what is at work, for people."""

    def __init__(self, fingerprint: str, who: str) -> None:
        self.fingerprint, self.who = fingerprint, who
        super().__init__(who)


def jobs_of(paths: RunPaths) -> Jobs:
    """The jobs of a run, from its journal."""
    return replay_jobs(parse_events(read_lines(paths.journal)))


@contextmanager
def desk_of(paths: RunPaths, settings: Mapping[str, Any]) -> Iterator[tuple[Desk, int]]:
    """The run's lock, and where its jobs are put on record. Raises Alive while a runner holds the lock."""
    backend = make_engine(settings, paths)
    lock = take_lock(paths)
    if isinstance(lock, Holder):
        raise AlreadyAtWork(lock.chain_fingerprint, f"runner pid {lock.pid} on {lock.host}")
    desk = Desk(paths, backend, jobs_of(paths), apart=is_apart(settings))
    try:
        yield desk, lock.lock_fd
    finally:
        os.close(lock.lock_fd)


def refuse_live(desk: Desk, paths: RunPaths, *, forget: bool = False) -> None:
    """Raises Alive if a job of the run lives, Trouble if that cannot be known."""
    live = settle(desk, forget=forget)
    if live:
        raise alive_of(desk, paths, live)


def alive_of(desk: Desk, paths: RunPaths, live: Mapping[str, Job]) -> AlreadyAtWork:
    head = read_head(paths)
    who = ", ".join(f"{desk.backend.name} job {job.job_id} {job.native_state}" for job in live.values())
    return AlreadyAtWork(head.chain_fingerprint if head is not None else "", who)


def settle(desk: Desk, *, forget: bool) -> dict[str, Job]:
    try:
        return desk.settle(forget=forget)
    except Unanswered as unanswered:
        raise Trouble(
            Exit.UNAVAILABLE,
            f"{safe_text(unanswered)}\n  nothing was started: a job of this run may be alive; try again later",
        ) from unanswered
