"""What is remembered, as JSON and back. Pure. Unknown fields are ignored, missing ones are at their default."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_object
from onbox.contract.progress import Progress
from onbox.contract.readings import plain
from onbox.contract.states import RunState
from onbox.logs.cursor import Cursor
from onbox.model.boxes import StopAt
from onbox.model.tracker import TrackerIdentity
from onbox.runs.journal import StageResult
from onbox.runs.room import RunRoom
from onbox.trackers.reading import TrackerRun
from onbox.trackers.trackio_db import Alert
from onbox.triage.repeats import AttemptEnd
from patrol import snapshot, verdict
from patrol.memory.history import Before, BoxBefore
from patrol.memory.typed import Amiss, from_plain

if TYPE_CHECKING:
    from patrol.snapshot import RunLook, Snapshot
    from patrol.verdict import Finding, Verdict

SCHEMA = 1


def before_to_text(before: Before | BoxBefore) -> str:
    return json.dumps({"schema": SCHEMA, **before._asdict()}, separators=(",", ":"))


def before_from_text(text: str) -> Before:
    """Raises ValueError, TypeError."""
    return Before(**_known(text, Before._fields))


def box_before_from_text(text: str) -> BoxBefore:
    """Raises ValueError, TypeError."""
    return BoxBefore(**_known(text, BoxBefore._fields))


def _known(text: str, fields: tuple[str, ...]) -> dict[str, Any]:
    return {key: _deep_tuple(value) for key, value in json.loads(text).items() if key in fields}


def _deep_tuple(value: Any) -> Any:
    return tuple(_deep_tuple(item) for item in value) if isinstance(value, list) else value


def verdict_to_dict(verdict: Verdict) -> dict[str, Any]:
    """For every `--json` and for the store: what is said of a run, with `severity` and `state` as words."""
    data: dict[str, Any] = verdict._asdict()
    data["state"] = verdict.state.value
    data["severity"] = verdict.severity.name.lower()
    data["finding"] = _finding_to_dict(verdict.finding)
    data["further"] = [_finding_to_dict(finding) for finding in verdict.further]
    return data


def verdict_to_text(verdict: Verdict) -> str:
    return json.dumps({"schema": SCHEMA, **verdict_to_dict(verdict)}, separators=(",", ":"))


def _finding_to_dict(finding: Finding) -> dict[str, Any]:
    return {**finding._asdict(), "severity": finding.severity.name.lower()}


def look_to_text(look: Any) -> str:
    """A look as JSON, for the history; what JSON has no shape for is written as text."""
    return json.dumps(plain(look), separators=(",", ":"), default=str)


# -- and back: for who reads what was kept (a tick itself never does)


def look_from_text(text: str | None) -> Snapshot | None:
    """The inverse of `look_to_text`; None for what is not a look."""
    data = parse_object(text) or {}
    name = "Unreachable" if "reason" in data else "BoxLook"
    try:
        found: Snapshot = from_plain(name, data, _kinds())
    except Amiss:
        return None
    return found


def run_look_from_data(data: object) -> RunLook | None:
    """One run of a look, from its plain data; None for what is none."""
    try:
        found: RunLook = from_plain("RunLook", data, _kinds())
    except Amiss:
        return None
    return found


def progress_from_data(data: object) -> Progress | None:
    """A progress, from its plain data; None for what is none."""
    try:
        found: Progress = from_plain("Progress", data, _kinds())
    except Amiss:
        return None
    return found


def verdict_from_text(text: str) -> Verdict | None:
    """The inverse of `verdict_to_text`; None for what is not a verdict."""
    try:
        found: Verdict = from_plain("Verdict", parse_object(text), _kinds())
    except Amiss:
        return None
    return found


@lru_cache(maxsize=1)
def _kinds() -> dict[str, type[Any]]:
    """Every class that a look or a verdict holds, by name."""
    found = (StageResult, StopAt, Progress, RunState, RunRoom, TrackerIdentity, Cursor, TrackerRun, Alert, AttemptEnd)
    ours = (one for module in (snapshot, verdict) for one in vars(module).values() if isinstance(one, type))
    return {one.__name__: one for one in (*found, *ours)}
