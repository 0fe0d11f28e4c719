"""`handbook handoff`: the block for the next owner."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from handbook.commands.options import add_options
from handbook.gather import gather
from handbook.place import find_place
from handbook.render import handoff, title_line
from handbook.render_json import run_data
from onbox.contract.exits import Exit
from onbox.outside import safe_line
from onbox.system.clock import wall

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
example:
  handbook handoff              runs, latest signal, links, resume commands: to paste into a message
"""


def add(subparsers: Any) -> None:
    parser = subparsers.add_parser("handoff", help="the block for the next owner", epilog=EXAMPLES)
    add_options(parser)
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    facts = gather(find_place(args, os.environ), wall())
    if args.json:
        print(json.dumps({"schema": 1, "runs": [run_data(facts, one) for one in facts.runs]}, indent=1))
        return Exit.DONE
    print(safe_line(title_line(facts)))
    for line in handoff(facts):
        print(safe_line(line))
    return Exit.DONE
