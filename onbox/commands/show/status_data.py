"""What `onbox status` tells of a run, as JSON-ready data."""

from __future__ import annotations

import os
import platform
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.chain.artifacts.presence import lost_results
from onbox.chain.command.environment import attempt_assignment
from onbox.chain.lock.runner_health import is_late
from onbox.chain.observe.progress_now import ProgressNow
from onbox.chain.observe.stack_dump import stack_command
from onbox.chain.resume_source import stage_records
from onbox.chain.run_room import find_short_room, place_of
from onbox.chain.run_status import RunView, StageView, log_look
from onbox.chain.state.frozen_run import read_stages
from onbox.chain.state.slots import read_marker
from onbox.commands.engine.view import engine_failure, job_line, jobs_data
from onbox.contract.events import Event
from onbox.contract.json_text import as_number
from onbox.contract.markers import Marker
from onbox.contract.states import RunState, StageState
from onbox.model.manifest import folder_of
from onbox.model.tracker import identity_from_record
from onbox.model.units import format_duration
from onbox.notify.queue.queue_status import summary, survey
from onbox.outside import safe_line
from onbox.runs.journal import rechecked_words, result_of
from onbox.runs.next_step import Standing, next_step
from onbox.runs.signs import Sign, signs_of_failure, signs_of_room
from onbox.system.clock import parse_utc, utc_text, wall
from onbox.triage.classes import about_stall, may_repeat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.chain.jobs.job_view import JobView
    from onbox.contract.paths import RunPaths
    from onbox.runs.acts import NextStep

REPEATED = 2  # ends in the same way: the next one only repeats it


def as_data(paths: RunPaths, view: RunView, found: JobView | None = None) -> dict[str, Any]:
    """The status as JSON-ready data; the text form shows a part of it. found: the run's jobs; None: it has none."""
    head = view.head
    reason = (view.end or {}).get("reason") or None
    if view.rechecked:
        reason = rechecked_words(view.rechecked)
    missing = _missing_results(paths, view)
    log = log_look(paths, view)
    now = ProgressNow(head.data.get("progress") or {})
    progress = _progress_now(now, view, log)
    data = {
        "schema": 1,
        "at": utc_text(wall()),
        "run": head.run,
        "run_id": head.run_id,
        "state": view.state.value,
        "stage": view.current,
        "reason": safe_line(reason) if reason else _why_stalled(view) or _how_it_went_on(view),
        "outcome": (view.end or {}).get("event"),
        "runner_alive": view.runner_alive,
        "runner_pid": view.holder.pid if view.holder else None,
        "stage_alive": view.stage_alive is not None,
        "waiting_for": view.status.get("waiting_for") if view.runner_alive else None,
        "heartbeat_age_seconds": view.heartbeat_age_seconds,
        "heartbeat_late": runner_is_late(view),
        **_times(view),
        "stages": _stages_data(paths, view),
        "stages_done": sum(1 for stage in view.stages if stage.state is StageState.DONE),
        "log": log,
        "failure": _failure(paths, view),
        "stall": _stall(paths, view),
        "detected": _detected(view),
        "warnings": [*_warnings(view), *missing],
        "repeated": _repeated(view),
        "rollback": _rollback(paths, view),
        "progress": progress,
        "tracker_runs": [_tracker_data(record, view) for record in view.tracker_runs],
        "resources": view.status.get("resources") if view.runner_alive else None,
        "markers": paths.markers,
        "state_dir": paths.root,
        "project": head.project,
        "host": head.data.get("host"),
        "git": head.data.get("git"),
        "notifications": _notifications(paths, view),
        "journal_damaged_lines": view.unreadable_lines,
        **({} if found is None else _engine_data(paths, view, found)),
    }
    standing = Standing(view.state, _signs(view, data["failure"], found, missing))
    room = find_short_room(paths, head, view.current) if next_step(standing).continues else None
    if room is not None:
        data["warnings"].append(safe_line(room.words))
        standing = standing._replace(signs=standing.signs | signs_of_room(room))
    place = place_of(room, str(head.project), str((data["failure"] or {}).get("proof") or ""))
    return {**data, **_step_data(next_step(standing), head.run, place)}


def _progress_now(now: ProgressNow, view: RunView, log: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """As the log of the stage at work tells it at this moment; of a run that is done its stages tell it."""
    if log is None or view.current is None or view.state is RunState.PENDING:
        return None
    of_this = view.status if view.status.get("stage") == view.current else {}
    moves = view.stage_alive is not None and view.state is not RunState.STALLED
    return now.look(str(log["path"]), of_this, moves=moves)


def _times(view: RunView) -> dict[str, Any]:
    """Since when it runs, and how long all launches together took until now; of a run that has ended, as its end tells
    it: None where that does not.
    """
    end = view.end or {}
    took = as_number(end.get("duration_seconds")) if end else view.worked_seconds
    return {
        "began_at": view.began_at,
        "ended_at": end.get("ended_at"),
        "elapsed_seconds": None if took is None else round(took, 3),
        "launches": view.launches,
    }


def _engine_data(paths: RunPaths, view: RunView, found: JobView) -> dict[str, Any]:
    return {
        "backend": view.head.data["backend"].get("name"),
        "jobs": jobs_data(found),
        "job_lines": [job_line(look) for look in found.looks.values()],
        "failure": _failure(paths, view) or engine_failure(found),
    }


def _notifications(paths: RunPaths, view: RunView) -> dict[str, Any]:
    """Counts, per target and in all; {} when nobody is told of this run."""
    if not view.head.data.get("notify") and not os.path.isdir(paths.outbox):
        return {}
    seen = survey(paths)
    trouble = view.status.get("notify_trouble") if view.runner_alive else None
    told = " · ".join(filter(None, (trouble, summary(seen))))
    return {**seen, "trouble": trouble, "summary": told or None}


FAILURE_KEYS = (
    "failure_class",
    "rule",
    "confidence",
    "proof",
    "proof_line_number",
    "where",
    "traceback",
    "remedy",
    "signature",
    "progress",
    "triage_trouble",
)


def _failure(paths: RunPaths, view: RunView) -> dict[str, Any] | None:
    """Why the stage at which the chain ended has failed, from its marker; None if none has."""
    failed = next((stage.name for stage in view.stages if stage.state is StageState.FAILED), None)
    marker = read_marker(paths.failed(failed)) if failed is not None else None
    if not isinstance(marker, Marker):
        return None
    known = {key: marker.data[key] for key in FAILURE_KEYS if marker.data.get(key) is not None}
    stacks = paths.stacks(marker.stage, marker.attempt)
    known |= {"stacks": stacks} if os.path.exists(stacks) else {}
    may_resume = may_repeat(str(known.get("failure_class", "unknown")), rule=str(known.get("rule", "")))
    return {"stage": failed, **known, "may_resume_by_itself": may_resume}


def _warnings(view: RunView) -> list[str]:
    """What is to be told beside the stages that are done."""
    return [f"{stage.name}: {text}" for stage in view.stages for text in warnings_of(stage)]


def warnings_of(stage: StageView) -> list[str]:
    """What its DONE says against it."""
    texts = (stage.marker or {}).get("warnings")
    return [safe_line(text) for text in texts] if isinstance(texts, list) else []


def _repeated(view: RunView) -> dict[str, Any] | None:
    """How often the newest bad end came, where that was more than once and the run has not gone on since."""
    if view.repeated.times < REPEATED or view.state not in (RunState.FAILED, RunState.INTERRUPTED):
        return None
    return {"times": view.repeated.times, "step": view.repeated.step, "says": str(view.repeated)}


def _rollback(paths: RunPaths, view: RunView) -> dict[str, Any] | None:
    """The rollback that no attempt has followed yet: until then the progress shown is that of what was given up."""
    if view.current is None or view.runner_alive or view.stage_alive is not None:
        return None
    newest = None
    for record in stage_records(paths, view.current):
        if record["event"] in (Event.ATTEMPT_STARTED, Event.ROLLBACK_UNDONE):
            newest = None
        elif record["event"] == Event.ROLLBACK_DONE:
            newest = {key: record.get(key) for key in ("step", "by", "reason", "at")}
    return newest


def _tracker_data(record: Mapping[str, Any], view: RunView) -> dict[str, Any]:
    """One run at a tracker: its identity, how it differs from the one that is meant, and whether the stage's newest
    attempt announced it. Texts of the journal.
    """
    identity = identity_from_record(record)
    fields = {} if identity is None else identity._asdict()
    drift = record.get("drift")
    safe = {key: safe_line(value) if isinstance(value, str) else value for key, value in fields.items()}
    newest = next((stage.attempts for stage in view.stages if stage.name == fields.get("stage")), None)
    safe["of_newest_attempt"] = None in (newest, fields.get("attempt")) or newest == fields.get("attempt")
    return {**safe, "drift": [safe_line(text) for text in drift] if isinstance(drift, list) else []}


def runner_is_late(view: RunView) -> bool:
    """Whether its runner lives, and its heartbeat is overdue."""
    return view.runner_alive and is_late(view.head, view.heartbeat_age_seconds)


def _why_stalled(view: RunView) -> str | None:
    """What is quiet, since when, and what is too long; None where nothing stalls."""
    if view.state is not RunState.STALLED:
        return None
    told = view.status.get("stall_limit_seconds")
    limit = float(told) if isinstance(told, int | float) else None
    spoke = parse_utc(str(view.status.get("last_output_at") or ""))
    last = f"; it wrote last {format_duration(max(0.0, wall() - spoke))} ago" if spoke is not None else ""
    beyond = f" for longer than stall_after ({format_duration(limit)})" if limit is not None else ""
    what = "log, artifacts, CPU and GPU" if view.status.get("stalls_by_default") is True else "log, artifacts and CPU"
    return f"stage {view.current}: {what} all quiet{beyond}{last}"


def _how_it_went_on(view: RunView) -> str | None:
    """What was seen of an end that nobody recorded; None where it was cut off."""
    return view.unseen_end.words if view.unseen_end is not None and Sign.END_MISSED in view.stage_signs else None


def _stall(paths: RunPaths, view: RunView) -> dict[str, str] | None:
    """What to do about a stall, and where the stacks of its processes lie, or how they are had; None where nothing
    stalls.
    """
    if view.state is not RunState.STALLED or view.current is None:
        return None
    attempt = next((stage.attempts for stage in view.stages if stage.name == view.current), 0)
    path = paths.stacks(view.current, attempt)
    if os.path.exists(path):
        return about_stall(path)
    command = stack_command(attempt_assignment(view.head.run_id, view.current, attempt))
    return {**about_stall(None), **({} if command is None else {"stack_command": command})}


def _detected(view: RunView) -> list[dict[str, Any]]:
    """What the runner's detectors find in the live stage, safe to show."""
    told = view.status.get("detected") if view.stage_alive is not None and view.runner_alive else None
    found = [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []
    return [{key: safe_line(value) if isinstance(value, str) else value for key, value in one.items()} for one in found]


def state_word(stage: StageView, view: RunView) -> str:
    """A stage's state; that of a stalled run's live stage is stalled, too."""
    stalls = view.state is RunState.STALLED and stage.state is StageState.RUNNING
    return (StageState.STALLED if stalls else stage.state).value


def _stages_data(paths: RunPaths, view: RunView) -> list[dict[str, Any]]:
    limits: dict[str, float | None] = {}
    with suppress(OSError, ValueError):
        limits = {one.stage.name: one.stage.timeout_seconds for one in read_stages(paths)}
    return [_stage_data(stage, view, limits.get(stage.name)) for stage in view.stages]


def _stage_data(stage: StageView, view: RunView, timeout_seconds: float | None) -> dict[str, Any]:
    marker = stage.marker or {}
    began = parse_utc(stage.began_at or "") if stage.state is StageState.RUNNING else None
    elapsed = None if began is None else round(max(0.0, wall() - began), 1)
    left = None if elapsed is None or timeout_seconds is None else max(0.0, timeout_seconds - elapsed)
    return {
        "name": stage.name,
        "state": state_word(stage, view),
        "attempts": stage.attempts,
        "duration_seconds": marker.get("duration_seconds"),
        "ended_at": marker.get("ended_at"),
        "elapsed_seconds": elapsed,
        "timeout_left_seconds": left,
        "result": None if stage.marker is None else result_of(marker)._asdict(),
        "artifact_count": marker.get("artifact_count"),
        "note": stage.note or None,
    }


def _missing_results(paths: RunPaths, view: RunView) -> list[str]:
    """What the stages of a finished run left and what is gone, a sentence each. What cannot be looked at is not said to
    be gone.
    """
    if view.state is not RunState.DONE or view.head.data.get("host") not in (None, platform.node()):
        return []
    project = str(view.head.project)
    lines = []
    with suppress(OSError, ValueError):
        for frozen in read_stages(paths):
            marker = read_marker(paths.done(frozen.stage.name)) if frozen.stage.artifacts else None
            if isinstance(marker, Marker) and os.path.isdir(project):
                gone = lost_results(frozen.stage, folder_of(project, frozen.stage), marker).gone
                lines += [safe_line(f"stage {frozen.stage.name} is DONE, but {text}") for text in gone]
    return lines


def _signs(
    view: RunView, failure: Mapping[str, Any] | None, found: JobView | None, missing: Sequence[str]
) -> frozenset[Sign]:
    """What was seen of the run beside its state, for the table that is the same everywhere."""
    signs = {*view.stage_signs, *((Sign.RESULTS_MISSING,) if missing else ())}
    if (view.end or {}).get("event") == Event.GATE_REFUSED:
        signs.add(Sign.GATE_REFUSED)
    if _warnings(view):
        signs.add(Sign.DOUBTED)
    if view.rechecked:
        signs.add(Sign.RECHECKED)
    signs |= signs_of_failure(str((failure or {}).get("failure_class") or ""))
    if view.repeated.times >= REPEATED and view.state in (RunState.FAILED, RunState.INTERRUPTED):
        signs.add(Sign.REPEATED)
    signs |= view.watch_signs - ({Sign.RUNNER_GONE} if found is not None else set())
    if view.state is RunState.PENDING and not (found is not None and found.is_live):
        signs.add(Sign.UNATTENDED)
    return frozenset(signs)


def _step_data(step: NextStep, run: str, place: str) -> dict[str, Any]:
    """As the patrol's JSON names it. next_command: for a shell in the project's directory; None: it is typed where the
    box has a name, which the box does not know.
    """
    return {
        "step": step.name,
        "next_command": None if step.act.is_local else step.act.line(run, place=place),
        "then": step.then,
        "never": step.never,
        "with_a_persons_word": [
            {"what": what.what, "command": shlex.join(("onbox", *words))}
            for what in step.with_word
            if (words := what.words(run))
        ],
    }
