"""`onbox sweep` and `onbox sweep resume`: what they take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from onbox.cli.amounts import WholeNumber
from onbox.cli.command import argument, command
from onbox.commands.sweeps.options import HOW, TYPED_COMMAND, common, how, sweep_argument
from onbox.commands.sweeps.start import resume_sweep, start_sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.cli.command import Options


@command(exclusive=HOW)
@argument("axes", nargs=-1, metavar="NAME=VALUES", help="1e-3,1e-4 or 0..4, or a JSON list")
@click.option("--cells", metavar="FILE", help="a file with one cell on each line: NAME=VALUE NAME=VALUE")
@click.option("--stage", multiple=True, metavar="STAGE", help="of onbox.toml (default: [sweep] stages, or all)")
@click.option("-j", "--jobs", type=WholeNumber(1), metavar="N", help="how many cells run at once (default: 1)")
@click.option("--gpus", type=WholeNumber(0), metavar="N", help="free GPUs for each cell (CUDA_VISIBLE_DEVICES)")
@click.option("--retry", metavar="CLASS,…[:MAX]", help="failure classes after which a cell's command is retried")
@click.option("--max-failures", type=WholeNumber(0), metavar="N", help="give up when more cells than that have failed")
@click.option(
    "--same-failures", type=WholeNumber(0), metavar="N", help="give up after N equal failures in a row; 0: never"
)
@click.option("--metrics", metavar="FILE", help="a cell's JSON file with numbers, such as runs/{cell}/metrics.json")
@click.option("--metrics-regex", metavar="REGEX", help="a named group for each metric, for the last log line")
@click.option("--sort", metavar="METRIC", help='"-accuracy": the largest is the best')
@click.option("--again", is_flag=True, help="run every cell again; earlier results are moved aside")
@click.option("--dry-run", is_flag=True, help="show the cells and their commands, and start nothing")
@how
@common
def run_start(args: Options) -> int:
    return start_sweep(args, _words(click.get_current_context().meta.get(TYPED_COMMAND, ())))


def _words(typed: Sequence[str]) -> str | tuple[str, ...] | None:
    """One word is a shell line; several are a program and its arguments; None: no command was given."""
    if not typed:
        return None
    return typed[0] if len(typed) == 1 else tuple(typed)


@command(exclusive=HOW)
@sweep_argument
@how
@common
def run_resume(args: Options) -> int:
    return resume_sweep(args)
