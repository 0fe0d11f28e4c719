"""`onbox stages`: the stages that onbox.toml defines."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from onbox.commands.shared.project import add_config_option, load_project
from onbox.contract.exits import Exit
from onbox.model.manifest import stage_to_dict
from onbox.outside import safe_line

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
example:
  onbox stages                  name and command of each configured stage
"""


def add(subparsers: Any) -> None:
    parser = subparsers.add_parser("stages", help="the configured stages", epilog=EXAMPLES)
    add_config_option(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--names", action="store_true", help="names only")
    how.add_argument("--json", action="store_true", help="all their settings as one JSON object")
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    stages = load_project(args.config).config.stages
    if args.json:
        print(json.dumps({"schema": 1, "stages": [stage_to_dict(stage) for stage in stages]}, indent=2))
        return Exit.DONE
    for stage in stages:
        command = shlex.join(stage.cmd) if isinstance(stage.cmd, tuple) else stage.cmd
        print(stage.name if args.names else f"{stage.name:<20} {safe_line(command)}")
    return Exit.DONE
