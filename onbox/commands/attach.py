"""`onbox attach`: watch a run that is at work. Nothing that is typed there can stop it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from onbox.chain.run_status import look_at_run
from onbox.chain.state.frozen_run import read_head
from onbox.cli.command import command, config_option
from onbox.commands.launch.follow import watch_holder
from onbox.commands.launch.say import say
from onbox.commands.shared.arguments import run_argument
from onbox.commands.shared.project import existing_run, load_project_to_read
from onbox.contract.exits import Exit
from onbox.contract.json_text import as_whole
from onbox.contract.states import RunState
from onbox.errors import Trouble

if TYPE_CHECKING:
    from onbox.chain.run_status import RunView
    from onbox.cli.command import Options
    from onbox.contract.paths import RunPaths

EXAMPLES = """\
examples:
  onbox attach            watch the run to its end; the exit code is its result
  onbox attach sweep-3    the run of that name

Ctrl-C and d detach, and the run goes on. `onbox stop` ends a run.
"""


@command(EXAMPLES)
@run_argument
@config_option
@click.option("--json", is_flag=True, help="journal records as JSON lines instead of narration")
def run_attach(args: Options) -> int:
    paths = existing_run(load_project_to_read(args.config), args.run)
    _refuse_engine(paths)
    view = look_at_run(paths)
    assert view is not None
    if view.holder is None:
        return _tell_rest(args, paths, view)
    if view.holder.host != os.uname().nodename:
        raise Trouble(
            Exit.ANOTHER_RUNNER, f"this run is at work on {view.holder.host}: onbox attach there, or onbox status"
        )
    return watch_holder(args, paths, view.holder)


def _refuse_engine(paths: RunPaths) -> None:
    head = read_head(paths)
    backend = head.data.get("backend") if head is not None else None
    if isinstance(backend, dict):
        text = f"this run was handed to {backend.get('name')}: onbox status shows its state, onbox logs -f follows it"
        raise Trouble(Exit.USAGE, text)


def _tell_rest(args: Options, paths: RunPaths, view: RunView) -> int:
    """No runner is at work: how the run stands, and the exit code of its end; 4 where it has none."""
    code = as_whole((view.end or {}).get("exit_code"))
    result = Exit.STOPPED if code is None or view.state is RunState.INTERRUPTED else code
    name = os.path.basename(paths.root)
    text = f"run {name} does not run: {view.state.value}; see: onbox status {name}"
    say(args, {"event": "not_at_work", "state": view.state.value, "exit_code": int(result)}, text)
    return int(result)
