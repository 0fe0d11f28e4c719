"""`onbox sweep`: many cells, each a chain of its own, started one after the other on this box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import Group, argument, command, config_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  onbox sweep 'lr=1e-3,1e-4' 'seed=0..4' -- python train.py --lr {lr} --seed {seed} --out runs/{cell}
  onbox sweep -j 4 --cells queue.txt -- python train.py --config {config}    one line = one cell: config=a.yaml
  onbox sweep --gpus 1 'seed=0..15' -- python train.py --seed {seed}         one free GPU for each cell
  onbox sweep                               the cells and stages of [sweep] in onbox.toml
  onbox sweep -d                            start, check that it runs, return
  onbox sweep --dry-run                     the cells and their commands; nothing is started
  onbox sweep status                        how it stands
  onbox sweep table --sort -accuracy        the metrics that the cells left
  onbox sweep retry-failed                  run the failed cells again
  onbox sweep skip lr=1e-3,seed=2           this cell is not to be run, by your word

Repeating the command never runs a cell twice: it attaches to the live sweep, or goes on at the first open cell. A cell
that fails does not end the sweep; the exit code is 0 only if every cell is done or was skipped by a person.
"""
START = "start"
_COMMAND = "onbox.sweep.command"
HOW = [("--detach", "--inline")]


class _Sweep(Group):
    """What does not begin with one of its commands is the start of a sweep; what follows `--` is the cells' command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        at = args.index("--") if "--" in args else len(args)
        words, ctx.meta[_COMMAND] = args[:at], args[at + 1 :]
        if not words or (words[0] not in self.commands and words[0] not in ("-h", "--help")):
            words = [START, *words]
        return super().parse_args(ctx, words)


def _common(function: Any) -> Any:
    declared = (
        config_option,
        click.option("--name", metavar="SWEEP", help="name of the sweep (default: [sweep] name, or sweep)"),
        click.option("--json", is_flag=True, help="JSON instead of text"),
    )
    for option in reversed(declared):
        function = option(function)
    return function


def _how(function: Any) -> Any:
    inline = click.option("--inline", is_flag=True, hidden=True, help="run in this process (containers, systemd)")
    return click.option("-d", "--detach", is_flag=True, help="return once the first cell runs")(inline(function))


_named = argument("sweep", required=False, metavar="SWEEP", help="its name")


@command(exclusive=HOW)
@argument("axes", nargs=-1, metavar="NAME=VALUES", help="1e-3,1e-4 or 0..4, or a JSON list")
@click.option("--cells", metavar="FILE", help="a file with one cell on each line: NAME=VALUE NAME=VALUE")
@click.option("--stage", multiple=True, metavar="STAGE", help="of onbox.toml (default: [sweep] stages, or all)")
@click.option("-j", "--jobs", type=int, metavar="N", help="how many cells run at once (default: 1)")
@click.option("--gpus", type=int, metavar="N", help="free GPUs for each cell (CUDA_VISIBLE_DEVICES)")
@click.option("--retry", metavar="CLASS,…[:MAX]", help="failure classes after which a cell's command is retried")
@click.option("--max-failures", type=int, metavar="N", help="give up when more cells than that have failed")
@click.option("--same-failures", type=int, metavar="N", help="give up after N equal failures in a row; 0: never")
@click.option("--metrics", metavar="FILE", help="a cell's JSON file with numbers, such as runs/{cell}/metrics.json")
@click.option("--metrics-regex", metavar="REGEX", help="a named group for each metric, for the last log line")
@click.option("--sort", metavar="METRIC", help='"-accuracy": the largest is the best')
@click.option("--again", is_flag=True, help="every cell anew; what earlier ones left is moved aside")
@click.option("--dry-run", is_flag=True, help="show the cells and their commands, and start nothing")
@_how
@_common
def run_start(args: Options) -> int:
    from onbox.commands.sweeps.start import start_sweep  # noqa: PLC0415 - each command's code when it is asked for

    return start_sweep(args, _words(click.get_current_context().meta.get(_COMMAND, ())))


def _words(typed: Sequence[str]) -> str | tuple[str, ...] | None:
    """One word is a shell line; several are a program and its arguments; None: no command was given."""
    if not typed:
        return None
    return typed[0] if len(typed) == 1 else tuple(typed)


@command(exclusive=HOW)
@_named
@_how
@_common
def run_resume(args: Options) -> int:
    from onbox.commands.sweeps.start import resume_sweep  # noqa: PLC0415 - as above

    return resume_sweep(args)


@command()
@_named
@_common
def run_status(args: Options) -> int:
    from onbox.commands.sweeps.show import show_status  # noqa: PLC0415 - as above

    return show_status(args)


@command()
@_named
@click.option("--sort", metavar="METRIC", help='"-accuracy": the largest first (default: [sweep] sort)')
@click.option("--csv", is_flag=True, help="for a spreadsheet: every number as it is")
@click.option("--all", is_flag=True, help="every cell, however many")
@_common
def run_table(args: Options) -> int:
    from onbox.commands.sweeps.show import show_table  # noqa: PLC0415 - as above

    return show_table(args)


@command(exclusive=[("--grace", "--now")])
@_named
@click.option("--grace", type=float, metavar="SECONDS", help="between SIGTERM and SIGKILL of a cell")
@click.option("--now", is_flag=True, help="no grace: SIGKILL at once")
@_common
def run_stop(args: Options) -> int:
    from onbox.commands.sweeps.act import stop_sweep  # noqa: PLC0415 - as above

    return stop_sweep(args)


@command(exclusive=HOW)
@_named
@_how
@_common
def run_retry(args: Options) -> int:
    from onbox.commands.sweeps.act import retry_failed  # noqa: PLC0415 - as above

    return retry_failed(args)


@command()
@argument("cells", nargs=-1, required=True, metavar="CELL", help="its name, as status and table show it")
@_common
def run_skip(args: Options) -> int:
    from onbox.commands.sweeps.act import skip_cells  # noqa: PLC0415 - as above

    return skip_cells(args)


sweep = _Sweep(epilog=EXAMPLES)
sweep.add(START, "start it, or go on: what no command at all means", run_start)
sweep.add("resume", "go on as it was frozen, whatever onbox.toml says now", run_resume)
sweep.add("status", "how the sweep stands", run_status)
sweep.add("table", "the metrics that the cells left", run_table)
sweep.add("stop", "end it; the cells that run end gracefully and are not lost", run_stop)
sweep.add("retry-failed", "run the failed cells again, and go on", run_retry)
sweep.add("skip", "these cells are not to be run, by your word", run_skip)
