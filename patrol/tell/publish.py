"""What a tick tells to other programs: metrics for Prometheus, a ping to a dead-man's switch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.system.clock import wall
from onbox.system.files import StateNotWritten
from patrol.report import textfile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from patrol.config.settings import Settings
    from patrol.judge import BoxJudged
    from patrol.verdict import Severity


def write_metrics(settings: Settings, judged: Sequence[BoxJudged], began: float, now: float) -> list[str]:
    """Trouble, if there was any."""
    path = os.path.join(settings.folder, os.path.expanduser(settings.patrol.textfile or ""))
    if why := textfile.why_not_ours(path):
        return [f"the metrics were not written: {path} {why}; move it away, or name another file"]
    samples = [
        textfile.Sample("patrol_tick_timestamp_seconds", (), now),
        textfile.Sample("patrol_tick_duration_seconds", (), max(0.0, wall() - began)),
    ]
    for box in judged:
        samples += textfile.box_samples(box.box.name, box.snapshot, box.after)
        for run in box.runs:
            samples += textfile.run_samples(run.verdict, run.look, now)
    try:
        textfile.write(path, textfile.render(samples))
    except StateNotWritten as error:
        return [f"the metrics could not be written: {error}"]
    return []


def ping_watcher(
    settings: Settings, judged: Sequence[BoxJudged], severity: Severity, environ: Mapping[str, str]
) -> list[str]:
    """Trouble, if there was any."""
    from patrol.tell.ping import ping  # noqa: PLC0415 - what sends is loaded only here

    lines = [run.line for box in judged for run in box.runs]
    body = "\n".join([f"patrol {severity.name}", *lines])
    trouble = ping(settings.patrol.ping or "", environ, settings.folder, body)
    return [] if trouble is None else [trouble]
