"""What changed since a stage ran, its code and what it left: told before anything is skipped or resumed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.artifacts.presence import lost_results
from onbox.chain.state.replay import replay
from onbox.chain.state.slots import read_marker
from onbox.chain.state.stage_code import find_code_changes
from onbox.commands.launch.say import say_before_start
from onbox.commands.shared.typed_command import typed_command
from onbox.contract.events import parse_events
from onbox.contract.exits import Exit
from onbox.contract.markers import Marker
from onbox.contract.runfile import FrozenStage
from onbox.errors import Trouble
from onbox.model.manifest import REFUSE, folder_of
from onbox.outside import safe_line
from onbox.system.journal import read_lines

if TYPE_CHECKING:
    from collections.abc import Collection

    from onbox.chain.launch import Definition
    from onbox.chain.state.stage_code import CodeChange
    from onbox.cli.command import Options

SHOWN = 20


def tell_changed_results(args: Options, definition: Definition) -> None:
    """Results of a stage that is skipped that are not as it left them, though enough of them are."""
    place, skipped = definition.place, {*args.accept_done, *args.redo}
    lines = []
    for stage, _ in definition.stages:
        marker = read_marker(place.paths.done(stage.name)) if stage.artifacts and stage.name not in skipped else None
        if isinstance(marker, Marker) and place.project is not None:
            lost = lost_results(stage, folder_of(place.project, stage), marker)
            lines += [f"stage {stage.name} is DONE, but {text}" for text in lost.changed]
    if lines:
        told = [safe_line(line) for line in lines[:SHOWN]]
        say_before_start(args, {"event": "results_changed", "results": told}, "\n".join(told))


def code_changes(definition: Definition, redo: Collection[str] = ()) -> list[CodeChange]:
    """Of the stages that would be skipped or resumed, those that ran with other code. redo: stages that run anew."""
    if not os.path.exists(definition.paths.journal):
        return []
    from onbox.chain.command.code_identity import look_at_git  # noqa: PLC0415 - subprocess, before the first stage

    history = replay(parse_events(read_lines(definition.paths.journal)))
    frozen = [FrozenStage(one, print_, at) for at, (one, print_) in enumerate(definition.stages, start=1)]
    git = look_at_git(str(definition.head["project"]))
    return list(find_code_changes(definition.place, frozen, history, git, redo))[:SHOWN]


def tell_code_changes(args: Options, definition: Definition) -> None:
    """Raises Trouble where `[run] code_changed` refuses and nobody has said --accept-code."""
    found = code_changes(definition, args.redo)
    if not found:
        return
    lines = []
    for change in found:
        lines.append(f"stage {change.stage}: the code has changed since {change.since}")
        lines += [f"  {text}" for text in change.differences]
    text = "\n".join(map(safe_line, lines))
    if definition.head.get("code_changed") == REFUSE and not args.accept_code:
        typed = typed_command(args, definition.paths)
        redo = [word for change in found for word in ("--redo", change.stage)]
        ways = (
            f"  continue with today's code:  {typed.again('--accept-code')}\n"
            f"  run it again:                {typed.again(*redo)}"
        )
        raise Trouble(Exit.CONFIG, f"nothing was started ([run] code_changed)\n{text}\n{ways}")
    data = [{**change._asdict(), "differences": [safe_line(one) for one in change.differences]} for change in found]
    say_before_start(args, {"event": "code_changed", "stages": data}, text)
