"""Earlier results that do not fit the commands of now, shown as a readable difference with the ways on."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from onbox.chain.state.plan import Action
from onbox.outside import safe_line, safe_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.chain.state.earlier_results import Conflict, Conflicts
    from onbox.contract.differences import Difference
    from onbox.contract.paths import RunPaths
    from onbox.runs.start_command import StartCommand

SHOWN = 10


def describe_conflicts(paths: RunPaths, conflicts: Conflicts, typed: StartCommand) -> str:
    """What is in the way, stage by stage, and what may be typed about it."""
    lines = ["nothing was started: earlier results do not fit this chain"]
    for conflict in conflicts.found[:SHOWN]:
        lines += _describe(paths, conflict, typed)
    if len(conflicts.found) > SHOWN:
        lines.append(f"  … and {len(conflicts.found) - SHOWN} stages more")
    return safe_text("\n".join(lines))


def difference_lines(differences: Iterable[Difference]) -> list[str]:
    """Each as one line, or as two where both sides have something to show. The texts are redacted already."""
    lines = []
    for one in differences:
        if one.what.endswith("env") or one.what == "environment":
            lines.append(f"  ~ {one.what}: {one.after} (values are not shown)")
        else:
            lines += [f"  - {one.what}: {one.before}"] if one.before else []
            lines += [f"  + {one.what}: {one.after}"] if one.after else []
    return lines


def left_behind_lines(differences: Iterable[Difference]) -> list[str]:
    """What becomes of stages that the launch before had and this one has not: one name serves for two chains."""
    gone = [one.what.removesuffix(" cmd") for one in differences if one.what.endswith(" cmd") and not one.after]
    if not gone:
        return []
    more = f" and {len(gone) - SHOWN} more" if len(gone) > SHOWN else ""
    return [
        f"  not in this chain: {', '.join(gone[:SHOWN])}{more}; markers and logs stay, and do not count for it",
        "  to keep both chains apart, give one a name of its own: onbox chain --run NAME …",
    ]


def _describe(paths: RunPaths, conflict: Conflict, typed: StartCommand) -> list[str]:
    name = conflict.frozen.stage.name
    if conflict.action is Action.REFUSE_LIVE:
        return [f"stage {name}: a command of it is still alive; end it with `onbox stop {typed.run}`, or let it finish"]
    ways = [
        f"  keep the result:  {typed.again('--accept-done', name)}",
        f"  run it again:     {typed.again('--redo', name)}",
    ]
    if conflict.marker is None and conflict.action in (Action.REFUSE_STALE, Action.REFUSE_INVALID):
        return [f"stage {name}: {paths.done(name)} is not a marker of a finished stage: {conflict.reason}", *ways]
    if conflict.marker is None:
        return [f"stage {name}: {conflict.reason}"]
    since = f"stage {name}: DONE since {conflict.marker.data.get('ended_at', '?')}, but"
    if conflict.lost:
        return [f"{since} what it left is not as it was", *(f"  {line}" for line in conflict.lost), *ways]
    if conflict.after is not None:
        return [f"{since} stage {conflict.after} before it will run now, so this result would be older than it", *ways]
    head = f"{since} of another command"
    return [head, *_difference(dict(conflict.marker.data), _now(conflict)), *ways]


def _now(conflict: Conflict) -> dict[str, Any]:
    stage = conflict.frozen.stage
    return {"cmd": stage.cmd, "cwd": stage.cwd, "env": dict(stage.env)}


def _difference(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    lines = []
    for field in ("cmd", "cwd", "env"):
        old, new = _text(then.get(field)), _text(now[field])
        if old != new:
            label = "" if field == "cmd" else f"{field} "
            lines += [f"  - {label}{old}", f"  + {label}{new}"]
    return lines or ["  (the difference was too long to be recorded; see run.json)"]


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return safe_line(shlex.join(map(str, value)))
    if isinstance(value, dict):
        return safe_line(json.dumps(value, sort_keys=True, ensure_ascii=False))
    return safe_line(value)
