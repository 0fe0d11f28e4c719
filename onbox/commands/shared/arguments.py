"""Words that several commands take: names of runs and of stages, with what they may be at TAB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.cli.command import argument
from onbox.commands.shared.project import run_names
from onbox.errors import Trouble
from onbox.project import load_project

if TYPE_CHECKING:
    import click


def run_argument(function: Any) -> Any:
    """`RUN`, which may be left out where there is one."""
    return argument("run", required=False, metavar="RUN", help="name of the run", shell_complete=complete_run)(function)


def complete_run(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's signature
    """Names of the project's runs, at TAB."""
    try:
        return [
            name for name in run_names(load_project(ctx.params.get("config")).state_dir) if name.startswith(incomplete)
        ]
    except (Trouble, OSError):
        return []


def complete_stage(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - as above
    """Names of the configured stages, at TAB."""
    try:
        stages = load_project(ctx.params.get("config")).config.stages
    except (Trouble, OSError):
        return []
    return [stage.name for stage in stages if stage.name.startswith(incomplete)]
