"""`onbox resume --dry-run`: what would happen, and nothing that does."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.chain.dry_run import as_data, checkpoint_words, foretell, in_words
from onbox.chain.run_room import find_short_room
from onbox.chain.run_status import NOT_JUDGED
from onbox.chain.state.plan import Action
from onbox.commands.launch.conflicts import difference_lines
from onbox.commands.shared.typed_command import typed_command
from onbox.contract.differences import Side, find_differences
from onbox.contract.exits import Exit
from onbox.contract.paths import SWEEP
from onbox.errors import Trouble
from onbox.model.screen import hanging
from onbox.outside import safe_line
from onbox.system.lock import LockUnsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.chain.dry_run import Forecast, StageForecast
    from onbox.chain.state.stage_code import CodeChange
    from onbox.cli.command import Options
    from onbox.config.tables.record import Contract
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import FrozenStage, RunHead
    from onbox.model.manifest import Stage

INDENT = 15  # columns, behind a label
SHOWN = 20
_CODES = {"refuse": Exit.CONFIG}
# What the plan's words are where a runner lives: the next step is its own.
_WITH_A_RUNNER = {
    Action.ADOPT: "is alive",
    Action.JUDGE: NOT_JUDGED,
    Action.RESTART: "was cut off; its runner has yet to see that",
    Action.START_AGAIN: "is about to start",
    Action.LAND: "succeeded; its runner has yet to put its marker in place",
    Action.FINISH_FAILURE: "failed; its runner has yet to record the chain's end",
    Action.RETRY: "failed; its runner is about to start it again",
}


def _config_changes(stages: Sequence[FrozenStage], configured: Sequence[Stage]) -> list[str]:
    """What onbox.toml says of the frozen stages that is another thing now, as lines."""
    now = {stage.name: stage for stage in configured}
    frozen = [one.stage for one in stages if one.stage.name in now]
    found = find_differences(Side({}, frozen), Side({}, [now[stage.name] for stage in frozen]))
    return [safe_line(line.strip()) for line in difference_lines(found)][:SHOWN]


def _code_lines(code: Sequence[CodeChange]) -> list[str]:
    lines = [f"stage {one.stage}, since {one.since}: {text}" for one in code for text in one.differences]
    return [safe_line(line) for line in lines[:SHOWN]]


def _words(stage: StageForecast, would: str) -> str:
    if would == "attach" and stage.action in _WITH_A_RUNNER:
        return _WITH_A_RUNNER[stage.action]
    if stage.name == SWEEP and would != "nothing":
        return "goes on with the open cells"
    return "failed: start again with ONBOX_RESUME=1" if stage.row == "failed-before" else stage.action.value


def tell_forecast(
    args: Options,
    paths: RunPaths,
    head: RunHead,
    stages: Sequence[FrozenStage],
    configured: Sequence[Stage],
    contract: Contract,
    code: Sequence[CodeChange],
) -> int:
    """Print it; 0 where `onbox resume` may be typed, 78 or 3 where it would refuse. configured: of onbox.toml now.
    code: what is another one than the stages ran with.
    """
    forecast = foretell(paths, head, stages, contract.origin)
    changed = _config_changes(stages, configured)
    room = find_short_room(paths, head, forecast.stage) if forecast.would in ("start", "adopt") else None
    if args.json:
        print(
            json.dumps(
                {
                    **as_data(head.run, head.run_id, forecast),
                    "config_changed": changed,
                    "code_changed": _code_lines(code),
                    "no_room": None if room is None else safe_line(room.words),
                }
            )
        )
        return _code(forecast)
    lines = [f"run {os.path.basename(paths.root)}: {in_words(forecast)}"]
    lines += [f"  {one.name:<12} {_words(one, forecast.would)}" for one in forecast.stages[:SHOWN]]
    if len(forecast.stages) > SHOWN:
        lines.append(f"  … and {len(forecast.stages) - SHOWN} stages more")
    if forecast.stage is not None:
        lines.append(f"  checkpoint   {checkpoint_words(forecast.checkpoint)}")
    if forecast.refused or forecast.unusable:
        lines.append(f"  REFUSES      {refusal_words(forecast)}")
    lines += [f"  MISSING      {path}, which stage {stage} had written" for stage, path in forecast.missing]
    if forecast.missing:
        redo = [word for name in dict.fromkeys(stage for stage, _ in forecast.missing) for word in ("--redo", name)]
        lines.append(f"  to make it again: {typed_command(args, paths).resume(*redo)}")
    lines += [f"  onbox.toml   differs from what a resume runs: {line}" for line in changed]
    lines += [f"  code         {line}" for line in _code_lines(code)]
    if room is not None:
        lines.append(f"  NO ROOM      {room.words}: before some is freed, a resume fails at its first record")
    lines.append("  nothing was changed by this look")
    for line in lines:
        print("\n".join(hanging("", safe_line(line), INDENT)))
    return _code(forecast)


def _code(forecast: Forecast) -> int:
    return Exit.GATE_REFUSED if forecast.refused or forecast.unusable else _CODES.get(forecast.would, Exit.DONE)


def refusal_words(forecast: Forecast) -> str:
    """Why a resume is held back, and what lets it go on."""
    if not forecast.refused:
        named = "; ".join(f"{one.path}: {one.says}" for one in forecast.unusable)
        begins = "so the stage would begin at 0, or continue from one of them"
        return f"no checkpoint is whole ({named}), {begins}. Move them away, or: onbox resume --any-checkpoint"
    named = "; ".join(f"{one.path}: {one.against}" for one in forecast.refused)
    if any("onbox rollback" in one.against for one in forecast.refused):
        return f"a stage that takes the newest would continue from a rejected one: {named}"
    return f"a stage that takes the newest would go on from {named}. Move it away, or: onbox resume --any-checkpoint"


def tell_config_changes(stages: Sequence[FrozenStage], configured: Sequence[Stage]) -> None:
    """A resume takes the frozen definition; where onbox.toml says another thing now, its author should know."""
    changed = _config_changes(stages, configured)
    if changed:
        lines = ["onbox.toml differs from what this resume runs:", *(f"  {line}" for line in changed)]
        print("\n".join([*lines, "  to run what it says now: onbox chain"]), file=sys.stderr, flush=True)


def refuse_bad_checkpoints(paths: RunPaths, head: RunHead, stages: Sequence[FrozenStage], contract: Contract) -> None:
    """Raise Trouble where a resume would go on from a checkpoint that certainly is not of this run's lineage, or where
    none is whole. What cannot be looked at holds nothing back: the launch itself says so.
    """
    if not any(one.stage.gates.checkpoints or any(a.has_wildcard for a in one.stage.artifacts) for one in stages):
        return
    with suppress(OSError, LockUnsupported):
        forecast = foretell(paths, head, stages, contract.origin)
        if forecast.refused or forecast.unusable:
            raise Trouble(Exit.GATE_REFUSED, safe_line(refusal_words(forecast)))
