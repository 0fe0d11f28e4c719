"""`onbox chain --recheck STAGE`: the success gate asked again about the attempt that failed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.gates.recheck import NothingToJudge, recheck
from onbox.chain.lock.lock_owner import Holder
from onbox.commands.launch.say import say
from onbox.commands.launch.start import lock_of
from onbox.contract.exits import Exit
from onbox.contract.runfile import FrozenStage
from onbox.errors import Trouble
from onbox.model.units import format_size
from onbox.outside import safe_line

if TYPE_CHECKING:
    from onbox.chain.gates.recheck import Rechecked
    from onbox.chain.launch import Definition
    from onbox.cli.command import Options
    from onbox.runs.start_command import StartCommand


def run_recheck(args: Options, definition: Definition, typed: StartCommand) -> int:
    """typed: what starts the chain. 0 if it holds now and the stage is DONE, 1 if not. Raises Trouble."""
    name, paths = args.recheck, definition.paths
    stages = {one.name: FrozenStage(one, print_, at) for at, (one, print_) in enumerate(definition.stages, start=1)}
    if name not in stages:
        raise Trouble(Exit.USAGE, f"no stage {name} in this chain; there are: {', '.join([*stages][:20])}")
    if not os.path.exists(paths.journal):
        raise Trouble(Exit.USAGE, f"there is no run at {paths.root} yet, so nothing was judged")
    lock = lock_of(paths)
    if isinstance(lock, Holder):
        raise Trouble(Exit.ANOTHER_RUNNER, f"runner pid {lock.pid} is at work: it judges by itself")
    try:
        outcome = recheck(paths, definition.head, stages[name])
    except NothingToJudge as nothing:
        raise Trouble(Exit.USAGE, str(nothing)) from nothing
    finally:
        os.close(lock.lock_fd)
    told = {"event": "rechecked", "stage": name, "done": not outcome.findings}
    say(args, {**told, "findings": [one._asdict() for one in outcome.findings]}, _text(name, outcome, typed))
    return Exit.FAILED if outcome.findings else Exit.DONE


def _text(stage: str, outcome: Rechecked, typed: StartCommand) -> str:
    if outcome.findings:
        lines = [f"stage {stage} still does not pass its gate:", *(f"  {one}" for one in outcome.findings)]
        lines.append(f"  keep its result by your own word: {typed.again('--accept-done', stage)}")
        return "\n".join(safe_line(line) for line in lines)
    count = outcome.marker.get("artifact_count") or 0
    size = format_size(int(outcome.marker.get("artifact_bytes_total") or 0))
    found = f" ({count} artifact{'' if count == 1 else 's'}, {size})" if count else ""
    return f"stage {stage} passes its gate now{found} and is DONE; go on with: {typed.again()}"
