"""What a tick saw, as metrics for node_exporter's textfile collector (text exposition format 0.0.4).

Only what was observed becomes a metric: an absent or unseen value is left out, never 0.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from onbox.contract.metrics import metric_head, metric_line
from onbox.contract.readings import observed
from onbox.system.files import read_file, replace_file

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
    "patrol_run_severity": "0 OK (also once acknowledged or silenced), 1 warning, 2 critical, 3 unknown.",
    "patrol_run_since_timestamp_seconds": "Since when the rule holds without a break.",
    "patrol_run_progress": "Current value of the run's outermost counter.",
    "patrol_run_progress_max": "Its maximum, where it is known exactly.",
    "patrol_run_loss": "The last training loss.",
    "patrol_run_log_age_seconds": "Since the last write into the run's log.",
    "patrol_run_heartbeat_age_seconds": "Age of the run's heartbeat, by the box's clock.",
    "patrol_run_undelivered": "Notifications that wait on the box.",
}


class Sample(NamedTuple):
    name: str
    labels: tuple[tuple[str, str], ...]
    value: float


def box_samples(box: str, snapshot: Snapshot, before: BoxBefore) -> Iterator[Sample]:
    labels = (("box", box),)
    yield Sample("patrol_box_reached", labels, float(not hasattr(snapshot, "reason")))
    if before.last_reached_at is not None:
        yield Sample("patrol_box_last_reached_timestamp_seconds", labels, before.last_reached_at)


def run_samples(verdict: Verdict, look: RunLook | None, now: float) -> Iterator[Sample]:
    """look: None where the run could not be seen."""
    labels = (("box", verdict.box), ("run", verdict.run))
    judged = (*labels, ("state", verdict.state.value), ("rule", verdict.finding.rule))
    yield Sample("patrol_run_severity", judged, float(verdict.severity_told(now)))
    yield Sample("patrol_run_since_timestamp_seconds", labels, verdict.since)
    for name, value in _numbers(look).items() if look is not None else ():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield Sample(f"patrol_run_{name}", labels, float(value))


def _numbers(look: RunLook) -> Mapping[str, object]:
    progress, log = observed(look.progress), observed(look.log)
    return {
        "progress": progress.current if progress else None,
        "progress_max": progress.exact_max if progress else None,
        "loss": progress.loss if progress else None,
        "log_age_seconds": log.written_age_seconds if log else None,
        "heartbeat_age_seconds": observed(look.heartbeat_age_seconds),
        "undelivered": observed(look.undelivered),
    }


def render(samples: Iterable[Sample]) -> str:
    """All samples, grouped by metric as the format asks for."""
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.name, []).append(sample)
    lines: list[str] = []
    for name, group in groups.items():
        lines.append(metric_head(name, HELP[name], "gauge"))
        lines += [metric_line(name, sample.labels, sample.value) for sample in group]
    return "".join(lines)


def why_not_ours(path: str) -> str | None:
    """Why the file there must stay as it is: something else wrote it. None: it is ours, or there is none."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return "is not a file"
        start = read_file(path, len(_START)) or b""
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return None if start == _START or not start else "holds something else than metrics of a patrol"


def write(path: str, text: str) -> None:
    """In one step, readable for all; node_exporter takes only names that end in `.prom`. Raises StateNotWritten."""
    replace_file(path, text.encode("utf-8"), durable=False, mode=READABLE)
