"""What machines read: one JSON document, one answer as Nagios plugins give it, and the exit code of all. Pure."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from onbox.contract.readings import observed, plain
from onbox.named_tuple import NamedTuple
from patrol.decide.box_scene import gpu_percent, share
from patrol.decide.phrases import clean, percent_text, sound
from patrol.report.lines import details, name_of
from patrol.snapshot import BoxLook
from patrol.verdict import Finding, Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patrol.snapshot import RunLook, Snapshot

SCHEMA = 1
PERFORMANCE_BYTES = 6000  # Nagios reads 8,192 bytes of a plugin, its text included; half an item is worth nothing


class ReportEntry(NamedTuple):
    """What is told of one run, or of a box without runs: the verdict, and the look that it rests on; None: none."""

    verdict: Verdict
    look: RunLook | None
    snapshot: Snapshot | None


def document(entries: Sequence[ReportEntry], now: float, severity: Severity) -> dict[str, Any]:
    """Everything of one tick, ready for JSON; fields are only ever added within a schema. severity: of the whole."""
    return {
        "schema": SCHEMA,
        "at": utc(now),
        "severity": severity.name.lower(),
        "exit_code": int(severity),
        "runs": [_run(entry, now) for entry in entries],
    }


def _run(entry: ReportEntry, now: float) -> dict[str, Any]:
    verdict, look = entry.verdict, entry.look
    until = verdict.silenced_until
    return {
        "box": verdict.box,
        "run": verdict.run or None,
        "state": verdict.state.value,
        "severity": verdict.severity.name.lower(),
        "severity_told": verdict.severity_told(now).name.lower(),
        **_finding(verdict.finding),
        "further": [{**_finding(one), "severity": one.severity.name.lower()} for one in verdict.further],
        "since": utc(verdict.since),
        "since_seconds": round(max(0.0, now - verdict.since), 3),
        "step": verdict.step,
        "then": verdict.then,
        "never": verdict.never,
        "with_a_persons_word": [{"what": what, "command": command} for what, command in verdict.asked],
        "changed": verdict.changed,
        "soft": verdict.soft,
        "acknowledged": verdict.acknowledged,
        "acknowledged_by": verdict.acknowledged_by or None,
        "last_known": verdict.last_known or None,
        "silenced_until": None if until is None else utc(until),
        "may_resume": verdict.may_resume,
        "managed": look.managed if look else None,
        "look": _finite(plain(look)) if look else None,
        "resources": _resources(entry.snapshot),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "say": finding.say,
        "remedy": finding.remedy or None,
        "next_command": finding.command or None,
    }


def _resources(snapshot: Snapshot | None) -> dict[str, Any] | None:
    box = _box(snapshot)
    if box is None:
        return None
    fields = ("identity", "memory", "pressure", "disks", "gpus", "kernel_faults", "sections_unseen")
    return {name: _finite(plain(getattr(box, name))) for name in fields}


def _finite(value: Any) -> Any:
    """JSON has no word for NaN and infinity: null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value


def _box(snapshot: Snapshot | None) -> BoxLook | None:
    return snapshot if isinstance(snapshot, BoxLook) else None


def utc(at: float) -> str:
    """As the other records write times; a time beyond the calendar is not a reason to fail."""
    try:
        return datetime.fromtimestamp(at, tz=timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return "unknown"


def nagios(entries: Sequence[ReportEntry], now: float, severity: Severity) -> list[str]:
    """Status line with performance data, then long text, as the Monitoring Plugins guidelines have it.

    `|` separates the data from the text, so none may stand in the text. severity: of the whole; what a person has
    acknowledged or silenced counts as ok.
    """
    verdicts = [entry.verdict for entry in entries]
    bad = [verdict for verdict in verdicts if verdict.severity_told(now) is not Severity.OK]
    shown = sorted(bad, key=lambda verdict: -verdict.severity.rank)[:3]
    parts = [f"{name_of(verdict, 24)} {_worst_rule(verdict)}" for verdict in shown]
    summary = f"{len(verdicts) - len(bad)} of {len(verdicts)} ok"
    text = "; ".join([*[*parts, f"and {len(bad) - 3} more"][: len(parts) + (len(bad) > 3)], summary])
    data = " ".join(_all_performance(entries))
    first = f"PATROL {severity.name} - {_no_bar(text)}" + (f" | {data}" if data else "")
    long = [_no_bar(line) for entry in entries for line in details(entry.verdict, entry.look, now)]
    return [first, *long]


def _worst_rule(verdict: Verdict) -> str:
    found = max((verdict.finding, *verdict.further), key=lambda finding: finding.severity.rank)
    return f"{found.rule}: {clean(found.say, 80)}"


def _no_bar(text: str) -> str:
    return text.replace("|", "¦")


def _all_performance(entries: Sequence[ReportEntry]) -> list[str]:
    """Of each run, and once of each box; as much of it as Nagios takes."""
    found = [item for entry in entries for item in _performance(entry)]
    boxes = {entry.verdict.box: box for entry in entries if (box := _box(entry.snapshot)) is not None}
    found += [item for name, box in boxes.items() for item in _box_performance(name, box)]
    sizes = accumulate(len(item.encode()) + 1 for item in found)
    return [item for item, size in zip(found, sizes, strict=True) if size <= PERFORMANCE_BYTES]


def _label(name: str) -> str:
    return clean(name, 100).replace("'", "''").replace("=", "_").replace("|", "¦")


def _box_performance(name: str, box: BoxLook) -> list[str]:
    shares = [(label, value) for label, value in _shares(box) if value is not None]
    return [f"'{_label(name)} {label}'={percent_text(value)};;;0;100" for label, value in shares]


def _performance(entry: ReportEntry) -> list[str]:
    """`'label'=value[unit];[warn];[crit];[min];[max]`; nothing for what was not seen."""
    verdict, look = entry.verdict, entry.look
    name = _label(name_of(verdict))
    found: list[str] = []
    progress = observed(look.progress) if look else None
    current = sound(progress).current if progress else None
    if progress is not None and current is not None:
        maximum = "" if progress.exact_max is None else str(progress.exact_max)
        found.append(f"'{name} progress'={current:.12g};;;0;{maximum}")
    log = observed(look.log) if look else None
    if log is not None and math.isfinite(log.written_age_seconds):
        found.append(f"'{name} log_age'={max(0, round(log.written_age_seconds))}s;;;0;")
    return found


def _shares(box: BoxLook) -> list[tuple[str, float | None]]:
    memory, disks = observed(box.memory), observed(box.disks) or ()
    used = [share(disk.bytes_total - disk.bytes_free, disk.bytes_total) for disk in disks]
    inodes = [share(observed(disk.inodes_free), observed(disk.inodes_total)) for disk in disks]
    return [
        ("memory", share(observed(memory.held_bytes), observed(memory.limit_bytes)) if memory else None),
        ("disk", max((one for one in used if one is not None), default=None)),
        ("inodes", max((100.0 - one for one in inodes if one is not None), default=None)),
        ("gpu", gpu_percent(box)),
    ]
