"""What a tick saw, as metrics for node_exporter's textfile collector (text exposition format 0.0.4).

Only what was observed becomes a metric: an absent or unseen value is left out, never 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onbox.contract.metrics import metric_head, metric_line
from onbox.contract.readings import observed
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system import own_file
from onbox.system.files import replace_file
from patrol.decide.box_scene import share
from patrol.report.short import MOVING
from patrol.snapshot import BoxLook

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from patrol.memory.history import BoxBefore
    from patrol.snapshot import RunLook, Snapshot
    from patrol.verdict import Verdict

READABLE = 0o644  # node_exporter runs as a user of its own
_START = b"# HELP patrol_"
HELP = {
    "patrol_tick_timestamp_seconds": "When the last tick ended.",
    "patrol_tick_duration_seconds": "How long it took.",
    "patrol_box_reached": "1: the box answered at the last tick.",
    "patrol_box_last_reached_timestamp_seconds": "When the box last answered.",
    "patrol_box_memory_used_ratio": "Memory in use, of its limit.",
    "patrol_box_disk_free_bytes": "Free for a user who is not root.",
    "patrol_box_disk_size_bytes": "Size of the file system, without what it keeps for root.",
    "patrol_box_disk_inodes_free": "Free inodes, where they are counted.",
    "patrol_box_disk_inodes": "Inodes in all, where they are counted.",
    "patrol_box_gpu_utilization_ratio": "Share of time in which a kernel ran.",
    "patrol_run_severity": "0 OK (also once acknowledged or silenced), 1 warning, 2 critical, 3 unknown.",
    "patrol_run_info": "Always 1. What the run is, and the rule that says so.",
    "patrol_run_since_timestamp_seconds": "Since when the rule holds without a break.",
    "patrol_run_progress": "Current value of the run's outermost counter.",
    "patrol_run_progress_max": "Its maximum, where it is known exactly.",
    "patrol_run_loss": "The last training loss.",
    "patrol_run_expected_end_timestamp_seconds": "When it will be done at the current speed.",
    "patrol_run_log_timestamp_seconds": "When the run's log was last written.",
    "patrol_run_heartbeat_timestamp_seconds": "When the run's heartbeat was last renewed.",
    "patrol_run_undelivered_notifications": "Notifications that wait on the box.",
}


Labels = tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    name: str
    labels: Labels
    value: float


def box_samples(box: str, snapshot: Snapshot, before: BoxBefore) -> Iterator[Sample]:
    labels = (("box", box),)
    yield Sample("patrol_box_reached", labels, float(not hasattr(snapshot, "reason")))
    if before.last_reached_at is not None:
        yield Sample("patrol_box_last_reached_timestamp_seconds", labels, before.last_reached_at)
    if isinstance(snapshot, BoxLook):
        yield from _resource_samples(labels, snapshot)


def _resource_samples(labels: Labels, box: BoxLook) -> Iterator[Sample]:
    memory = observed(box.memory)
    used = share(observed(memory.held_bytes), observed(memory.limit_bytes)) if memory else None
    if used is not None:
        yield Sample("patrol_box_memory_used_ratio", labels, used / 100)
    for disk in observed(box.disks) or ():
        mine = (*labels, ("mount", safe_line(disk.mount)))
        yield Sample("patrol_box_disk_free_bytes", mine, float(disk.bytes_free))
        yield Sample("patrol_box_disk_size_bytes", mine, float(disk.bytes_total))
        free, total = observed(disk.inodes_free), observed(disk.inodes_total)
        if free is not None and total is not None:
            yield Sample("patrol_box_disk_inodes_free", mine, float(free))
            yield Sample("patrol_box_disk_inodes", mine, float(total))
    for gpu in observed(box.gpus) or ():
        busy = observed(gpu.utilization_percent)
        if busy is not None:
            yield Sample("patrol_box_gpu_utilization_ratio", (*labels, ("gpu", str(gpu.number))), busy / 100)


def run_samples(verdict: Verdict, look: RunLook | None, now: float) -> Iterator[Sample]:
    """look: None where the run could not be seen."""
    labels = (("box", verdict.box), ("run", verdict.run))
    judged = (*labels, ("state", verdict.state.value), ("rule", verdict.finding.rule))
    yield Sample("patrol_run_severity", labels, float(verdict.severity_told(now)))
    yield Sample("patrol_run_info", judged, 1.0)
    yield Sample("patrol_run_since_timestamp_seconds", labels, verdict.since)
    moves = verdict.state in MOVING
    for name, value in _numbers(look, now, moves=moves).items() if look is not None else ():
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            yield Sample(f"patrol_run_{name}", labels, float(value))


def _numbers(look: RunLook, now: float, *, moves: bool) -> Mapping[str, object]:
    """Times, not ages: the file is read again and again until the next tick, and a time stays true."""
    progress, log = observed(look.progress), observed(look.log)
    heartbeat = observed(look.heartbeat_age_seconds)
    eta = progress.eta_seconds if progress and moves else None
    return {
        "progress": progress.current if progress else None,
        "progress_max": progress.exact_max if progress else None,
        "loss": progress.loss if progress else None,
        "expected_end_timestamp_seconds": now + eta if eta is not None else None,
        "log_timestamp_seconds": now - log.written_age_seconds if log else None,
        "heartbeat_timestamp_seconds": now - heartbeat if heartbeat is not None else None,
        "undelivered_notifications": observed(look.undelivered),
    }


def render(samples: Iterable[Sample]) -> str:
    """All samples, grouped by metric as the format asks for."""
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.name, []).append(sample)
    lines: list[str] = []
    for name, group in groups.items():
        lines.append(metric_head(name, HELP[name], "gauge"))
        values = {sample.labels: sample.value for sample in group}  # twice the same: the file is refused
        lines += [metric_line(name, labels, value) for labels, value in values.items()]
    return "".join(lines)


def why_not_ours(path: str) -> str | None:
    """Why the file there must stay as it is: something else wrote it. None: it is ours, or there is none."""
    return own_file.why_not_ours(path, _START, "metrics of a patrol")


def write(path: str, text: str) -> None:
    """In one step, readable for all; node_exporter takes only names that end in `.prom`. Raises StateNotWritten."""
    replace_file(path, text.encode("utf-8"), durable=False, mode=READABLE)
