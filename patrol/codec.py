"""What is remembered, as JSON and back. Pure. Unknown fields are ignored, missing ones are at their default."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from onbox.contract.readings import plain
from patrol.before import Before, BoxBefore

if TYPE_CHECKING:
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
