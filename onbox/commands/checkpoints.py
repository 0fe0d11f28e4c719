"""`onbox checkpoints`: what a run has saved, which is whole, which a resume continues from, and why each is kept."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

from onbox.chain.stage_checkpoints import as_data, look_at_run_checkpoints, selected
from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.checkpoints.keep import DEFAULT_KEEP, LEAST_KEEP, Retention
from onbox.cli.amounts import WholeNumber
from onbox.cli.command import argument, command, config_option, json_option
from onbox.commands.shared.project import load_project_to_read
from onbox.commands.shared.run_log import run_or_cell
from onbox.commands.show.checkpoints_text import render_checkpoints
from onbox.contract.exits import Exit
from onbox.contract.readings import Absent, Unseen
from onbox.contract.runfile import is_apart, is_sweep
from onbox.errors import Trouble
from onbox.outside import for_terminal, safe_line
from onbox.system.clock import wall

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from onbox.chain.stage_checkpoints import RunCheckpoints
    from onbox.cli.command import Options
    from onbox.commands.shared.project import Project
    from onbox.contract.paths import RunPaths

EXAMPLES = """\
examples:
  onbox checkpoints                    step, size, age, whole or why not, and why each is kept
  python train.py --from "$(onbox checkpoints --select)"
  onbox checkpoints --keep 3 --milestones 10000     as `onbox prune` would see them

They are found where the stages' artifacts, `checkpoints` or [gates] checkpoints say. A resumed stage has the path of
the newest whole one in ONBOX_CHECKPOINT.
"""


def retention_options(function: Any) -> Any:
    """`--keep` and `--milestones`, which listing and pruning have alike."""
    keep = f"keep this many of the newest whole ones (default: keep of [gates] checkpoints, or {DEFAULT_KEEP})"
    function = click.option(
        "--milestones", type=WholeNumber(1), metavar="EVERY", help="and the first at or after every EVERY steps"
    )(function)
    return click.option("--keep", type=WholeNumber(LEAST_KEEP), metavar="N", help=keep)(function)


@command(EXAMPLES, exclusive=[("--select", "--json"), ("--select", "--wide")])
@argument("run", required=False, metavar="RUN", help="name of the run, or a sweep's cell (default: the configured run)")
@config_option
@json_option
@retention_options
@click.option("--select", is_flag=True, help="print only the path to resume from; 3 if none is whole")
@click.option("--wide", is_flag=True, help="lines of any length")
def run(args: Options) -> int:
    project = load_project_to_read(args.config)
    looked = look_at_checkpoints_of(project, run_or_cell(project, args.run), retention_of(args))
    if args.select:
        return _select(looked)
    data = as_data(looked, wall())
    print(json.dumps(data, indent=2) if args.json else for_terminal(render_checkpoints(data, wide=args.wide)))
    return Exit.DONE


def retention_of(args: Options) -> Callable[[Retention], Retention]:
    """What was typed, over what is configured."""
    return lambda usual: Retention(args.keep or usual.keep, args.milestones or usual.milestones)


def look_at_checkpoints_of(
    project: Project, paths: RunPaths, retention: Callable[[Retention], Retention] = lambda usual: usual
) -> RunCheckpoints:
    """Of a run that is on this machine's disk. Raises Trouble for another one."""
    name = os.path.basename(paths.root)
    try:
        head = read_head(paths)
        stages = list(read_stages(paths))
    except ValueError as error:
        raise Trouble(Exit.CONFIG, f"{paths.manifest} is damaged: {error}") from error
    if head is None:
        raise Trouble(Exit.USAGE, f"no run {name!r} in {project.state_dir}")
    if is_sweep(head):
        text = f"run {name} is a sweep: each of its cells has checkpoints of its own: onbox checkpoints CELL"
        raise Trouble(Exit.USAGE, text)
    backend = head.data.get("backend")
    if isinstance(backend, dict) and is_apart(backend):
        raise Trouble(Exit.USAGE, f"run {name} lies on another machine ({backend.get('name')}): look at it there")
    return look_at_run_checkpoints(paths, head, stages, project.config.contract.origin, retention)


def _select(looked: RunCheckpoints) -> int:
    found = selected(looked)
    if isinstance(found, Unseen):
        raise Trouble(Exit.GATE_REFUSED, safe_line(f"could not look at all checkpoints: {found.why}"))
    if isinstance(found, Absent):
        raise Trouble(Exit.GATE_REFUSED, safe_line(f"nothing to resume from: {found.why}"))
    print(found["path"])
    return Exit.DONE
