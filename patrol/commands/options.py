"""Options that the commands of `patrol` share, and what may be typed at TAB for the name of a box."""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import argument, config_option
from onbox.errors import Trouble
from onbox.project import load_project
from patrol.known_projects import take_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.cli.command import Options


def here_options(function: Any) -> Any:
    """`-c FILE` and `--folder DIR`, of a command that may begin a project in the working directory."""
    text = "look for onbox.toml here (default: the working directory)"
    return config_option(click.option("--folder", metavar="DIR", help=text)(function))


def project_options(function: Any) -> Any:
    """`-c FILE` and `--folder DIR`; outside of every project the one that is known is meant."""

    @wraps(function)
    def run(args: Options) -> int:
        take_project(args, os.environ, several=getattr(function, "of_each_project", False))
        code: int = function(args)
        return code

    return here_options(run)


def common_options(function: Any) -> Any:
    """`-c FILE`, `--folder DIR` and `--json`."""
    return project_options(click.option("--json", is_flag=True, help="JSON for programs")(function))


def boxes_argument(function: Any) -> Any:
    """`BOX...`: all of them where none is named."""
    return argument("boxes", nargs=-1, metavar="BOX", help="only these boxes", shell_complete=complete_box)(function)


def run_name_argument(metavar: str, help: str = "", *, required: bool = True) -> Callable[[Any], Any]:  # noqa: A002 - as click has it
    """`BOX/RUN`."""
    return argument("run_name", required=required, metavar=metavar, help=help, shell_complete=complete_box)


def complete_box(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's signature
    """Names of the configured boxes, at TAB."""
    try:
        boxes = load_project(ctx.params.get("config")).config.boxes
    except (Trouble, OSError):
        return []
    return [box.name for box in boxes if box.name.startswith(incomplete)]
