"""What `onbox status` tells of a run, as lines for people. Pure but for the clock.

By default what matters, in 80 columns; `wide`: all of it, each on one line of whatever length.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.commands.show.status_data import runner_is_late
from onbox.contract.states import RunState, StageState
from onbox.model.screen import WIDTH, clip, joined, labelled, whole
from onbox.model.tracker import describe_identity, identity_from_record
from onbox.model.units import counted, format_duration, format_size
from onbox.outside import safe_line
from onbox.runs.journal import StageResult, result_words
from onbox.runs.state import shown_state
from onbox.system.clock import parse_utc, wall
from onbox.triage.evidence import NO_PROOF_RULES
from onbox.triage.short_stack import is_left_out, own_frame, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.chain.run_status import RunView

ON_YOUR_MACHINE = "on the machine that looks at this box (`patrol list` there tells its name)"
SHOWN_STAGES = 30
SHOWN_TRACKERS = 3
OLD_SAMPLE_SECONDS = 10.0
TRACEBACK_LINES = 5
PROVES = ("proof", "last")  # labels of the line that proves a failure: its traceback stands below
LONGEST_SECONDS = 1e10  # a marker that tells of more (or of NaN) was not written by us


def render_status(view: RunView, data: dict[str, Any], *, wide: bool = False) -> str:
    """The status as a person reads it. data: of `status_data.as_data`, for this view."""
    lines = [head_line(data, wide=wide)]
    for label, text, most in what_is_wrong(data):
        lines += labelled(label, text, width=None if wide else WIDTH, lines=most)
        lines += traceback_lines(data, wide=wide) if label in PROVES else []
    stages = stages_shown(data["stages"])
    lines += [_fit(_stage_line(stage, data), wide=wide) for stage in stages]
    for label, text in around(view, data, wide=wide):
        lines += labelled(label, text, width=None if wide else WIDTH, lines=2)
    lines += log_lines(data, wide=wide)
    return "\n".join([*lines, *next_lines(data, wide=wide)])


def run_line(data: Mapping[str, Any], *, wide: bool = False) -> str:
    """One run in one line of 80 columns: `digits RUNNING 1/2 train ~4600/5155 (89%) eta 1h12m · for 3h12m`."""
    if data.get("kind") == "sweep":
        return joined([f"{data['run']:<14} {shown_state(data):<11} {safe_line(data['text'])}"])
    done = sum(1 for stage in data["stages"] if stage["state"] == StageState.DONE.value)
    head = f"{data['run']:<14} {shown_state(data):<11} {done}/{len(data['stages'])}"
    at_work = next((stage for stage in data["stages"] if stage["name"] == data.get("stage")), None)
    progress = data.get("progress") if isinstance(data.get("progress"), dict) else {}
    parts = [
        " ".join(filter(None, (head, str(data.get("stage") or ""), safe_line((progress or {}).get("text") or "")))),
        _since(data),
        f"attempt {at_work['attempts']}" if at_work is not None and at_work["attempts"] > 1 else "",
        safe_line(data.get("reason") or ""),
    ]
    if not data.get("stage") and data["stages"]:
        results = [stage["result"] for stage in data["stages"] if stage["result"]]
        parts[1:1] = [result_words(StageResult(**max(results, key=lambda one: one["seconds"] or 0)))] if results else []
    return " · ".join(filter(None, parts)) if wide else joined(parts)


def _since(data: Mapping[str, Any]) -> str:
    """`for 3h12m` of one that runs; `2h05m ago` of one that ended; else when it was launched."""
    ago, took = _ago(data.get("ended_at")), data.get("elapsed_seconds")
    if ago or took is None:
        return ago
    moves = data["state"] in (RunState.RUNNING.value, RunState.STALLED.value, RunState.DEGRADED.value)
    return f"for {format_duration(took)}" if moves else f"launched {_ago(data.get('began_at'))}"


def _fit(line: str, *, wide: bool) -> str:
    return line if wide else clip(line, WIDTH)


def head_line(data: Mapping[str, Any], *, wide: bool) -> str:
    done, total = data["stages_done"], len(data["stages"])
    took = data.get("elapsed_seconds")
    over = data["state"] not in (RunState.RUNNING.value, RunState.STALLED.value, RunState.DEGRADED.value)
    parts = [
        f"run {data['run']} ({data['run_id']}): {shown_state(data)}",
        f"{done}/{total} stages done",
        "" if took is None else f"{'in' if over else 'for'} {format_duration(took)}",
        f"launch {data['launches']}" if (data.get("launches") or 0) > 1 else "",
    ]
    if not wide and len(joined(parts, 1 << 16)) > WIDTH:
        parts[0] = f"run {data['run']}: {shown_state(data)}"
    return " · ".join(filter(None, parts)) if wide else joined(parts)


def what_is_wrong(data: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """What is wrong: label, text and how many lines it may take. What shows it comes before what to do about it."""
    failure, said = data["failure"] or {}, []
    if data["reason"]:
        said.append(("reason", str(data["reason"]), 3))
    if failure:
        place = f" at {failure['where']}" if "where" in failure else ""
        sure = failure.get("confidence", "?")
        said.append(("class", f"{failure.get('failure_class')} (confidence {sure}){place}", 2))
    if "proof" in failure:
        number = failure.get("proof_line_number")
        proves = failure.get("rule") not in NO_PROOF_RULES
        where = "" if number is None else f"line {number}: "
        said.append(("proof" if proves else "last", f"{where}{failure['proof']}", 2))
    if "stacks" in failure:
        said.append(("stacks", failure["stacks"], 3))
    if failure.get("remedy"):
        said.append(("remedy", str(failure["remedy"]), 4))
    if data.get("stall"):
        said += [("stacks", data["stall"]["stacks"], 3)] if "stacks" in data["stall"] else []
        said.append(("remedy", data["stall"]["remedy"], 3))
    for found in data.get("detected") or ():
        said.append(("look", f"{found.get('detector')}: {found.get('proof')}", 2))
        said.append(("remedy", str(found.get("remedy")), 2))
    if "triage_trouble" in failure:
        said.append(("triage", str(failure["triage_trouble"]), 2))
    said += [("WARNING", str(text), 2) for text in data["warnings"][:SHOWN_STAGES]]
    if data["repeated"]:
        said.append(("again", f"{data['repeated']['says']}: change something before you resume it", 2))
    return [(label, safe_line(text), most) for label, text, most in said]


def traceback_lines(data: Mapping[str, Any], *, wide: bool) -> list[str]:
    """Its innermost frames, which are nearest to the cause, and that of the user's own code."""
    failure = data["failure"] or {}
    lines = failure.get("traceback")
    told = [safe_line(line) for line in lines] if isinstance(lines, list) else []
    own = own_frame(told, safe_line(failure.get("where") or ""))
    shown = told if wide else [*shortened(told, TRACEBACK_LINES, own)]
    shown = shown[1:] if shown and is_left_out(shown[0]) else shown
    return [_fit(f"           {line}", wide=wide) for line in shown]


def around(view: RunView, data: Mapping[str, Any], *, wide: bool) -> list[tuple[str, str]]:
    """What stands beside the stages: only what is not as it should be, and what moves."""
    said: list[tuple[str, str]] = [("job", str(line)) for line in data.get("job_lines", ())]
    usual = view.runner_alive and not (runner_is_late(view) or view.runner_frozen or view.keeper_gone or wide)
    if not usual and (view.runner_alive or not data.get("jobs")) and (wide or not view.end):
        said.append(("runner", _runner_text(view)))
    if back := data["rollback"]:
        said.append(
            ("rollback", f"to step {back['step']} by {back['by']}: {back['reason']}; a resume continues from there")
        )
    if data["waiting_for"]:
        said.append(("waiting", str(data["waiting_for"])))
    said += _tracker_lines(data["tracker_runs"])
    if data["resources"]:
        said.append(("box", _aged(data["resources"].get("at")) + resource_text(data["resources"], every=wide)))
    if wide:
        said.append(("markers", str(data["markers"])))
    if data["notifications"].get("summary"):
        said.append(("notify", str(data["notifications"]["summary"])))
    if view.unreadable_lines:
        said.append(("journal", f"{counted(view.unreadable_lines, 'damaged line')} passed over"))
    return said


def log_lines(data: Mapping[str, Any], *, wide: bool) -> list[str]:
    log = data["log"]
    if not log:
        return []
    about = f"{format_size(log['bytes'])} · {format_duration(log['age_seconds'])} ago"
    lines = whole("log", f"{log['path'] if wide else _near(log['path'])} · {about}")
    if log["last_line"]:
        lines += labelled("last", log["last_line"], width=None if wide else WIDTH, lines=1)
    return lines


def _near(path: str) -> str:
    """A path as it is typed in this directory."""
    here = os.path.join(os.getcwd(), "")
    return path[len(here) :] if path.startswith(here) else path


def next_lines(data: Mapping[str, Any], *, wide: bool) -> list[str]:
    """What to type, what follows, and what only a person decides. This very status is not offered as the next step."""
    lines = step_lines(data, follow=f"onbox logs -f --run {data['run']}", width=None if wide else WIDTH)
    if command := (data.get("stall") or {}).get("stack_command"):
        lines += whole("stacks", command)
    for one in data["with_a_persons_word"]:
        lines += whole("ask", f"{one['what']}: {one['command']}")
    return lines


def step_lines(data: Mapping[str, Any], *, follow: str, width: int | None = WIDTH) -> list[str]:
    """The next step of a run or a sweep. follow: the command that shows what goes on by itself."""
    if data["next_command"] is None:
        return labelled("next", f"{ON_YOUR_MACHINE}: {data['then']}", width=width)
    if data["next_command"] == f"onbox status {data['run']}":
        more = f"; follow it: {follow}" if data["step"] == "well" else ""
        return labelled("next", f"{data['then']}{more}", width=width)
    return [*whole("next", data["next_command"]), *labelled("then", data["then"], width=width)]


def _tracker_lines(runs: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The newest run at a tracker of each stage, and its drift. One of an attempt before says so."""
    newest = {run.get("stage"): run for run in runs if run.get("tracker")}
    lines = []
    for stage, run in list(newest.items())[-SHOWN_TRACKERS:]:
        identity = identity_from_record(run)
        told = describe_identity(identity) if identity is not None else "?"
        earlier = "" if run.get("of_newest_attempt", True) else f" (of attempt {run.get('attempt')}, not of this one)"
        lines.append(("tracker", f"{stage}: {told}{earlier}"))
        lines += [("", f"DRIFT: {text}") for text in run["drift"]]
    return lines


def resource_text(sample: Mapping[str, Any], *, every: bool = True) -> str:
    """A sample in one line: memory, disks, GPUs; only what was seen. `onbox stats` tells more. every: each file system;
    else the one with the least room.
    """
    parts = []
    used, limit = sample.get("memory_working_set_bytes"), sample.get("memory_limit_bytes")
    if used is not None:
        parts.append(
            f"memory {100 * used / limit:.0f}% of {format_size(limit)}" if limit else f"memory {format_size(used)}"
        )
    disks = list((sample.get("disks") or {}).items())
    for mount, (free, _, inodes_free, inodes_total) in disks if every else fullest(disks):
        inodes = f", inodes {100 - 100 * inodes_free / inodes_total:.0f}% used" if inodes_total else ""
        parts.append(f"{mount} {format_size(free)} free{inodes}")
    parts += [
        f"gpu {gpu['number']} {gpu['utilization_percent']}%"
        for gpu in sample.get("gpus") or ()
        if len(gpu) > 1 and "utilization_percent" in gpu
    ]
    parts += [f"{name}: could not look ({why})" for name, why in (sample.get("could_not_look") or {}).items()]
    return safe_line(" · ".join(parts))


def fullest(disks: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The one with the least room."""
    return sorted(disks, key=lambda one: one[1][0] / one[1][1] if one[1][1] else 1.0)[:1]


def stages_shown(stages: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """All stages of a short chain; of a long one those around the one at work."""
    if len(stages) <= SHOWN_STAGES:
        return stages
    at = next((n for n, stage in enumerate(stages) if stage["state"] != StageState.DONE.value), len(stages))
    return stages[max(0, at - 5) : at + 6]


def _stage_line(stage: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """`  running      train · ~4600/5155 (89%) eta 1h12m loss 0.41 · for 2h05m · attempt 3 · timeout in 9h55m`."""
    parts = [f"  {stage['state']:<12} {stage['name']}"]
    seconds, ago = stage["duration_seconds"], _ago(stage["ended_at"])
    if stage["result"] is not None:
        parts.append(result_words(StageResult(**stage["result"])))
    if stage["name"] == data["stage"] and isinstance(data["progress"], dict):
        parts.append(safe_line(data["progress"].get("text") or ""))
    if isinstance(seconds, int | float) and 0 <= seconds < LONGEST_SECONDS:
        parts.append(f"in {format_duration(float(seconds))}")
    if stage["elapsed_seconds"] is not None:
        parts.append(f"for {format_duration(stage['elapsed_seconds'])}")
    if stage["attempts"] > 1:
        parts.append(f"attempt {stage['attempts']}")
    if stage["timeout_left_seconds"] is not None:
        parts.append(f"timeout in {format_duration(stage['timeout_left_seconds'])}")
    return " · ".join(filter(None, [*parts, ago, stage["note"] or ""]))


def _aged(sampled_at: object) -> str:
    """How old a sample is that may no longer hold: on a full disk no newer one can be written."""
    at = parse_utc(str(sampled_at)) if sampled_at else None
    age_seconds = 0.0 if at is None else wall() - at
    return f"{format_duration(age_seconds)} ago: " if age_seconds >= OLD_SAMPLE_SECONDS else ""


def _ago(ended_at: object) -> str:
    ended = parse_utc(str(ended_at)) if ended_at else None
    return "" if ended is None else f"{format_duration(max(0.0, wall() - ended))} ago"


def _runner_text(view: RunView) -> str:
    if view.runner_alive:
        pid = f"pid {view.holder.pid} on {view.holder.host}" if view.holder else "pid not known"
        age = view.heartbeat_age_seconds
        beat = "no heartbeat yet" if age is None else f"heartbeat {format_duration(age)} ago"
        late = " (LATE: the runner itself is stuck or stopped)" if runner_is_late(view) else ""
        lost = f"; the keeper of stage {view.stage_alive} was killed, its exit code will not be known"
        if view.runner_frozen and view.holder:
            return f"FROZEN by a signal (SIGSTOP), {pid}, {beat}; it goes on after: kill -CONT {view.holder.pid}"
        return f"alive, {pid}, {beat}{late}{lost if view.keeper_gone else ''}"
    if view.stage_alive:
        if view.keeper_alive:
            unwatched = "meanwhile no stall and no timeout is noticed"
            return f"gone; stage {view.stage_alive} goes on, and when it ends the runner starts again; {unwatched}"
        goes_on = "which goes on; `onbox resume` takes over, but nobody records how it ends"
        return f"gone, and so is the keeper of stage {view.stage_alive}, {goes_on}"
    return "none" if view.end else "none, and the chain has not ended: interrupted"
