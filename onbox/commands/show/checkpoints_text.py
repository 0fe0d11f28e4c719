"""What `onbox checkpoints` shows, as lines for people. Pure.

80 columns; `wide`: lines of any length. What a line cannot hold is in `--json`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.model.screen import WIDTH, clip, labelled
from onbox.model.units import counted, format_duration, format_size
from onbox.outside import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SHOWN = 200
NAME_WIDTH = 34
_UNTOLD = "whole: cannot be told"  # its format says nothing of it
_HEAD = f"  {'step':>9}  {'size':>8}  {'age':>6}"


def render_checkpoints(data: Mapping[str, Any], *, wide: bool = False) -> str:
    """The table, and what follows from it. data: of `stage_checkpoints.as_data`."""
    found = data["checkpoints"]
    lines = [_title(data)]
    if found:
        width = _name_width(found, wide=wide)
        lines.append(f"{_HEAD}  {'checkpoint':<{width}}  kept because")
        lines += [_fit(_line(one, width), wide=wide) for one in found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"  … and {len(found) - SHOWN} more: onbox checkpoints --json")
    for label, text in _notes(data):
        lines += labelled(label, safe_line(text), width=None if wide else WIDTH)
    return "\n".join(lines)


def _title(data: Mapping[str, Any]) -> str:
    found = data["checkpoints"]
    size = format_size(sum(one["bytes"] for one in found))
    stages = list(dict.fromkeys(one["stage"] for one in found))
    of = f" of stage {stages[0]}" if len(stages) == 1 else ""
    return f"{data['run']}: {counted(len(found), 'checkpoint')}{of}, {size}" if found else f"{data['run']}: none yet"


def _fit(line: str, *, wide: bool) -> str:
    return line if wide else clip(line, WIDTH)


def _name_width(found: Sequence[Mapping[str, Any]], *, wide: bool) -> int:
    longest = max(len(safe_line(one["name"])) for one in found)
    if wide:
        return longest
    untold = any(_state(one).startswith(_UNTOLD) for one in found)
    return max(10, min(longest, WIDTH - len(f"{_HEAD}    {_UNTOLD};…") if untold else NAME_WIDTH))


def _line(one: Mapping[str, Any], width: int) -> str:
    mark = "*" if one["selected"] else " "
    step = "-" if one["step"] is None else str(one["step"])
    name = safe_line(one["name"])
    name = name if len(name) <= width else "…" + name[-width + 1 :]
    age = format_duration(one["age_seconds"]) if one["age_seconds"] >= 1 else "now"
    return f"{mark} {step:>9}  {format_size(one['bytes']):>8}  {age:>6}  {name:<{width}}  {_state(one)}".rstrip()


def _state(one: Mapping[str, Any]) -> str:
    """Why it is kept; before that, why nobody can go on from it."""
    kept = one["kept_because"] or "nothing"
    if one["whole"] is False:
        return safe_line(f"INCOMPLETE: {one['says']}")
    if one["against"]:
        return safe_line(f"NOT USED: {one['against']}")
    return kept if one["whole"] or one["step"] is None else f"{_UNTOLD}; {kept}"


def _rollback(one: Mapping[str, Any]) -> str:
    where = os.path.dirname(one["rejected"][0][1]) if one["rejected"] else "nowhere"
    cut_off = "" if one["state"] == "done" else "; CUT OFF: onbox rollback --finish, or --undo"
    many = counted(len(one["rejected"]), "rejected one")
    return f"to step {one['step']} by {one['by']}: {one['reason']}; {many} in {where}{cut_off}"


def _resume(chosen: Mapping[str, Any], next_stage: str | None, *, is_empty: bool) -> Iterable[tuple[str, str]]:
    """What a resume continues from. next_stage: which it would start; None: the run is done."""
    if "absent" in chosen:
        if not is_empty:
            yield (
                "resume",
                f"from nothing: {chosen['absent']}" if next_stage else f"none: the run is done; {chosen['absent']}",
            )
        return
    if "unknown" in chosen:
        yield "resume", f"not known from which: {chosen['unknown']}"
        return
    step, untold = f"step {chosen['step']}", "" if chosen["whole"] else f" ({_UNTOLD})"
    newest = f"the newest one, {step}{untold}" if untold else f"the newest whole one, {step}"
    if next_stage is None:
        yield "*", f"{newest}; the run is done: nothing is left to resume"
    elif chosen["stage"] != next_stage:
        yield "*", f"{newest}; a resume starts stage {next_stage}, which has none"
    else:
        yield "*", f"a resume continues from {step}{untold}: ONBOX_CHECKPOINT"


def _notes(data: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    yield from _resume(data["select"], data["next_stage"], is_empty=not data["checkpoints"])
    for stage in data["stages"]:
        yield from (("rollback", _rollback(one)) for one in stage["rollbacks"] if one["state"] != "undone")
        for text in stage["could_not_look"][:5]:
            yield "unseen", f"could not look at {text}"
