"""`onbox sweep`: many cells, each a chain of its own, started one after the other on this box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.arguments import Parser
from onbox.commands.project import add_config_option

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

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


class _WithStart(Parser):
    """What does not begin with one of its commands is the start of a sweep; what follows `--` is the cells' command."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words: list[str] = list(args or ())
        known = self._commands()[1]
        command: list[str] = []
        if "--" in words:
            at = words.index("--")
            words, command = words[:at], words[at + 1 :]
        words = list(_with_sort_key(words))
        if not words or (words[0] not in known and words[0] not in ("-h", "--help")):
            words = [START, *words]
        found, rest = super().parse_known_args(words, namespace)
        found.command = command
        return found, rest


def _with_sort_key(words: Sequence[str]) -> Iterator[str]:
    """`--sort -accuracy` as one word: argparse would take the second one for an option."""
    rest = iter(words)
    for word in rest:
        value = next(rest, None) if word == "--sort" else None
        yield word if value is None else f"{word}={value}"


def add(subparsers: Any) -> None:
    subparsers._parser_class = _WithStart  # noqa: SLF001 - argparse makes all commands of one class
    parser = subparsers.add_parser("sweep", help="run many cells of a parameter grid or a queue", epilog=EXAMPLES)
    subparsers._parser_class = Parser  # noqa: SLF001
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    _add_start(commands.add_parser(START, help="start it, or go on (this is what no command at all means)"))
    _add_simple(commands, "resume", run_resume, "go on as it was frozen, whatever onbox.toml says now")
    _add_simple(commands, "status", run_status, "how the sweep stands")
    _add_simple(commands, "stop", run_stop, "end it; the cells that run end gracefully and are not lost")
    _add_simple(commands, "retry-failed", run_retry, "run the failed cells again, and go on")
    _add_simple(commands, "table", run_table, "the metrics that the cells left")
    skip = commands.add_parser("skip", help="these cells are not to be run, by your word")
    skip.add_argument("cells", nargs="+", metavar="CELL", help="its name, as status and table show it")
    _add_common(skip, run_skip)


def _add_start(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("axes", nargs="*", metavar="NAME=VALUES", help="1e-3,1e-4 or 0..4, or a JSON list")
    parser.add_argument("--cells", metavar="FILE", help="a file with one cell on each line: NAME=VALUE NAME=VALUE")
    parser.add_argument("--stage", action="append", default=[], help="of onbox.toml (default: [sweep] stages, or all)")
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help="how many cells run at once (default: 1)")
    parser.add_argument("--gpus", type=int, metavar="N", help="free GPUs for each cell (CUDA_VISIBLE_DEVICES)")
    parser.add_argument(
        "--retry", metavar="CLASS,…[:MAX]", help="failure classes after which a cell's command is retried"
    )
    parser.add_argument("--max-failures", type=int, metavar="N", help="give up when more cells than that have failed")
    parser.add_argument(
        "--same-failures", type=int, metavar="N", help="give up after N equal failures in a row; 0: never"
    )
    parser.add_argument(
        "--metrics", metavar="FILE", help="a cell's JSON file with numbers, such as runs/{cell}/metrics.json"
    )
    parser.add_argument(
        "--metrics-regex", metavar="REGEX", help="with a named group for each metric, for the last log line"
    )
    parser.add_argument("--sort", metavar="METRIC", help='"-accuracy": the largest is the best')
    parser.add_argument("--again", action="store_true", help="every cell anew; what earlier ones left is moved aside")
    parser.add_argument("--dry-run", action="store_true", help="show the cells and their commands, and start nothing")
    _add_how(parser)
    _add_common(parser, run_start)


def _add_how(parser: argparse.ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("-d", "--detach", action="store_true", help="return once the first cell runs")
    how.add_argument("--inline", action="store_true", help="run in this process (containers, systemd)")


def _add_simple(commands: Any, name: str, function: Any, help_text: str) -> None:
    parser = commands.add_parser(name, help=help_text)
    parser.add_argument("sweep", nargs="?", metavar="SWEEP", help="its name")
    if name in ("resume", "retry-failed"):
        _add_how(parser)
    if name == "stop":
        parser.add_argument("--grace", type=float, metavar="SECONDS", help="between SIGTERM and SIGKILL of a cell")
        parser.add_argument("--now", action="store_true", help="no grace: SIGKILL at once")
    if name == "table":
        parser.add_argument("--sort", metavar="METRIC", help='"-accuracy": the largest first (default: [sweep] sort)')
        parser.add_argument("--csv", action="store_true", help="for a spreadsheet: every number as it is")
        parser.add_argument("--all", action="store_true", help="every cell, however many")
    _add_common(parser, function)


def _add_common(parser: argparse.ArgumentParser, function: Any) -> None:
    add_config_option(parser)
    parser.add_argument("--name", metavar="SWEEP", help="name of the sweep (default: [sweep] name, or sweep)")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    parser.set_defaults(function=function)


# Each command's code is loaded when it is asked for.


def run_start(args: argparse.Namespace) -> int:
    from onbox.commands.sweep_start import start_sweep  # noqa: PLC0415

    return start_sweep(args, _words(args.command))


def _words(command: Sequence[str]) -> str | tuple[str, ...] | None:
    """One word is a shell line; several are a program and its arguments; None: no command was given."""
    if not command:
        return None
    return command[0] if len(command) == 1 else tuple(command)


def run_resume(args: argparse.Namespace) -> int:
    from onbox.commands.sweep_start import resume_sweep  # noqa: PLC0415

    return resume_sweep(args)


def run_status(args: argparse.Namespace) -> int:
    from onbox.commands.sweep_show import show_status  # noqa: PLC0415

    return show_status(args)


def run_table(args: argparse.Namespace) -> int:
    from onbox.commands.sweep_show import show_table  # noqa: PLC0415

    return show_table(args)


def run_stop(args: argparse.Namespace) -> int:
    from onbox.commands.sweep_act import stop_sweep  # noqa: PLC0415

    return stop_sweep(args)


def run_skip(args: argparse.Namespace) -> int:
    from onbox.commands.sweep_act import skip_cells  # noqa: PLC0415

    return skip_cells(args)


def run_retry(args: argparse.Namespace) -> int:
    from onbox.commands.sweep_act import retry_failed  # noqa: PLC0415

    return retry_failed(args)
