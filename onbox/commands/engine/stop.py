"""`onbox stop` for a run on an engine: its jobs are ended one by one, and seen to be over. Nothing beyond its jobs.

1. The wish is left where the job's own onbox looks, so that its end is recorded as a stop. 2. What waits is cancelled,
so that nothing starts meanwhile. 3. What runs is asked to end: its onbox ends the stage with the run's grace. 4. What
does not end is ended by the engine's force. 5. With no job left, the stop is put on record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.backends.base import Done, Job, JobState
from onbox.chain.jobs.job_view import ask
from onbox.chain.state.frozen_run import read_head
from onbox.chain.state.replay import History, replay
from onbox.chain.state.stop_request import StopRequest, write_request
from onbox.chain.viewer.viewer import configured_grace
from onbox.commands.engine.desk import AlreadyAtWork, desk_of, refuse_live
from onbox.commands.engine.view import open_engine
from onbox.commands.shared.notices import catch_up_notices
from onbox.contract.events import Event, parse_events
from onbox.contract.exits import Exit
from onbox.contract.readings import Unseen
from onbox.errors import Trouble
from onbox.outside import safe_line
from onbox.runs.jobs import Jobs, replay_jobs
from onbox.system.clock import monotonic, pause
from onbox.system.files import remove_file
from onbox.system.journal import read_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.backends.base import Backend
    from onbox.contract.paths import RunPaths

LOOK_SECONDS = 1.0
END_PATIENCE_SECONDS = 30.0  # beyond the grace: what an engine needs to see that a job is over
FORCE_PATIENCE_SECONDS = 60.0


def stop_jobs(paths: RunPaths, grace_seconds: float | None) -> bool:
    """End every job of the run; False if none lives. grace_seconds: 0: at once; None: the run's own.

    Raises Trouble if the engine does not answer or a job does not end.
    """
    head = read_head(paths)
    engine = open_engine(paths, head) if head is not None else None
    if engine is None or not engine.jobs.open:
        return False
    if not _live(paths, engine.backend):
        return False
    grace = configured_grace(paths) if grace_seconds is None else grace_seconds
    write_request(paths.stop_request, StopRequest(grace))
    try:
        _end_all(paths, engine.backend, urgent=grace == 0)
        if not _wait(paths, engine.backend, grace + END_PATIENCE_SECONDS):
            _end_all(paths, engine.backend, urgent=True)
            if not _wait(paths, engine.backend, FORCE_PATIENCE_SECONDS):
                raise Trouble(Exit.UNAVAILABLE, _left_text(paths, engine.backend))
        _record(paths, engine.settings)
    finally:
        remove_file(paths.stop_request)
    return True


def _live(paths: RunPaths, backend: Backend) -> list[Job]:
    """The jobs that are not over, those that wait first. Raises Trouble if the engine has no word on one."""
    jobs = replay_jobs(parse_events(read_lines(paths.journal)))
    found = []
    for look in ask(backend, jobs).values():
        if isinstance(look.word, Unseen):
            who = f"{backend.name} job {look.known.job_id or look.known.name}"
            raise Trouble(
                Exit.UNAVAILABLE, f"{who}: could not look: {safe_line(look.word.why)}; whether it runs is not known"
            )
        if isinstance(look.word, Job) and (look.word.is_live or look.word.native_state == "PENDING"):
            found.append(look.word)
    return sorted(found, key=lambda job: job.state is not JobState.PENDING)


def _end_all(paths: RunPaths, backend: Backend, *, urgent: bool) -> None:
    for job in _live(paths, backend):
        waits = job.state in (JobState.PENDING, JobState.BLOCKED)
        answer = backend.stop(job.job_id, urgent=urgent or waits)
        if not isinstance(answer, Done) and any(left.job_id == job.job_id for left in _live(paths, backend)):
            raise Trouble(Exit.UNAVAILABLE, f"{backend.name} job {job.job_id} could not be ended: {answer.why}")


def _wait(paths: RunPaths, backend: Backend, seconds: float) -> bool:
    """Whether no job is left within so long."""
    deadline = monotonic() + seconds
    while _live(paths, backend):
        if monotonic() >= deadline:
            return False
        pause(LOOK_SECONDS)
    return True


def _left_text(paths: RunPaths, backend: Backend) -> str:
    left = ", ".join(f"{job.job_id} ({job.native_state})" for job in _live(paths, backend))
    return (
        f"{backend.name} job {left} was told to end and has not; look again: onbox status\n"
        "  onbox does nothing beyond its own jobs: a node that hangs is for those who run the cluster"
    )


def _is_told(history: History, jobs: Jobs) -> bool:
    """Whether a job's own onbox put the end on record: of this submission, not of one before it."""
    end = history.last_end
    if history.open or end is None or end.get("event") not in (Event.CHAIN_STOPPED, Event.CHAIN_DONE):
        return False
    return str(end.get("at", "")) >= max((job.at for job in jobs.of.values()), default="")


def _record(paths: RunPaths, settings: Mapping[str, Any]) -> None:
    """No job is left: put their ends on record, and the stop where the job's own onbox did not."""
    try:
        with desk_of(paths, settings) as (desk, _):
            refuse_live(desk, paths, forget=True)
            history = replay(parse_events(read_lines(paths.journal)))
            if not _is_told(history, desk.jobs):
                desk.note(
                    {
                        "event": Event.CHAIN_STOPPED,
                        "stopped_at": None,
                        "reason": "stopped on request",
                        "exit_code": int(Exit.STOPPED),
                    }
                )
                catch_up_notices(paths)
    except AlreadyAtWork as alive:
        raise Trouble(
            Exit.ANOTHER_RUNNER,
            f"{alive.who} is still alive although its job is over (a lost node?): look there before you resume",
        ) from alive
