"""What a tick tells to other programs: metrics for Prometheus, a ping to a dead-man's switch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.config.trust_keys import hash_of
from onbox.contract.notices import Notice
from onbox.notify.signing import BadSecret
from onbox.notify.targets import NotSet, resolve_target
from onbox.notify.types import Outcome, Unusable
from onbox.system.clock import utc_text, wall
from onbox.system.files import StateNotWritten
from onbox.trust import not_accepted
from patrol.memory.rows import Act, MemoryTrouble
from patrol.report import textfile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.contract.notify_targets import Target
    from patrol.config.settings import Settings
    from patrol.judge import BoxJudged
    from patrol.memory.store import Memory
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


# -- keys that nobody accepted


def tell_not_accepted(settings: Settings, memory: Memory, environ: Mapping[str, str]) -> list[str]:
    """Say once to whom [notify] names that a timer meets keys which nobody has accepted; trouble, if there was any."""
    troubles = []
    now, subject = wall(), hash_of(settings.withheld)
    for target in settings.config.notify.targets:
        about = f"{subject}>{target.name}"
        try:
            if NEWS not in target.on or about in memory.subjects(NOT_ACCEPTED):
                continue
            if trouble := _try_to_tell(target, _notice(settings, now), settings.folder, environ):
                troubles.append(f"{target.name} was not told: {trouble}")
            else:
                memory.note_act(Act(now, "", "", NOT_ACCEPTED, about, "told", target.name))
        except (MemoryTrouble, StateNotWritten) as error:
            troubles.append(f"{target.name} was not told, as it would be told at every tick without a memory: {error}")
    return troubles


def _try_to_tell(target: Target, notice: Notice, folder: str, environ: Mapping[str, str]) -> str:
    """Why it was not told; "": it was."""
    from onbox.notify.send.worker import try_once  # noqa: PLC0415

    try:
        verdict = try_once(notice, resolve_target(target, environ, folder), TELL_SECONDS)
    except (NotSet, Unusable, BadSecret) as problem:
        return str(problem)
    return "" if verdict.outcome is Outcome.DELIVERED else verdict.reason


NEWS, NOT_ACCEPTED, TELL_SECONDS = "gate_refused", "not-accepted", 10.0


def _notice(settings: Settings, now: float) -> Notice:
    return Notice(
        id=f"msg_trust_{os.urandom(8).hex()}",
        at=utc_text(now),
        event=NEWS,
        state="not accepted",
        run=settings.config.run_name,
        run_id="",
        project=settings.folder,
        host=os.uname().nodename,
        reason=not_accepted(settings.config_path or settings.folder, settings.withheld),
        next_command="onbox trust",
    )
