"""Code that changed since a stage ran: told before anything is skipped or resumed, or refused where that is wished."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.code import find_code_changes
from onbox.chain.identity import look_at_git
from onbox.chain.replay import replay
from onbox.commands.follow import say
from onbox.contract.events import parse_events
from onbox.contract.exits import Exit
from onbox.contract.manifest import REFUSE
from onbox.contract.runfile import FrozenStage
from onbox.errors import Trouble
from onbox.outside import safe_line
from onbox.system.journal import read_lines

if TYPE_CHECKING:
    import argparse

    from onbox.chain.launch import Definition

SHOWN = 20


def tell_code_changes(args: argparse.Namespace, definition: Definition) -> None:
    """Raises Trouble where `[run] code_changed` refuses and nobody has said --accept-code."""
    if not os.path.exists(definition.paths.journal):
        return
    history = replay(parse_events(read_lines(definition.paths.journal)))
    frozen = [FrozenStage(one, print_, at) for at, (one, print_) in enumerate(definition.stages, start=1)]
    git = look_at_git(str(definition.head["project"]))
    found = list(find_code_changes(definition.place, frozen, history, git, args.redo))[:SHOWN]
    if not found:
        return
    lines = []
    for change in found:
        lines.append(f"stage {change.stage}: the code has changed since {change.since}")
        lines += [f"  {text}" for text in change.differences]
    text = "\n".join(map(safe_line, lines))
    if definition.head.get("code_changed") == REFUSE and not args.accept_code:
        names = " ".join(f"--redo {change.stage}" for change in found)
        ways = f"  go on with the code of now:  --accept-code\n  run it again:                {names}"
        raise Trouble(Exit.CONFIG, f"nothing was started ([run] code_changed)\n{text}\n{ways}")
    data = [{**change._asdict(), "differences": [safe_line(one) for one in change.differences]} for change in found]
    say(args, {"event": "code_changed", "stages": data}, text)
