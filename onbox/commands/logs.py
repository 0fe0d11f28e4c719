"""`onbox logs`: the log of a stage's attempt, its end or as it grows."""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from typing import TYPE_CHECKING

import click

from onbox.chain.state.slots import read_slot
from onbox.cli.amounts import WholeNumber
from onbox.cli.command import argument, command, config_option
from onbox.commands.engine.logs import show_job_log
from onbox.commands.shared.arguments import complete_run, complete_stage
from onbox.commands.shared.log_end import read_end
from onbox.commands.shared.log_lines import GrowingLines, shown_lines
from onbox.commands.shared.project import existing_run, load_project_to_read
from onbox.commands.shared.run_log import find_log
from onbox.contract.exits import Exit
from onbox.outside import for_terminal
from onbox.system.clock import pause
from onbox.system.files import open_plain

if TYPE_CHECKING:
    from typing import TextIO

    from onbox.cli.command import Options
    from onbox.contract.paths import RunPaths

EXAMPLES = """\
examples:
  onbox logs                    the end of the current stage's log
  onbox logs train -n 200       the last 200 lines of a stage
  onbox logs -f                 follow (ends when the stage ends)
  onbox logs train --attempt 1 --path
  onbox logs lr=1e-3,seed=2     of a sweep's cell, by its name in `onbox sweep table`
  onbox logs train --job        what its job on an engine printed itself, beside the stage's own log
"""
FOLLOW_LOOK_SECONDS = 0.2
BLOCK_BYTES = 1 << 16
_BEGUN = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}|\][^\x07\x1b\n]{0,256})?\Z")


@command(EXAMPLES)
@argument(
    "name",
    required=False,
    metavar="STAGE",
    help="or a cell of a sweep (default: the running stage, or the last one)",
    shell_complete=complete_stage,
)
@click.option("--run", metavar="NAME", help="name of the run", shell_complete=complete_run)
@click.option("--stage", metavar="STAGE", help="of a cell, which stage", shell_complete=complete_stage)
@config_option
@click.option("--attempt", type=WholeNumber(1), metavar="N", help="default: the newest")
@click.option(
    "-n", "--lines", type=WholeNumber(0), default=30, metavar="N", help="how many lines of its end (default: 30)"
)
@click.option("-f", "--follow", is_flag=True, help="follow it as it grows")
@click.option("--job", is_flag=True, help="what the stage's job on the engine printed itself")
@click.option("--path", is_flag=True, help="print the log's path only")
@click.option("--json", is_flag=True, help="path, size and lines as one JSON object")
def run(args: Options) -> int:
    project = load_project_to_read(args.config)
    if args.job:
        return show_job_log(existing_run(project, args.run), args.name or args.stage, args.lines)
    paths, stage, path = find_log(project, args.run, args.name, stage=args.stage, attempt=args.attempt)
    if args.path:
        print(path)
        return Exit.DONE
    end = shown_lines(read_end(path, args.lines))
    if args.json:
        lines = end.decode("utf-8", "replace").splitlines()
        print(json.dumps({"schema": 1, "stage": stage, "path": path, "bytes": os.path.getsize(path), "lines": lines}))
        return Exit.DONE
    printer = Printer(sys.stdout)
    printer.print(end, last=not args.follow)
    if args.follow:
        _follow(paths, stage, path, printer)
    return Exit.DONE


class Printer:
    """Where a log is printed: into a pipe or a file as it came, to a terminal without what a terminal would obey."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._shown = out.isatty()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""  # the beginning of a control sequence whose end has not come

    def print(self, data: bytes, *, last: bool = False) -> None:
        """last: nothing follows."""
        if not self._shown:
            self._out.buffer.write(data)
            self._out.buffer.flush()
            return
        text = self._held + self._decoder.decode(data, last)
        begun = None if last else _BEGUN.search(text)
        self._held = text[begun.start() :] if begun else ""
        self._out.write(for_terminal(text[: begun.start()] if begun else text))
        self._out.flush()


def _follow(paths: RunPaths, stage: str, path: str, printer: Printer) -> None:
    """Print what is appended until the stage has ended. Another host may write the file, so no event tells: look."""
    lines = GrowingLines()
    with open_plain(path) as file:
        file.seek(0, os.SEEK_END)
        while True:
            alive = _is_alive(paths, stage)  # asked before reading: what came before the end is read after it
            while block := file.read(BLOCK_BYTES):
                printer.print(lines.take(block))
            printer.print(lines.rest())
            if not alive:
                printer.print(b"", last=True)
                return
            pause(FOLLOW_LOOK_SECONDS)


def _is_alive(paths: RunPaths, stage: str) -> bool:
    slot, _, locked = read_slot(paths.slot(stage))
    return locked and slot is not None and slot.exit_code is None
