"""Journal records as lines for people. Pure: one table, event to sentence. Secrets and control characters left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.contract.json_text import as_number
from onbox.contract.progress import percent_of
from onbox.model.screen import clip, labelled
from onbox.model.tracker import describe_identity, identity_from_record
from onbox.model.units import format_duration, format_size
from onbox.outside import safe_line
from onbox.terminal.marks import bar
from onbox.triage.evidence import NO_PROOF_RULES

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.events import Record

LAST_LINE_COLUMNS = 60
BAR_COLUMNS = 8
LAST_LINE_LEAST = 16  # less of it says nothing beside the progress
NEARLY_FULL_PERCENT = 85.0


def narrate(record: Record) -> str | None:
    """One line, e.g. `05:11:20 train       done     56.2s · exit 0 · 4 artifacts, 45.1 kB`; None: not worth a line.
    Below a failure its proof and its remedy.
    """
    told = tell(record)
    if told is None:
        return None
    return "\n".join([f"{safe_line(str(record.get('at', ''))[11:19])} {told}", *_below(record)])


TOLD_LATE = (
    "nothing was started: the stage had failed before, and its runner ended too early to record the run's end. "
    "Resume once more to run it again"
)


def _below(record: Record) -> list[str]:
    if record.get("told_late"):
        return labelled("note", TOLD_LATE)
    if record["event"] != Event.STAGE_FAILED:
        return []
    proves = record.get("proof") and record.get("rule") not in NO_PROOF_RULES
    label, line = ("proof", record.get("proof")) if proves else ("last", record.get("last_line"))
    remedy = f"{record.get('failure_class')}: {record.get('remedy')}"
    shown = labelled(label, safe_line(str(line)), lines=1) if line else []
    return [*shown, *labelled("remedy", safe_line(remedy))]


def tell(record: Record) -> str | None:
    """The line without its time."""
    told = parts(record)
    if told is None:
        return None
    name, state, text = told
    return safe_line(f"{name:<12} {state:<12} {text}".rstrip())


def parts(record: Record) -> tuple[str, str, str] | None:
    """Of what it is (a stage, or the chain), what happened, and the rest; not cleaned. None: not worth a line."""
    teller = _TELLERS.get(record["event"])
    if teller is None:
        return None
    name = record.get("stage") or "chain"
    return "chain" if name == "CHAIN" else str(name), *teller(record)


def _number(record: Record, field: str) -> float:
    """A number of a record; 0 where a damaged record lacks it."""
    value = record.get(field)
    return float(value) if isinstance(value, int | float) else 0.0


def _attempt(record: Record) -> str:
    text = f"attempt {record.get('attempt')}"
    return text + (", resuming" if record.get("resume") else "")


def _took(record: Record) -> str:
    seconds = record.get("duration_seconds")
    return "?" if seconds is None else format_duration(float(seconds))


def _done(record: Record) -> tuple[str, str]:
    text = f"{_took(record)} · exit {record.get('exit_code')}"
    if record.get("artifact_count"):
        plural = "" if record["artifact_count"] == 1 else "s"
        size = format_size(int(record.get("artifact_bytes_total", 0)))
        text += f" · {record['artifact_count']} artifact{plural}, {size}"
    return "done", text + "".join(f" · WARNING: {one}" for one in record.get("warnings") or ())


def _failed(record: Record) -> tuple[str, str]:
    place = f" · {record['where']}" if record.get("where") else ""
    return "FAILED", f"{record.get('reason')}{place}"


def _accepted(record: Record) -> str:
    spite = record.get("in_spite_of")
    return f"you accepted its result in spite of: {spite}" if spite else "its earlier DONE counts"


def _waiting(record: Record) -> tuple[str, str]:
    return "waiting", f"for {record.get('waiting_for')}, at most {format_duration(_number(record, 'timeout_seconds'))}"


def _retrying(record: Record) -> tuple[str, str]:
    text = f"{record.get('retry')} of {record.get('retries')} in {_number(record, 'delay_seconds'):g} s"
    return "retry", f"{text} · {record.get('failure_class')} · {record.get('reason')}"


def _tracker_run(record: Record) -> tuple[str, str]:
    identity = identity_from_record(record)
    told = describe_identity(identity) if identity is not None else "?"
    return "tracker", told + (" · as the attempt before" if record.get("again") else "")


def _chain_started(record: Record) -> tuple[str, str]:
    count = record.get("stages")
    return "started", f"{count} stage{'' if count == 1 else 's'} · runner pid {record.get('pid')}"


def _chain_done(record: Record) -> tuple[str, str]:
    count = record.get("stages")
    warnings = "".join(f" · WARNING: {one}" for one in record.get("warnings") or ())
    return "done", f"{count} of {count} stages · {_took(record)}{warnings}"


def _submitted(record: Record) -> tuple[str, str]:
    after = f" · after {', '.join(map(str, record['after']))}" if record.get("after") else ""
    return "submitted", f"{record.get('backend')} job {record.get('job_id')}{after}"


def _job_ended(record: Record) -> tuple[str, str]:
    why = f" ({record['reason']})" if record.get("reason") else ""
    return "job ended", f"{record.get('backend')} job {record.get('job_id')}: {record.get('native_state')}{why}"


def _chain_ended(state: str) -> Callable[[Record], tuple[str, str]]:
    def tell(record: Record) -> tuple[str, str]:
        return state, f"at stage {record.get('stopped_at')}: {record.get('reason')}"

    return tell


def _started(record: Record) -> tuple[str, str]:
    source = record.get("checkpoint")
    whose = ", written before this command's first attempt" if record.get("checkpoint_of_another_command") else ""
    parts = (_attempt(record), str(record.get("log")), f"from {source}{whose}" if source else "")
    return "started", " · ".join(filter(None, parts))


_TELLERS: dict[str, Callable[[Record], tuple[str, str]]] = {
    Event.CHAIN_STARTED: _chain_started,
    Event.STAGE_WAITING: _waiting,
    Event.ATTEMPT_STARTED: _started,
    Event.ATTEMPT_ADOPTED: lambda r: (
        "adopted",
        f"{_attempt(r)} · alive, " + (f"pid {r['pid']}" if r.get("pid") else "its keeper gone"),
    ),
    Event.STAGE_STALLED: lambda r: ("STALLED", f"no sign of life for {format_duration(_number(r, 'quiet_seconds'))}"),
    Event.STAGE_MOVING: lambda _: ("moving", "again"),
    Event.ROLLBACK_BEGUN: lambda r: ("rollback", f"to step {r.get('step')}, by {r.get('by')}: {r.get('reason')}"),
    Event.ROLLBACK_DONE: lambda r: ("rolled back", f"to step {r.get('step')}: {r.get('count')} checkpoints set aside"),
    Event.ROLLBACK_UNDOING: lambda r: ("undoing", f"the rollback to step {r.get('step')}, by {r.get('by')}"),
    Event.ROLLBACK_UNDONE: lambda r: ("undone", f"the rollback to step {r.get('step')}"),
    Event.DETECTED: lambda r: ("LOOK", f"{r.get('what')}: {r.get('reason')}"),
    Event.DETECTED_OVER: lambda r: ("well again", f"{r.get('reason')}"),
    Event.TRACKER_RUN: _tracker_run,
    Event.TRACKER_DRIFT: lambda r: ("DRIFT", f"{r.get('reason')}"),
    Event.STAGE_DONE: _done,
    Event.STAGE_FAILED: _failed,
    Event.STAGE_RETRYING: _retrying,
    Event.STAGE_INTERRUPTED: lambda r: ("interrupted", f"{_attempt(r)} · {r.get('reason')}"),
    Event.STAGE_REDO: lambda _: ("redo", "it runs again from the start"),
    Event.DONE_ACCEPTED: lambda r: ("accepted", _accepted(r)),
    Event.CHAIN_DONE: _chain_done,
    Event.CHAIN_FAILED: _chain_ended("FAILED"),
    Event.CHAIN_STOPPED: _chain_ended("stopped"),
    Event.CHAIN_INTERRUPTED: _chain_ended("interrupted"),
    Event.GATE_REFUSED: _chain_ended("REFUSED"),
    Event.CHAIN_HANDED_ON: lambda r: ("handed on", f"stage {r.get('stopped_at')} is done; the next one is another job"),
    Event.JOB_SUBMITTED: _submitted,
    Event.JOB_REFUSED: lambda r: ("REFUSED", f"by {r.get('backend')}: {r.get('reason')}"),
    Event.JOB_STOPPING: lambda r: ("stopping", f"{r.get('backend')} job {r.get('job_id')}"),
    Event.JOB_ENDED: _job_ended,
    Event.NOTICES_HELD: lambda r: ("held", f"notifications: {r.get('reason')}"),
}


def live_line(status: dict[str, Any], now_text: str, width: int, *, bars: bool = False) -> str:
    """The line that is renewed while a person watches: where the chain is, what is nearly full, and what the stage said
    last. bars: whether the terminal can draw them.
    """
    width = max(1, width - 1)
    name, state = str(status.get("stage") or "chain"), status.get("stage_state") or status.get("state")
    elapsed = str(status.get("elapsed") or "")
    total = status.get("stages_total", "?")
    stages = "" if total == 1 else f"{status.get('position', '?')}/{total}"
    told = status.get("progress")
    progress = told if isinstance(told, dict) and told.get("text") else {}
    text, percent = str(progress.get("text") or ""), percent_of(progress) if bars else None
    drawn = "" if percent is None else f"{bar(percent / 100, BAR_COLUMNS)} "
    ways = (
        (f"{name:<12} {state}", elapsed, stages, f"{drawn}{text}"),
        (f"{name:<12} {state}", elapsed, stages, text),
        (f"{name} {state}", elapsed, stages, text),
        (f"{name} {state}", elapsed, text),
        (f"{name} {state}", text),
    )  # the time left and the loss go before what a person knows without them
    full = _nearly_full(status.get("resources"))
    lines = [safe_line(f"{now_text} " + " · ".join(filter(None, (*way, *full)))) for way in ways]
    line = next((one for one in lines if len(one) <= width), lines[-1])
    has_room = not text or width - len(line) >= LAST_LINE_LEAST
    last = f" · {safe_line(str(status['last_line']))}" if status.get("last_line") and has_room else ""
    return clip(line + last, width)


def _nearly_full(sample: object) -> list[str]:
    """`inodes 97%`, `mem 91%`: what may end the run soon, the fullest first."""
    if not isinstance(sample, dict):
        return []
    used, limit = as_number(sample.get("memory_working_set_bytes")), as_number(sample.get("memory_limit_bytes"))
    shares = [("mem", 100 * used / limit if used is not None and limit else None)]
    rooms = sample.get("disks")
    for room in rooms.values() if isinstance(rooms, dict) else ():
        free, total = (as_number(value) for value in room[2:4])
        shares.append(("inodes", 100 - 100 * free / total if free is not None and total else None))
    full = [(share, name) for name, share in shares if share is not None and share >= NEARLY_FULL_PERCENT]
    worst = dict.fromkeys(name for _, name in sorted(full, reverse=True))
    return [f"{name} {int(max(share for share, one in full if one == name))}%" for name in worst]


def progress_line(status: dict[str, Any], now_text: str) -> str:
    """How far the stage is, as a line among those of the journal. Without a counter, what its log says last."""
    progress = status.get("progress")
    told = str(progress.get("text") or "") if isinstance(progress, dict) else ""
    if not told and status.get("last_line"):
        told = f"last line: {clip(str(status['last_line']), LAST_LINE_COLUMNS)}"
    parts = filter(None, (told, f"for {status['elapsed']}" if status.get("elapsed") else ""))
    name, state = status.get("stage") or "chain", status.get("stage_state")
    return safe_line(f"{now_text} {name:<12} {state:<12} {' · '.join(parts)}".rstrip())
