"""`handbook build`: write HANDBOOK.md and handbook.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from handbook.commands.options import common_options
from handbook.renewal import build
from onbox.cli.command import command

if TYPE_CHECKING:
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  handbook build                what is remembered, written beside onbox.toml; contacts no box
  handbook build --look         look at every box first
  handbook build --here         on a box: this machine's own runs
"""


@command(EXAMPLES)
@common_options
@click.option("--look", is_flag=True, help="look at the boxes first")
@click.option(
    "--from-memory",
    is_flag=True,
    help="after a tick: what it saw, and the records of runs that changed; silent when all went well",
)
@click.option(
    "--into", metavar="DIR", help="write there (default: beside onbox.toml; of --here: in the state directory)"
)
def run(args: Options) -> int:
    return build(args)
