"""`onbox sweep`: many cells, each a chain of its own, started one after the other on this box."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.cli.command import Entry, Table
from onbox.commands.sweeps.options import TYPED_COMMAND

if TYPE_CHECKING:
    import click

EXAMPLES = """\
examples:
  onbox sweep 'lr=1e-3,1e-4' 'seed=0..4' -- python train.py --lr {lr} --seed {seed} --out runs/{cell}
  onbox sweep -j 4 --cells queue.txt -- python train.py --config {config}    one line = one cell: config=a.yaml
  onbox sweep --gpus 1 'seed=0..15' -- python train.py --seed {seed}         one free GPU for each cell
  onbox sweep                               the cells and stages of [sweep] in onbox.toml
  onbox sweep -d                            start, check that it runs, return
  onbox sweep --dry-run                     the cells and their commands; nothing is started
  onbox sweep status                        what it is doing now
  onbox sweep table --sort -accuracy        the metrics of the cells
  onbox sweep retry-failed                  run the failed cells again
  onbox sweep skip lr=1e-3,seed=2           leave this cell out

Repeating the command never runs a cell twice: it attaches to the live sweep, or goes on at the first open cell. A cell
that fails does not end the sweep; the exit code is 0 only if every cell is done or was skipped by a person.
"""
START = "start"


class _Sweep(Table):
    """What does not begin with one of its commands is the start of a sweep; what follows `--` is the cells' command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        at = args.index("--") if "--" in args else len(args)
        words, ctx.meta[TYPED_COMMAND] = args[:at], args[at + 1 :]
        if not words or (words[0] not in self.table and words[0] not in ("-h", "--help")):
            words = [START, *words]
        return super().parse_args(ctx, words)


sweep = _Sweep(
    "onbox.commands.sweeps",
    {
        START: Entry("begin:run_start", "start it, or continue it (the default command)"),
        "resume": Entry("begin:run_resume", "continue as it was frozen, whatever onbox.toml says now"),
        "status": Entry("show:run_status", "what the sweep is doing now"),
        "table": Entry("show:run_table", "the metrics of the cells"),
        "stop": Entry("act:run_stop", "end it; running cells end gracefully and are not lost"),
        "retry-failed": Entry("act:run_retry", "run the failed cells again, and go on"),
        "skip": Entry("act:run_skip", "leave these cells out"),
    },
    epilog=EXAMPLES,
)
