"""`onbox status` and `onbox runs`: what is, from the disk and the kernel. Reading changes nothing."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from onbox.chain.launch import read_stages
from onbox.chain.look import RunView, StageView, log_look, look_at_run
from onbox.chain.slots import read_marker
from onbox.commands.project import add_config_option, existing_run, load_project_to_read, run_names
from onbox.contract.events import Event
from onbox.contract.exits import Exit
from onbox.contract.markers import Marker
from onbox.contract.states import RunState, StageState
from onbox.contract.tracker import describe_identity, identity_from_record
from onbox.contract.units import format_duration, format_size
from onbox.errors import Trouble
from onbox.redact import one_line, printable, redact
from onbox.system.clock import parse_utc, wall

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from onbox.chain.job_view import JobView
    from onbox.contract.paths import RunPaths

STATUS_EXAMPLES = """\
examples:
  onbox status                  stages, markers, last log line, next command
  onbox status --json | jq .state
"""
RUNS_EXAMPLES = """\
example:
  onbox runs                    every run of this project, one line each
"""
SHOWN_STAGES = 30
SHOWN_TRACKERS = 3
LATE_HEARTBEATS = 4
LONGEST_SECONDS = 1e10  # a marker that tells of more (or of NaN) was not written by us


def add(subparsers: Any) -> None:
    status = subparsers.add_parser("status", help="what a run is doing now", epilog=STATUS_EXAMPLES)
    status.add_argument("run", nargs="?", metavar="RUN", help="name of the run")
    runs = subparsers.add_parser("runs", help="the runs of this project", epilog=RUNS_EXAMPLES)
    for parser, function in ((status, run_status), (runs, run_runs)):
        add_config_option(parser)
        parser.add_argument("--json", action="store_true", help="one JSON object")
        parser.set_defaults(function=function)


def _look(paths: RunPaths) -> RunView:
    try:
        view = look_at_run(paths)
    except ValueError as error:
        raise Trouble(Exit.CONFIG, f"{paths.manifest} is damaged: {error}") from error
    if view is None:
        raise Trouble(Exit.USAGE, f"there is no run at {paths.root}")
    return view


def run_status(args: argparse.Namespace) -> int:
    paths = existing_run(load_project_to_read(args.config), args.run)
    view, found = _with_engine(paths, _look(paths))
    data = as_data(paths, view, found)
    print(json.dumps(data, indent=2) if args.json else _text(view, data))
    return Exit.DONE


def _with_engine(paths: RunPaths, view: RunView) -> tuple[RunView, JobView | None]:
    """The view with the word of the engine that the run was handed to, and the jobs; None: it has none."""
    if not isinstance(view.head.data.get("backend"), dict):
        return view, None
    from onbox.commands.backend_view import look_with_engine  # noqa: PLC0415 - only for a run on an engine

    found = look_with_engine(paths, view)
    return (view, None) if found is None else (found.view, found)


def run_runs(args: argparse.Namespace) -> int:
    project = load_project_to_read(args.config)
    rows = []
    for name in run_names(project.state_dir):
        paths = project.paths(name)
        try:
            data = as_data(paths, *_with_engine(paths, _look(paths)))
        except Trouble as trouble:
            data = {"run": name, "state": RunState.UNKNOWN.value, "reason": str(trouble), "stages": []}
        rows.append(data)
    if args.json:
        print(json.dumps({"schema": 1, "state_dir": project.state_dir, "runs": rows}, indent=2))
    elif not rows:
        print(f"no run in {project.state_dir} yet; start one: onbox chain 'train=python train.py'")
    for data in [] if args.json else rows:
        done = sum(1 for stage in data["stages"] if stage["state"] == StageState.DONE.value)
        where = data.get("stage") or data.get("reason") or ""
        print(f"{data['run']:<24} {data['state']:<12} {done}/{len(data['stages'])} stages done  {where}")
    return Exit.DONE


def as_data(paths: RunPaths, view: RunView, found: JobView | None = None) -> dict[str, Any]:
    """The status as JSON-ready data; the text form shows a part of it. found: the run's jobs; None: it has none."""
    head = view.head
    reason = (view.end or {}).get("reason") or None
    return {
        "schema": 1,
        "run": head.run,
        "run_id": head.run_id,
        "state": view.state.value,
        "stage": view.current,
        "reason": redact(printable(str(reason))) if reason else _why_stalled(paths, view),
        "outcome": (view.end or {}).get("event"),
        "runner_alive": view.runner_alive,
        "runner_pid": view.holder.pid if view.holder else None,
        "stage_alive": view.stage_alive is not None,
        "waiting_for": view.status.get("waiting_for") if view.runner_alive else None,
        "heartbeat_age_seconds": view.heartbeat_age_seconds,
        "heartbeat_late": _is_late(view),
        "stages": [_stage_data(stage, view) for stage in view.stages],
        "stages_done": sum(1 for stage in view.stages if stage.state is StageState.DONE),
        "log": log_look(paths, view),
        "failure": _failure(paths, view),
        "progress": view.status.get("progress") if view.runner_alive else None,
        "tracker_runs": [_tracker_data(record) for record in view.tracker_runs],
        "resources": view.status.get("resources") if view.runner_alive else None,
        "markers": paths.markers,
        "state_dir": paths.root,
        "project": head.project,
        "host": head.data.get("host"),
        "git": head.data.get("git"),
        "notifications": _notifications(paths, view),
        "journal_damaged_lines": view.unreadable_lines,
        "next_command": next_command(view) if found is None else _next_on_engine(view, found),
        **({} if found is None else _engine_data(paths, view, found)),
    }


def _engine_data(paths: RunPaths, view: RunView, found: JobView) -> dict[str, Any]:
    from onbox.commands.backend_view import engine_failure, job_line, jobs_data  # noqa: PLC0415 - as above

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
    from onbox.notify.survey import summary, survey  # noqa: PLC0415 - only where there is somebody to tell

    seen = survey(paths)
    trouble = view.status.get("notify_trouble") if view.runner_alive else None
    told = " · ".join(filter(None, (trouble, summary(seen))))
    return {**seen, "trouble": trouble, "summary": told or None}


FAILURE_KEYS = (
    "failure_class",
    "confidence",
    "proof",
    "proof_line_number",
    "where",
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
    return {"stage": failed, **{key: marker.data[key] for key in FAILURE_KEYS if marker.data.get(key) is not None}}


def _failure_lines(failure: Mapping[str, Any]) -> list[str]:
    """Class, proof and remedy, each as far as they are known."""
    place = "".join(f" · {failure[key]}" for key in ("where",) if key in failure)
    lines = [f"  class    {failure.get('failure_class')} (confidence {failure.get('confidence', '?')}){place}"]
    if "proof" in failure:
        number = failure.get("proof_line_number")
        lines.append(f"  proof    {'' if number is None else f'line {number}: '}{failure['proof']}")
    if isinstance(failure.get("progress"), dict):
        lines.append(f"  progress {failure['progress'].get('text')}")
    lines.append(f"  remedy   {failure.get('remedy')}")
    if "triage_trouble" in failure:
        lines.append(f"  triage   {failure['triage_trouble']}")
    return [redact(printable(line)) for line in lines]


def _tracker_data(record: Mapping[str, Any]) -> dict[str, Any]:
    """One run at a tracker: its identity and how it differs from the one that is meant. Texts of the journal."""
    identity = identity_from_record(record)
    fields = {} if identity is None else identity._asdict()
    drift = record.get("drift")
    safe = {key: redact(one_line(value)) if isinstance(value, str) else value for key, value in fields.items()}
    return {**safe, "drift": [redact(one_line(str(text))) for text in drift] if isinstance(drift, list) else []}


def _tracker_lines(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The newest run at a tracker of each stage, and its drift."""
    newest = {run.get("stage"): run for run in runs if run.get("tracker")}
    lines = []
    for stage, run in list(newest.items())[-SHOWN_TRACKERS:]:
        identity = identity_from_record(run)
        told = describe_identity(identity) if identity is not None else "?"
        lines.append(f"  tracker  {stage}: {told}")
        lines += [f"           DRIFT: {text}" for text in run["drift"]]
    return lines


def _is_late(view: RunView) -> bool:
    """Whether a live runner's heartbeat is overdue: the monitor's trouble, not the run's."""
    age = view.heartbeat_age_seconds
    return view.runner_alive and age is not None and age > LATE_HEARTBEATS * view.head.settings.sample_every_seconds


def _why_stalled(paths: RunPaths, view: RunView) -> str | None:
    """What is quiet, since when, and what is too long; None where nothing stalls."""
    if view.state is not RunState.STALLED:
        return None
    limit = next((one.stage.stall_after_seconds for one in read_stages(paths) if one.stage.name == view.current), None)
    spoke = parse_utc(str(view.status.get("last_output_at") or ""))
    last = f"; it wrote last {format_duration(max(0.0, wall() - spoke))} ago" if spoke is not None else ""
    beyond = f" for longer than stall_after ({format_duration(limit)})" if limit is not None else ""
    return f"stage {view.current}: log, artifacts and CPU all quiet{beyond}{last}"


def _state_word(stage: StageView, view: RunView) -> str:
    """A stage's state; that of a stalled run's live stage is stalled, too."""
    stalls = view.state is RunState.STALLED and stage.state is StageState.RUNNING
    return (StageState.STALLED if stalls else stage.state).value


def _stage_data(stage: StageView, view: RunView) -> dict[str, Any]:
    marker = stage.marker or {}
    return {
        "name": stage.name,
        "state": _state_word(stage, view),
        "attempts": stage.attempts,
        "duration_seconds": marker.get("duration_seconds"),
        "ended_at": marker.get("ended_at"),
        "artifact_count": marker.get("artifact_count"),
        "note": stage.note or None,
    }


_NEXT_COMMANDS: dict[RunState, str | None] = {
    RunState.PENDING: "onbox resume",
    RunState.RUNNING: "onbox logs -f",
    RunState.STALLED: "onbox logs",
    RunState.DEGRADED: "onbox logs",
    RunState.INTERRUPTED: "onbox resume",
    RunState.FAILED: "onbox logs",
    RunState.STOPPED: "onbox resume",
    RunState.DONE: None,
    RunState.UNKNOWN: "onbox status",
}


# For a run on an engine: its runner is no process of this machine.
_ENGINE_COMMANDS: dict[RunState, str | None] = {
    **_NEXT_COMMANDS,
    RunState.PENDING: "onbox status",
    RunState.RUNNING: "onbox logs -f",
}


def _next_on_engine(view: RunView, found: JobView) -> str | None:
    if view.state is RunState.PENDING and not found.is_live:
        return "onbox resume"  # nothing waits: a submission was cut off
    return _ENGINE_COMMANDS[view.state]


def next_command(view: RunView) -> str | None:
    """What a person most likely types next; None when nothing is left to do."""
    if view.state is RunState.RUNNING and not view.runner_alive:
        return "onbox resume"
    if (view.end or {}).get("event") == Event.GATE_REFUSED:
        return "onbox resume"
    return _NEXT_COMMANDS[view.state]


def _text(view: RunView, data: dict[str, Any]) -> str:
    total = len(view.stages)
    lines = [
        f"run {data['run']} ({data['run_id']}): {data['state'].upper()} · {data['stages_done']}/{total} stages done"
    ]
    if data["reason"]:
        lines.append(f"  reason   {data['reason']}")
    lines += _failure_lines(data["failure"]) if data["failure"] else []
    lines += [_stage_line(stage, view) for stage in _shown(view.stages)]
    lines += [f"  job      {line}" for line in data.get("job_lines", ())]
    if view.runner_alive or not data.get("jobs"):
        lines.append(f"  runner   {_runner_text(view)}")
    if data["waiting_for"]:
        lines.append(f"  waiting  {data['waiting_for']}")
    if data["progress"]:
        lines.append(f"  progress {printable(str(data['progress'].get('text')))}")
    lines += _tracker_lines(data["tracker_runs"])
    if data["log"]:
        log = data["log"]
        lines.append(
            f"  log      {log['path']} · {format_size(log['bytes'])} · {format_duration(log['age_seconds'])} ago"
        )
        if log["last_line"]:
            lines.append(f"  last     {log['last_line']}")
    if data["resources"]:
        lines.append(f"  box      {resource_text(data['resources'])}")
    lines.append(f"  markers  {data['markers']}")
    if data["notifications"].get("summary"):
        lines.append(f"  notify   {data['notifications']['summary']}")
    if view.unreadable_lines:
        lines.append(f"  journal  {view.unreadable_lines} damaged lines were passed over")
    if data["next_command"]:
        lines.append(f"  next     {data['next_command']}")
    return "\n".join(lines)


def resource_text(sample: Mapping[str, Any]) -> str:
    """A sample in one line: memory, disks, GPUs; only what was seen. `onbox stats` tells more."""
    parts = []
    used, limit = sample.get("memory_working_set_bytes"), sample.get("memory_limit_bytes")
    if used is not None:
        parts.append(
            f"memory {100 * used / limit:.0f}% of {format_size(limit)}" if limit else f"memory {format_size(used)}"
        )
    for mount, (free, _, inodes_free, inodes_total) in (sample.get("disks") or {}).items():
        inodes = f", inodes {100 - 100 * inodes_free / inodes_total:.0f}% used" if inodes_total else ""
        parts.append(f"{mount} {format_size(free)} free{inodes}")
    parts += [
        f"gpu {gpu['number']} {gpu['utilization_percent']}%"
        for gpu in sample.get("gpus") or ()
        if len(gpu) > 1 and "utilization_percent" in gpu
    ]
    parts += [f"{name}: could not look ({why})" for name, why in (sample.get("could_not_look") or {}).items()]
    return redact(printable(" · ".join(parts)))


def _shown(stages: tuple[StageView, ...]) -> tuple[StageView, ...]:
    """All stages of a short chain; of a long one those around the one at work."""
    if len(stages) <= SHOWN_STAGES:
        return stages
    at = next((index for index, stage in enumerate(stages) if stage.state is not StageState.DONE), len(stages))
    return stages[max(0, at - 5) : at + 6]


def _stage_line(stage: StageView, view: RunView) -> str:
    parts = [f"  {_state_word(stage, view):<12} {stage.name}"]
    marker = stage.marker or {}
    seconds = marker.get("duration_seconds")
    if isinstance(seconds, int | float) and 0 <= seconds < LONGEST_SECONDS:
        parts.append(format_duration(float(seconds)))
    if stage.attempts > 1:
        parts.append(f"attempt {stage.attempts}")
    if marker.get("ended_at"):
        ended = parse_utc(str(marker["ended_at"]))
        parts.append(f"{format_duration(max(0.0, wall() - ended))} ago" if ended else "")
    if stage.note:
        parts.append(stage.note)
    return " · ".join(parts)


def _runner_text(view: RunView) -> str:
    if view.runner_alive:
        pid = f"pid {view.holder.pid} on {view.holder.host}" if view.holder else "pid not known"
        age = view.heartbeat_age_seconds
        beat = "no heartbeat yet" if age is None else f"heartbeat {format_duration(age)} ago"
        return f"alive, {pid}, {beat}" + (" (LATE: the runner itself is stuck or stopped)" if _is_late(view) else "")
    if view.stage_alive:
        if view.keeper_alive:
            return f"gone; stage {view.stage_alive} lives on and continues the chain when it ends"
        return f"gone, and so is the keeper of stage {view.stage_alive}, which lives on; `onbox resume` takes over"
    return "none" if view.end else "none, and the chain has not ended: interrupted"
