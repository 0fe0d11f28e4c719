"""Ask a failed stage's success gate again, by the conditions of now. Nothing is run; the caller holds the lock."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.gates.ask_success_gate import ask_gate, ended_from_record, picture_of_added
from onbox.chain.observe.progress_watch import ProgressWatch
from onbox.chain.state.plan import Action, plan_stage
from onbox.chain.state.replay import replay
from onbox.chain.state.slots import land_marker, reserve_slot
from onbox.chain.state.stage_evidence import look_at_stage
from onbox.chain.state.stage_records import about_success, last_metric, shown_command
from onbox.contract.events import Event, parse_events, render_event
from onbox.model.manifest import folder_of
from onbox.named_tuple import NamedTuple
from onbox.system.clock import utc_text, wall
from onbox.system.files import remove_file
from onbox.system.journal import Journal, read_lines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onbox.chain.gates.success_gate import GateFinding
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import FrozenStage

# What the DONE of an attempt that was first judged FAILED keeps of that verdict.
_KEPT = (
    "run_id", "stage", "attempt", "fingerprint", "cmd", "cwd", "env", "exit_code", "started_at", "ended_at",
    "duration_seconds", "code", "resources", "tracker", "progress",
)  # fmt: skip


class Rechecked(NamedTuple):
    """findings: what still does not hold; empty: it is DONE now. marker: its DONE then."""

    findings: tuple[GateFinding, ...]
    marker: Mapping[str, Any]


class NothingToJudge(Exception):
    """The stage has no attempt that was judged FAILED. The text says what it is instead."""


def recheck(paths: RunPaths, head: Mapping[str, Any], frozen: FrozenStage) -> Rechecked:
    """The verdict on the stage's failed attempt, asked anew. head: of run.json, as it would be frozen now. Raises
    NothingToJudge, StateNotWritten, OSError.
    """
    stage = frozen.stage
    history = replay(parse_events(read_lines(paths.journal)))
    known, row = history.of(stage.name), plan_stage(look_at_stage(paths, frozen, history, chain_open=False))
    if known.last != Event.STAGE_FAILED or row.action is not Action.START or known.ended is None:
        raise NothingToJudge(f"stage {stage.name} has no failed attempt to judge again: {row.action.value}")
    if known.before is None or (known.started or {}).get("fingerprint") != frozen.fingerprint:
        raise NothingToJudge(f"stage {stage.name} has another command now than the attempt that failed")
    folder = folder_of(str(head["project"]), stage)
    before = {**known.before, **picture_of_added(stage, folder, known)}
    log = paths.log(stage.name, known.attempts)
    progress = ProgressWatch(head.get("progress") or {})
    progress.begin(log)
    ended = ended_from_record(known.ended)
    verdict = ask_gate(stage, folder, log, known._replace(before=before), ended, progress)
    if verdict.findings:
        return Rechecked(verdict.findings, {})
    at, failed = utc_text(wall()), known.started or {}
    data = {key: failed[key] for key in _KEPT if failed.get(key) is not None}
    data["cmd"] = shown_command(stage.cmd)
    data |= {**about_success(verdict), **last_metric(failed), "rechecked_at": at}
    _land(paths, stage.name, known.attempts, data)
    return Rechecked((), data)


def _land(paths: RunPaths, stage: str, attempt: int, data: dict[str, Any]) -> None:
    """The place of the marker, the journal, the marker: a kill in between leaves what a chain's next start finishes."""
    os.close(reserve_slot(paths, str(data["run_id"]), stage, attempt))
    journal = Journal(paths.journal)
    try:
        journal.append(render_event({"at": utc_text(wall()), "event": Event.STAGE_DONE, **data}))
    finally:
        journal.close()
    remove_file(paths.failed(stage))
    land_marker(paths.slot(stage), paths.done(stage), data)
