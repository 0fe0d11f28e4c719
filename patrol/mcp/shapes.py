"""What the programs say as JSON, as an answer holds it: the fields an agent needs, with a box's words fenced. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.fence import fenced
from onbox.system.clock import parse_utc, utc_text
from patrol.mcp.answers import name_of, named, plain

if TYPE_CHECKING:
    from collections.abc import Mapping


def rows_of(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def moment_of(value: object) -> str | None:
    """A time that a box wrote."""
    return value if isinstance(value, str) and parse_utc(value[:40]) is not None else None


def run_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A run in a list: as `patrol status` keeps it (with a `finding`), or as `patrol tick` tells it (flat)."""
    finding = row.get("finding") or row
    return {
        "run": name_of(row),
        "state": row.get("state"),
        "severity": row.get("severity"),
        "rule": finding.get("rule"),
        "since": time_text(row.get("since")),
        "seen_at": time_text(row.get("at")),
        "acknowledged": row.get("acknowledged"),
        "says": fenced(finding.get("say")),
        "line": fenced(row.get("line")),
        "next_command": finding.get("command") or finding.get("next_command"),
    }


def stage_row(stage: Mapping[str, Any]) -> dict[str, Any]:
    end = plain(stage.get("end"))
    keys = ("attempt", "exit_code", "took_seconds", "step", "artifact_count")
    return {
        "name": named(stage.get("name")),
        "state": named(stage.get("state")),
        "note": fenced(stage.get("note")),
        "end": {**{key: end.get(key) for key in keys}, "progress": fenced(plain(end.get("progress")))} if end else None,
    }


def flag_row(flag: Mapping[str, Any]) -> dict[str, Any]:
    """What else is the matter."""
    return {"rule": named(flag.get("rule")), "says": fenced(flag.get("says"))}


def resume_row(resume: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What a resume would go on from, what of its results is gone, and what onbox.toml says differently by now."""
    keys = ("says", "checkpoint", "missing", "changed")
    return {key: fence_all(resume.get(key)) for key in keys} if resume else None


def not_seen(facts: Mapping[str, Any]) -> list[str]:
    """Why a run could not be looked at; what is said of it is older then."""
    return [f"the run itself: {facts.get('says')}"] if facts.get("severity") == "unknown" else []


def failure_row(failure: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if not failure:
        return None
    keys = ("stage", "failure_class", "retry_allowed")
    known = {key: named(failure.get(key)) for key in keys}
    return {**known, **{key: fenced(failure.get(key)) for key in ("proof", "remedy", "where")}}


def fence_all(value: Any) -> Any:
    """Every text in it fenced."""
    if isinstance(value, str):
        return fenced(value)
    if isinstance(value, dict):
        return {key: fence_all(one) for key, one in value.items()}
    return [fence_all(one) for one in value] if isinstance(value, list) else value


def time_text(moment: object) -> str | None:
    """A time as text: the programs write seconds since the epoch, or the text itself."""
    if isinstance(moment, int | float):
        return utc_text(float(moment))
    return moment if isinstance(moment, str) else None
