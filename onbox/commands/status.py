"""`onbox status` and `onbox runs`: what is, from the disk and the kernel. Reading changes nothing."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.chain.observe.sample_file import read_samples
from onbox.chain.run_status import RunView, look_at_run
from onbox.chain.state.frozen_run import read_head
from onbox.chain.state.run_registry import known_runs
from onbox.cli.command import command, config_option, json_option
from onbox.commands.engine.view import look_with_engine
from onbox.commands.shared.arguments import run_argument
from onbox.commands.shared.elsewhere import removed_and_alive, removed_under_it
from onbox.commands.shared.project import existing_run, load_project_to_read, no_run_yet, run_names
from onbox.commands.show.own_box import with_own_box
from onbox.commands.show.status_data import as_data
from onbox.commands.show.status_text import render_status, run_line
from onbox.contract.exits import Exit
from onbox.contract.runfile import is_sweep
from onbox.contract.states import RunState
from onbox.errors import Trouble
from onbox.model.screen import WIDTH, clip
from onbox.outside import safe_line, safe_text
from onbox.series.file import read_points
from onbox.terminal.capable import shows_tables

if TYPE_CHECKING:
    from onbox.chain.jobs.job_view import JobView
    from onbox.cli.command import Options
    from onbox.contract.paths import RunPaths
    from onbox.contract.samples import Sample
    from onbox.series.point import Point

STATUS_EXAMPLES = """\
examples:
  onbox status                  stages, markers, last log line, next command
  onbox status --json | jq .state

`~` stands before a progress that was read from the log: the work itself may be further.
"""
RUNS_EXAMPLES = """\
examples:
  onbox runs                    every run of this project, one line each
  onbox runs --all              all your runs on this machine, from any directory
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
@click.option("--wide", is_flag=True, help="everything known, on lines of any length")
@config_option
@json_option
def run_status(args: Options) -> int:
    project = load_project_to_read(args.config)
    paths = existing_run(project, args.run)
    if _is_sweep(paths):
        from onbox.commands.sweeps.show import show_status_at  # noqa: PLC0415 - only for a sweep

        return show_status_at(args, paths)
    view, found = _with_engine(paths, _look(paths))
    data = with_own_box(as_data(paths, view, found), project)
    if not args.json and not args.wide and shows_tables(sys.stdout, os.environ):
        from onbox.commands.show.status_screen import print_status  # noqa: PLC0415 - only on such a terminal

        print_status(sys.stdout, view, data, *_past(paths))
        return Exit.DONE
    print(json.dumps(data, indent=2) if args.json else render_status(view, data, wide=args.wide))
    return Exit.DONE


def _past(paths: RunPaths) -> tuple[list[Sample], list[Point]]:
    """Samples and series, for the pictures of how it went; none where they cannot be read: what is now is told."""
    try:
        return read_samples(paths.samples), read_points(paths.series)
    except OSError:
        return [], []


def _is_sweep(paths: RunPaths) -> bool:
    try:
        head = read_head(paths)
    except ValueError:
        return False  # damaged: told by the look at it
    return head is not None and is_sweep(head)


def _sweep_row(paths: RunPaths) -> dict[str, Any]:
    from onbox.sweep.look import look_at_sweep  # noqa: PLC0415 - only for a sweep

    return look_at_sweep(paths).data


def _with_engine(paths: RunPaths, view: RunView) -> tuple[RunView, JobView | None]:
    """The view with the word of the engine that the run was handed to, and the jobs; None: it has none."""
    if not isinstance(view.head.data.get("backend"), dict):
        return view, None

    found = look_with_engine(paths, view)
    return (view, None) if found is None else (found.view, found)


@command(RUNS_EXAMPLES)
@click.option("--all", is_flag=True, help="all your runs on this machine, from any directory")
@config_option
@json_option
def run_runs(args: Options) -> int:
    if args.all:
        return _tell_all(args)
    project = load_project_to_read(args.config)
    rows = [_row(project.paths(name)) for name in run_names(project.state_dir)]
    none = None if rows else no_run_yet(project)
    if none is not None and none.exit_code is Exit.ANOTHER_RUNNER:
        raise none  # alive out of sight: an empty list would say that nothing runs
    for root, pids in removed_and_alive(project.state_dir).items():
        print(f"onbox: note: {safe_text(removed_under_it(root, pids))}", file=sys.stderr)
    if args.json:
        print(json.dumps({"schema": 1, "state_dir": project.state_dir, "runs": rows}, indent=2))
    elif none is not None:
        print(none)
        print("in other projects: onbox runs --all")
    else:
        _print_runs(rows)
    return Exit.DONE


def _tell_all(args: Options) -> int:
    """By project, each with the directory that its commands are typed in."""
    rows = [_row(paths) for paths in known_runs(os.environ)]
    if args.json:
        print(json.dumps({"schema": 1, "runs": rows}, indent=2))
        return Exit.DONE
    if not rows:
        print("no run of this user is known on this machine; start one: onbox chain 'train=python train.py'")
    for project in dict.fromkeys(data["project"] for data in rows):
        print(f"{safe_line(project)}:", flush=True)
        of_project = [data for data in rows if data["project"] == project]
        _print_runs(of_project, "  ")
    return Exit.DONE


def _print_runs(rows: list[dict[str, Any]], indent: str = "") -> None:
    if not shows_tables(sys.stdout, os.environ):
        print("\n".join(clip(f"{indent}{run_line(data)}", WIDTH) for data in rows))
        return
    from onbox.commands.show.status_screen import print_runs  # noqa: PLC0415 - rich: 20 ms

    print_runs(sys.stdout, rows, indent)


def _row(paths: RunPaths) -> dict[str, Any]:
    try:
        if _is_sweep(paths):
            return {"project": os.path.dirname(paths.root), "stages": [], **_sweep_row(paths)}
        return as_data(paths, *_with_engine(paths, _look(paths)))
    except (Trouble, OSError) as trouble:
        name, above = os.path.basename(paths.root), os.path.dirname(paths.root)
        told = {"run": name, "state": RunState.UNKNOWN.value, "reason": str(trouble), "stages": []}
        return {**told, "project": above, "state_dir": paths.root}
