"""What differs between the definition that a run was started with and the one it is to be started with now. Pure.

Commands are shown, redacted; of environments only the names of the variables that differ: values may be secrets.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from onbox.model.manifest import stage_to_dict
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.model.manifest import Stage

SHOWN = 40


class Difference(NamedTuple):
    """One thing that is another now. what: `train cmd`, `commit`, `environment`, ...; before, after: as text, one line
    each, not redacted yet; "" where there was (or is) none.
    """

    what: str
    before: str
    after: str


class Side(NamedTuple):
    """One of the two definitions: the head of run.json as a mapping, and its stages."""

    head: Mapping[str, Any]
    stages: Sequence[Stage]


def find_differences(before: Side, now: Side) -> tuple[Difference, ...]:
    """All of them, in the order: stages, code, place, environment, settings. Equal definitions give ()."""
    found = [*_stages(before.stages, now.stages), *_code(before.head, now.head)]
    for key, what in (("host", "host"), ("project", "project"), ("onbox", "onbox")):
        found += _field(what, before.head.get(key), now.head.get(key))
    changed = _changed_names(before.head.get("environment"), now.head.get("environment"))
    found += [Difference("environment", "", ", ".join(changed))] if changed else []
    for key in ("settings", "progress", "detect", "tracker", "triage", "notify"):
        found += _field(key, before.head.get(key) or None, now.head.get(key) or None)
    return tuple(found[:SHOWN])


def _stages(before: Sequence[Stage], now: Sequence[Stage]) -> list[Difference]:
    old, new = {stage.name: stage for stage in before}, {stage.name: stage for stage in now}
    found: list[Difference] = []
    for name, stage in new.items():
        if name not in old:
            found.append(Difference(f"{name} cmd", "", command_text(stage.cmd)))
        elif stage != old[name]:
            found += _stage(old[name], stage)
    found += [Difference(f"{name} cmd", command_text(stage.cmd), "") for name, stage in old.items() if name not in new]
    if not found and list(old) != list(new):
        found.append(Difference("order of stages", " ".join(old), " ".join(new)))
    return found


def _stage(before: Stage, now: Stage) -> list[Difference]:
    name = now.name
    found = _field(f"{name} cmd", command_text(before.cmd), command_text(now.cmd))
    changed = _changed_names(dict(before.env), dict(now.env))
    found += [Difference(f"{name} env", "", ", ".join(changed))] if changed else []
    old, new = stage_to_dict(before), stage_to_dict(now)
    for key in sorted((old.keys() | new.keys()) - {"name", "cmd", "env"}):
        found += _field(f"{name} {key}", old.get(key), new.get(key))
    return found


def _code(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Difference]:
    old, new = before.get("git"), now.get("git")
    if not isinstance(old, dict) or not isinstance(new, dict) or "unknown" in old or "unknown" in new:
        return []
    if "commit" not in old and "commit" not in new:
        return []  # no work tree, then and now
    return _field("commit", commit_text(old), commit_text(new))


def commit_text(git: Mapping[str, Any]) -> str:
    """`1a2b3c4d5e6f`, `1a2b3c4d5e6f + patch 9f8e7d6c5b4a`, or why there is none."""
    if "commit" not in git:
        return str(git.get("absent") or git.get("unknown") or "not known")
    patch = str(git.get("patch_sha256") or "")[:12]
    return str(git["commit"])[:12] + (f" + patch {patch or 'not known'}" if git.get("dirty") else "")


def command_text(cmd: str | tuple[str, ...]) -> str:
    """A command as one line."""
    return (cmd if isinstance(cmd, str) else shlex.join(cmd)).replace("\n", "⏎")


def _field(what: str, before: Any, now: Any) -> list[Difference]:
    return [] if _text(before) == _text(now) else [Difference(what, _text(before), _text(now))]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _changed_names(before: Any, now: Any) -> list[str]:
    old = before if isinstance(before, dict) else {}
    new = now if isinstance(now, dict) else {}
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
