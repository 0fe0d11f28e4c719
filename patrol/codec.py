"""What is remembered, as JSON and back. Pure. Unknown fields are ignored, missing ones are at their default."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from onbox.contract.readings import plain
from onbox.outside import safe_text
from onbox.redact import MASK, redact
from patrol.before import Before, BoxBefore, LogPlace

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


def place_to_text(place: LogPlace, kept: str | None = None) -> str:
    """What the log's lines hold of secrets stays out of the store. kept: the text that is there now; where nothing is
    new it is the text again, and is not searched again: that takes 4 ms of a box's 10.
    """
    text = _place_to_text(place)
    if text == kept:
        return text
    reader = dict(place.reader)
    if isinstance(reader.get("window"), str):
        reader["window"] = _kept(reader["window"])
    if isinstance(reader.get("progress"), dict):  # it keeps back the last lines
        reader["progress"] = {
            key: _kept(value) if isinstance(value, str) else value for key, value in reader["progress"].items()
        }
    held = _kept(place.held.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    return _place_to_text(place._replace(reader=reader, held=held))


def _kept(text: str) -> str:
    """Text of a log, masked, and otherwise as it was: it is read on from there. Where colours hide a secret from the
    mask, they go.
    """
    masked, shown = redact(text), safe_text(text)
    return shown if shown.count(MASK) > masked.count(MASK) else masked


def _place_to_text(place: LogPlace) -> str:
    data = place._asdict() | {"held": b64encode(place.held).decode("ascii")}
    return json.dumps({"schema": SCHEMA, **data}, separators=(",", ":"))


def place_from_text(text: str) -> LogPlace:
    """Raises ValueError, TypeError, KeyError."""
    data = json.loads(text)
    device, inode, offset, before = data["cursor"]
    cursor = (int(device), int(inode), int(offset), str(before))
    return LogPlace(str(data["path"]), cursor, dict(data["reader"]), b64decode(data.get("held", "")))


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
