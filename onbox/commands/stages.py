"""`onbox stages`: the stages that onbox.toml defines."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import click

from onbox.cli.command import command, config_option
from onbox.commands.shared.project import load_project
from onbox.contract.exits import Exit
from onbox.model.manifest import stage_to_dict
from onbox.outside import safe_line

if TYPE_CHECKING:
    from onbox.cli.command import Options

EXAMPLES = """\
example:
  onbox stages                  name and command of each configured stage
"""


@command(EXAMPLES, exclusive=[("--names", "--json")])
@config_option
@click.option("--names", is_flag=True, help="names only")
@click.option("--json", is_flag=True, help="all their settings as one JSON object")
def run(args: Options) -> int:
    stages = load_project(args.config).config.stages
    if args.json:
        print(json.dumps({"schema": 1, "stages": [stage_to_dict(stage) for stage in stages]}, indent=2))
        return Exit.DONE
    for stage in stages:
        command = shlex.join(stage.cmd) if isinstance(stage.cmd, tuple) else stage.cmd
        print(stage.name if args.names else f"{stage.name:<20} {safe_line(command)}")
    return Exit.DONE
