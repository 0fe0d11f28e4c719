"""What was typed to start a run, so that people are told how to type it once more."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.model.screen import whole
from onbox.runs.start_command import StartCommand

if TYPE_CHECKING:
    from onbox.chain.launch import Definition
    from onbox.cli.command import Options
    from onbox.contract.paths import RunPaths

FLAGS = ("detach", "inline", "again", "accept_code", "forget_jobs", "any_checkpoint")
VALUES = ("backend", "after_pid")
LISTS = ("accept_done", "redo")


def typed_command(args: Options, paths: RunPaths) -> StartCommand:
    """The whole `onbox chain` or `onbox resume` that was typed, without --recheck: that starts nothing."""
    typed = vars(args)
    options = [f"--{name.replace('_', '-')}" for name in FLAGS if typed.get(name)]
    for name in VALUES:
        options += [f"--{name.replace('_', '-')}", str(typed[name])] if typed.get(name) is not None else []
    options += ["--after-log", *typed["after_log"]] if typed.get("after_log") else []
    for name in LISTS:
        if name == "redo" and typed.get("again"):
            continue  # --again says it of every stage
        options += [word for stage in typed[name] for word in (f"--{name.replace('_', '-')}", stage)]
    resumes = "stages" not in typed
    stages = () if resumes else tuple(args.stages)
    return StartCommand(os.path.basename(paths.root), stages, tuple(options), args.config, resumes)


def already_done_text(definition: Definition, typed: StartCommand) -> str:
    """That nothing is to be done, and how all of it, or a part, is done again."""
    names = definition.names
    head = f"all {len(names)} stages are" if len(names) > 1 else f"stage {names[0]} is"
    again = typed.again("--redo", names[0]) if typed.resumes else typed.again("--again")
    lines = [f"{head} done already", *whole("markers", definition.paths.markers), *whole("again", again)]
    lines += whole("or one", typed.resume("--redo", names[-1])) if len(names) > 1 else []
    return "\n".join(lines)
