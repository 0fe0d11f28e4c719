"""What `onbox status` tells of a run, as lines for people. Pure but for the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.commands.show.status_data import is_late, state_word
from onbox.contract.states import StageState
from onbox.model.tracker import describe_identity, identity_from_record
from onbox.model.units import format_duration, format_size
from onbox.outside import safe_line
from onbox.system.clock import parse_utc, wall

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.chain.run_status import RunView, StageView

SHOWN_STAGES = 30
SHOWN_TRACKERS = 3
LONGEST_SECONDS = 1e10  # a marker that tells of more (or of NaN) was not written by us


def _failure_lines(failure: Mapping[str, Any]) -> list[str]:
    """Class, proof and remedy, each as far as they are known."""
    place = "".join(f" · {failure[key]}" for key in ("where",) if key in failure)
    lines = [f"  class    {failure.get('failure_class')} (confidence {failure.get('confidence', '?')}){place}"]
    if "proof" in failure:
        number = failure.get("proof_line_number")
        lines.append(f"  proof    {'' if number is None else f'line {number}: '}{failure['proof']}")
    trace = failure.get("traceback")
    lines += [f"           {line}" for line in trace] if isinstance(trace, list) else []
    if isinstance(failure.get("progress"), dict):
        lines.append(f"  progress {failure['progress'].get('text')}")
    lines.append(f"  remedy   {failure.get('remedy')}")
    if "triage_trouble" in failure:
        lines.append(f"  triage   {failure['triage_trouble']}")
    return [safe_line(line) for line in lines]


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


def render_status(view: RunView, data: dict[str, Any]) -> str:
    """The status as a person reads it. data: of `status_data.as_data`, for this view."""
    total = len(view.stages)
    lines = [
        f"run {data['run']} ({data['run_id']}): {data['state'].upper()} · {data['stages_done']}/{total} stages done"
    ]
    if data["reason"]:
        lines.append(f"  reason   {data['reason']}")
    lines += _failure_lines(data["failure"]) if data["failure"] else []
    lines += [f"  WARNING  {text}" for text in data["warnings"][:SHOWN_STAGES]]
    if data["repeated"]:
        lines.append(f"  again    {data['repeated']['says']}: change something before you resume it")
    lines += [_stage_line(stage, view) for stage in _shown(view.stages)]
    lines += [f"  job      {line}" for line in data.get("job_lines", ())]
    if view.runner_alive or not data.get("jobs"):
        lines.append(f"  runner   {_runner_text(view)}")
    if data["waiting_for"]:
        lines.append(f"  waiting  {data['waiting_for']}")
    if data["progress"]:
        lines.append(f"  progress {safe_line(data['progress'].get('text'))}")
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
    lines += _next_lines(data)
    return "\n".join(lines)


def _next_lines(data: Mapping[str, Any]) -> list[str]:
    """What to type, what follows, and what only a person decides. This very status is not offered as the next step."""
    follow = f"; follow it: onbox logs -f --run {data['run']}" if data["step"] == "well" else ""
    here = data["next_command"] == f"onbox status {data['run']}"
    lines = [f"  next     {data['then']}{follow}"] if here else [f"  next     {data['next_command']}"]
    lines += [] if here else [f"  then     {data['then']}"]
    return [*lines, *(f"  ask      {one['what']}: {one['command']}" for one in data["with_a_persons_word"])]


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
    return safe_line(" · ".join(parts))


def _shown(stages: tuple[StageView, ...]) -> tuple[StageView, ...]:
    """All stages of a short chain; of a long one those around the one at work."""
    if len(stages) <= SHOWN_STAGES:
        return stages
    at = next((index for index, stage in enumerate(stages) if stage.state is not StageState.DONE), len(stages))
    return stages[max(0, at - 5) : at + 6]


def _stage_line(stage: StageView, view: RunView) -> str:
    parts = [f"  {state_word(stage, view):<12} {stage.name}"]
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
        return f"alive, {pid}, {beat}" + (" (LATE: the runner itself is stuck or stopped)" if is_late(view) else "")
    if view.stage_alive:
        if view.keeper_alive:
            return f"gone; stage {view.stage_alive} lives on and continues the chain when it ends"
        return f"gone, and so is the keeper of stage {view.stage_alive}, which lives on; `onbox resume` takes over"
    return "none" if view.end else "none, and the chain has not ended: interrupted"
