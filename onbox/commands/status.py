"""`onbox status` and `onbox runs`: what is, from the disk and the kernel. Reading changes nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onbox.chain.run_status import RunView, look_at_run
from onbox.cli.command import command, config_option, json_option
from onbox.commands.shared.arguments import run_argument
from onbox.commands.shared.project import existing_run, how_to_start, load_project_to_read, run_names
from onbox.commands.show.status_data import as_data
from onbox.commands.show.status_text import render_status
from onbox.contract.exits import Exit
from onbox.contract.states import RunState, StageState
from onbox.errors import Trouble

if TYPE_CHECKING:
    from onbox.chain.jobs.job_view import JobView
    from onbox.cli.command import Options
    from onbox.contract.paths import RunPaths

STATUS_EXAMPLES = """\
examples:
  onbox status                  stages, markers, last log line, next command
  onbox status --json | jq .state
"""
RUNS_EXAMPLES = """\
example:
  onbox runs                    every run of this project, one line each
"""


def _look(paths: RunPaths) -> RunView:
    try:
        view = look_at_run(paths)
    except ValueError as error:
        raise Trouble(Exit.CONFIG, f"{paths.manifest} is damaged: {error}") from error
    if view is None:
        raise Trouble(Exit.USAGE, f"there is no run at {paths.root}")
    return view


@command(STATUS_EXAMPLES)
@run_argument
@config_option
@json_option
def run_status(args: Options) -> int:
    paths = existing_run(load_project_to_read(args.config), args.run)
    view, found = _with_engine(paths, _look(paths))
    data = as_data(paths, view, found)
    print(json.dumps(data, indent=2) if args.json else render_status(view, data))
    return Exit.DONE


def _with_engine(paths: RunPaths, view: RunView) -> tuple[RunView, JobView | None]:
    """The view with the word of the engine that the run was handed to, and the jobs; None: it has none."""
    if not isinstance(view.head.data.get("backend"), dict):
        return view, None
    from onbox.commands.engine.view import look_with_engine  # noqa: PLC0415 - only for a run on an engine

    found = look_with_engine(paths, view)
    return (view, None) if found is None else (found.view, found)


@command(RUNS_EXAMPLES)
@config_option
@json_option
def run_runs(args: Options) -> int:
    project = load_project_to_read(args.config)
    rows = []
    for name in run_names(project.state_dir):
        paths = project.paths(name)
        try:
            data = as_data(paths, *_with_engine(paths, _look(paths)))
        except Trouble as trouble:
            data = {"run": name, "state": RunState.UNKNOWN.value, "reason": str(trouble), "stages": []}
        rows.append(data)
    if args.json:
        print(json.dumps({"schema": 1, "state_dir": project.state_dir, "runs": rows}, indent=2))
    elif not rows:
        print(f"no run in {project.state_dir} yet; start one: {how_to_start(project)}")
    for data in [] if args.json else rows:
        done = sum(1 for stage in data["stages"] if stage["state"] == StageState.DONE.value)
        where = data.get("stage") or data.get("reason") or ""
        print(f"{data['run']:<24} {data['state']:<12} {done}/{len(data['stages'])} stages done  {where}")
    return Exit.DONE
