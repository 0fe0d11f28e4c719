"""A run on an engine, as commands show it: ask the engine, weigh its word, follow the run to its end."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from onbox.backends.base import Job
from onbox.backends.table import make_backend
from onbox.chain.jobs.job_view import JobView, ask, refine
from onbox.chain.run_status import look_at_run
from onbox.chain.viewer.viewer import JournalReader
from onbox.commands.shared.echo import say
from onbox.contract.events import CHAIN_ENDS, Event, parse_events
from onbox.contract.exits import Exit
from onbox.contract.readings import Absent, Unseen
from onbox.contract.runfile import is_apart
from onbox.contract.states import RunState, StageState
from onbox.errors import Trouble
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.runs.engine_word import words_of
from onbox.runs.jobs import WHOLE, Jobs, replay_jobs
from onbox.system.clock import monotonic, pause
from onbox.system.journal import read_lines
from onbox.triage.classes import REMEDIES
from onbox.trust import engine_not_accepted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onbox.backends.base import Backend
    from onbox.chain.jobs.job_view import JobLook
    from onbox.chain.run_status import RunView
    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import RunHead

JOURNAL_LOOK_SECONDS = 0.5
FIRST_LOOK_SECONDS = 5.0
LOOK_SECONDS = 15.0  # a question to the engine is not free for its other users
END_LOOK_SECONDS = 1.0  # once the journal says that the chain has ended: the job ends any moment


class OnEngine(NamedTuple):
    """A run that was handed to an engine: the engine, its settings as frozen, the run's jobs."""

    backend: Backend
    settings: Mapping[str, Any]
    jobs: Jobs


def open_engine(paths: RunPaths, head: RunHead) -> OnEngine | None:
    """The engine of a run; None for a run that has none. Raises Trouble where its settings do not suffice."""
    settings = head.data.get("backend")
    if not isinstance(settings, dict):
        return None
    refuse_unaccepted(settings, head, paths)
    return OnEngine(make_engine(settings, paths), settings, replay_jobs(parse_events(read_lines(paths.journal))))


def refuse_unaccepted(settings: Mapping[str, Any], head: RunHead, paths: RunPaths) -> None:
    """A run that came with somebody's repository must not have a token of this user sent to a place of its choice."""
    config = head.data.get("config")
    wanted = engine_not_accepted(settings, config if isinstance(config, str) else None, os.environ)
    if wanted:
        keys = safe_line(", ".join(wanted))
        raise Trouble(
            Exit.CONFIG,
            f"{paths.manifest}: the engine was not asked: nobody here accepted its {keys}, or handed it a run; accept"
            " the same in onbox.toml (onbox trust), or set ONBOX_TRUST=all for this command",
        )


def make_engine(settings: Mapping[str, Any], paths: RunPaths) -> Backend:
    """The back end of these settings. Raises Trouble."""
    name = str(settings.get("name"))
    try:
        return make_backend(name, settings, paths.jobs)  # its folder is made with the first submission
    except KeyError as error:
        raise Trouble(Exit.CONFIG, f"{paths.manifest}: no back end {name!r} in this version of onbox") from error
    except ValueError as error:
        raise Trouble(Exit.CONFIG, f"back end {name}: {error}") from error


def look_with_engine(paths: RunPaths, view: RunView) -> JobView | None:
    """The run with its engine's word taken in; None for a run that no job belongs to."""
    engine = open_engine(paths, view.head)
    if engine is None or not engine.jobs.of:
        return None
    return refine(view, ask(engine.backend, engine.jobs), apart=is_apart(engine.settings))


# -- what it looks like


def jobs_data(found: JobView) -> list[dict[str, Any]]:
    """The jobs as JSON-ready data. state null: the engine has no word on it, `unknown` or `absent` says why."""
    return [_job_data(stage, look, found) for stage, look in found.looks.items()]


def _job_data(stage: str, look: JobLook, found: JobView) -> dict[str, Any]:
    known, word = look.known, look.word
    verdict = found.verdicts.get(stage) or next(iter(found.verdicts.values()), None)
    data: dict[str, Any] = {
        "stage": stage or None,
        "backend": known.backend,
        "job_id": known.job_id,
        "name": known.name,
        "submitted_at": known.at,
        "rule": verdict.rule if verdict is not None else None,
    }
    if isinstance(word, Unseen):
        return {**data, "state": None, "unknown": _safe(word.why)}
    if isinstance(word, Absent):
        return {**data, "state": None, "absent": _safe(word.why)}
    return {
        **data,
        "state": word.state.value,
        "native_state": word.native_state,
        "reason": _safe(word.reason),
        "note": word.note,
        "failure_class": word.failure_class,
        "exit_code": word.exit_code,
        "restarts": word.restarts,
    }


def job_line(look: JobLook) -> str:
    """One job in one line: `slurm 12 train: PENDING (Resources): waits for free nodes`."""
    known, word = look.known, look.word
    if isinstance(word, Job):
        again = f" · restarts {word.restarts}" if word.restarts else ""
        said = words_of(word) + again
    else:
        said = f"could not look: {word.why}" if isinstance(word, Unseen) else f"not known any more: {word.why}"
    return _safe(f"{known.backend} {known.job_id or known.name} {known.stage or '(the whole chain)'}: {said}")


def engine_failure(found: JobView) -> dict[str, Any] | None:
    """Why the run's stage has failed or was cut off, by the engine's own word; None where that proves nothing."""
    if found.view.state is RunState.STOPPED:
        return None  # whoever stopped it knows why
    for stage, verdict in found.verdicts.items():
        if verdict.failure_class is not None and verdict.state in (StageState.FAILED, StageState.INTERRUPTED):
            remedy = REMEDIES.get(verdict.failure_class)
            proof = _safe(verdict.text)
            return {
                "stage": stage or None,
                "failure_class": verdict.failure_class,
                "confidence": "high",
                "remedy": remedy,
                "proof": proof,
            }
    return None


def _safe(text: str) -> str:
    return safe_line(text)


# -- following


def follow(paths: RunPaths, offset: int, tell: Callable[[Record], str | None], stop: Callable[[], None]) -> int:
    """Tell what happens until the run is over, and the exit code of its end. Ctrl-C calls `stop`, and goes on."""
    reader, due, end = JournalReader(paths.journal, offset), monotonic() + FIRST_LOOK_SECONDS, None
    said = ""
    while True:
        try:
            for record in reader.new():
                end = record if record["event"] in CHAIN_ENDS else None
                if end is not None:
                    due = 0.0
                say(tell(record))
            if monotonic() >= due:
                due = monotonic() + (END_LOOK_SECONDS if end is not None else LOOK_SECONDS)
                found = _look(paths)
                said = _tell_change(found, said)
                code = result(found, end)
                if code is not None:
                    return code
            pause(JOURNAL_LOOK_SECONDS)
        except KeyboardInterrupt:
            print("onbox: ending the run's jobs", file=sys.stderr, flush=True)
            stop()
            due = 0.0


def _look(paths: RunPaths) -> JobView:
    view = look_at_run(paths)
    found = look_with_engine(paths, view) if view is not None else None
    if found is None:
        raise Trouble(Exit.USAGE, f"the run at {paths.root} has no job any more; look: onbox status")
    return found


def _tell_change(found: JobView, said: str) -> str:
    text = "\n".join(f"  {job_line(look)}" for look in found.looks.values())
    if text != said:
        say(text)
    return text


def result(found: JobView, end: Record | None) -> int | None:
    """The exit code of a run that is over; None while it is not, or while the engine does not answer. Pure."""
    view = found.view
    if view.runner_alive or any(isinstance(look.word, Unseen) for look in found.looks.values()):
        return None
    if found.is_live:
        return None
    last = end or view.end or {}
    if view.state is RunState.DONE:
        return int(Exit.DONE)
    if view.state is RunState.FAILED:
        refused = last.get("event") == Event.GATE_REFUSED
        return int(Exit.GATE_REFUSED if refused else Exit.FAILED)
    return int(Exit.STOPPED)


__all__ = ["WHOLE", "OnEngine", "engine_failure", "follow", "job_line", "jobs_data", "look_with_engine", "open_engine"]
