"""Options that the commands of the handbook share."""

from __future__ import annotations

from typing import Any

import click

from patrol.commands.options import project_options


def place_options(function: Any) -> Any:
    """Of which project: `-c FILE`, `--folder DIR` and `--here`."""
    text = "describe this very machine as a box, not boxes from outside"
    return project_options(click.option("--here", is_flag=True, help=text)(function))


def common_options(function: Any) -> Any:
    """Of which project, and `--json`."""
    return place_options(click.option("--json", is_flag=True, help="JSON for programs")(function))


def run_option(function: Any) -> Any:
    """`--run RUN`."""
    text = "of which run: RUN or BOX/RUN (default: the only one there is)"
    return click.option("--run", metavar="RUN", help=text)(function)
