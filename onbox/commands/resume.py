"""`onbox resume`: continue an interrupted or stopped run as it was frozen."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from onbox.chain.command.environment import frozen_environment
from onbox.chain.launch import Definition
from onbox.chain.state.frozen_run import read_head, read_stages
from onbox.cli.command import command
from onbox.commands.engine.view import refuse_unaccepted
from onbox.commands.launch import dry_run
from onbox.commands.launch.changes import code_changes
from onbox.commands.launch.definition import refuse_other_project
from onbox.commands.launch.options import HOW, LAUNCH_CHECK_SECONDS, RESUME_CHECK_SECONDS, launch_options
from onbox.commands.launch.start import start
from onbox.commands.shared.arguments import run_argument
from onbox.commands.shared.project import (
    existing_run,
    load_project_to_read,
    run_to_act_on,
)
from onbox.commands.sweeps.start import resume_at
from onbox.contract.exits import Exit
from onbox.contract.runfile import is_sweep
from onbox.errors import Trouble
from onbox.model.origin import origin_to_dict

if TYPE_CHECKING:
    from onbox.cli.command import Options

RESUME_EXAMPLES = """\
examples:
  onbox resume            continue the run exactly as it was frozen, whatever onbox.toml says now
  onbox resume --dry-run  say what that would start, and from which checkpoint
"""


@command(RESUME_EXAMPLES, exclusive=HOW)
@run_argument
@launch_options
@click.option("--dry-run", is_flag=True, help="say what would happen, and change nothing")
@click.option(
    "--any-checkpoint", is_flag=True, hidden=True, help="even if the newest is of another lineage, or none is whole"
)
def run_resume(args: Options) -> int:
    if args.launch_check is None:
        args.launch_check = LAUNCH_CHECK_SECONDS if sys.stdout.isatty() else RESUME_CHECK_SECONDS
    project = load_project_to_read(args.config)
    paths = existing_run(project, args.run) if args.dry_run else run_to_act_on(project, args.run)
    try:
        head = read_head(paths)
        frozen_stages = list(read_stages(paths))
    except ValueError as error:
        raise Trouble(
            Exit.CONFIG, f"{paths.manifest} is damaged: {error}; start from the configuration: onbox chain"
        ) from error
    assert head is not None
    refuse_other_project(paths, project.folder)
    stages = [(frozen.stage, frozen.fingerprint) for frozen in frozen_stages]
    if args.dry_run:
        config, definition = project.config, Definition(paths, head.data, stages, head.chain_fingerprint)
        code = code_changes(definition)
        return dry_run.tell_forecast(args, paths, head, frozen_stages, config.stages, config.contract, code)
    if is_sweep(head):
        return resume_at(args, paths)
    if not args.any_checkpoint:
        dry_run.refuse_bad_checkpoints(paths, head, frozen_stages, project.config.contract)
    dry_run.tell_config_changes(frozen_stages, project.config.stages)
    os.environ.update(frozen_environment(head.data))
    here = ("schema", "stages", "backend") if args.inline else ("schema", "stages")
    kept = {key: value for key, value in head.data.items() if key not in here}
    if project.config_path is not None:  # a lineage that was rejected meanwhile must not be taken up
        kept["origin"] = origin_to_dict(project.config.contract.origin)
    if "backend" in kept:
        refuse_unaccepted(kept["backend"], head, paths)
    return start(args, Definition(paths, kept, stages, head.chain_fingerprint))
