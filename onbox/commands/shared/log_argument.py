"""`LOG`: a file, the standard input, a cell of a sweep; nothing: the log of the run."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import argument, files
from onbox.commands.shared.arguments import complete_run, complete_stage
from onbox.contract.exits import Exit
from onbox.contract.paths import SWEEP
from onbox.errors import Trouble
from onbox.outside import safe_line

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from onbox.commands.shared.project import Project

HELP = "a log file, - for the standard input, or a cell of a sweep (default: the log that `onbox logs` shows)"


def log_argument(function: Any) -> Any:
    """`LOG`, and what chooses among the logs of runs."""
    function = click.option(
        "--stage", metavar="STAGE", help="of the run, the log of this stage", shell_complete=complete_stage
    )(function)
    function = click.option("--run", metavar="NAME", help="name of the run", shell_complete=complete_run)(function)
    return argument("log", required=False, metavar="LOG", help=HELP, shell_complete=files)(function)


def log_to_read(project: Project, args: Options) -> str:
    """The path, or "-". One that nobody typed is told. Raises Trouble."""
    if args.log == "-" or (args.log and os.path.exists(args.log)):
        return str(args.log)
    from onbox.commands.shared.run_log import find_cell, find_log  # noqa: PLC0415 - not for a log that is named

    if args.log and not find_cell(project, args.run, args.log):
        raise Trouble(Exit.USAGE, f"no log {args.log}, and no cell of a sweep in {project.state_dir} is called so")
    found = find_log(project, args.run, args.log, stage=args.stage)
    if found.stage == SWEEP:
        sweep = os.path.basename(found.paths.root)
        raise Trouble(Exit.USAGE, f"{sweep} is a sweep: name a cell, or a log; its cells: onbox sweep table {sweep}")
    print(f"onbox: the log is {safe_line(found.path, 4096)}", file=sys.stderr)
    return found.path
