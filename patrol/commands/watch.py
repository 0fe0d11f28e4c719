"""`patrol watch`: every run, looked at again and again. The whole screen of a terminal (`watch_screen.py`), lines
elsewhere.

It remembers nothing and does nothing: the ticks do. q or Ctrl-C ends it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.amounts import WholeNumber, duration
from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.system.clock import monotonic, pause, wall
from onbox.terminal.capable import obeys, shows_tables
from patrol.collect import look_at_all
from patrol.commands.options import boxes_argument, common_options
from patrol.config.configured import choose_boxes, load_settings
from patrol.judge import Frame, judge
from patrol.memory.store import Memory
from patrol.memory.transfers import Register
from patrol.report.lines import OF_PATROL, details
from patrol.report.machine_formats import document
from patrol.report.output import Output
from patrol.tick import policy_of
from patrol.verdict import worst_severity

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from patrol.config.settings import Settings
    from patrol.judge import BoxJudged
    from patrol.memory.rows import Past

EXAMPLES = """\
examples:
  patrol watch                  every 30 s, until q or Ctrl-C
  patrol watch gpu1 --every 5s
  patrol watch --json --count 1
"""
CLEAR = "\x1b[H\x1b[2J"


@command(EXAMPLES)
@boxes_argument
@click.option(
    "--every", type=duration(1), default="30s", metavar="DURATION", help="pause between two looks (default: 30s)"
)
@click.option("--count", type=WholeNumber(1), metavar="N", help="end after this many looks")
@common_options
def run(args: Options) -> int:
    settings = load_settings(args, os.environ, looks=True)
    boxes = choose_boxes(settings, args.boxes)
    if not args.json and shows_tables(sys.stdout, os.environ):
        from onbox.terminal.paint import console_of  # noqa: PLC0415 - only on such a terminal
        from patrol.commands.watch_screen import watch_on_screen  # noqa: PLC0415

        console, memory = console_of(sys.stdout), Memory(settings.state)
        watch_on_screen(console, settings, boxes, memory, every=args.every, rounds=args.count)
        return Exit.DONE
    output = Output(sys.stdout)
    live = obeys(sys.stdout, os.environ) and not args.json
    looks = 0
    try:
        while output.is_heard and (args.count is None or looks < args.count):
            began = monotonic()
            judged = _look(settings, boxes)
            for text in _texts(judged, settings, live=live, as_json=args.json, every=args.every):
                output.print(text)
            looks += 1
            if args.count is None or looks < args.count:
                pause(max(0.0, args.every - (monotonic() - began)))
    except KeyboardInterrupt:
        return Exit.DONE
    return Exit.DONE


def _look(settings: Settings, boxes: Any) -> list[BoxJudged]:
    past: Past = Memory(settings.state).recall()
    policy = policy_of(settings)
    found = {
        seen.box.name: judge(
            seen.box,
            seen.snapshot,
            None,
            Frame(past, policy, settings.ssh_command, wall(), Register(settings.state).homes()),
        )
        for seen in look_at_all(settings, boxes, past)
    }
    return [found[box.name] for box in boxes]


def _texts(judged: list[BoxJudged], settings: Settings, *, live: bool, as_json: bool, every: float) -> list[str]:
    if as_json:
        entries = [entry for box in judged for entry in box.entries()]
        now = wall()
        severity = worst_severity((entry.verdict for entry in entries), now)
        return [json.dumps(document(entries, now, severity), default=str)]
    lines = [run.line for box in judged for run in box.runs]
    if not live:
        return lines
    width = shutil.get_terminal_size().columns
    head = f"{time.strftime('%Y-%m-%d %H:%M:%S')}  every {every:g} s, Ctrl-C ends it · {settings.config_path or ''}"
    of_patrol: set[str] = set()
    below = [line for box in judged for line in _details(box, of_patrol)]
    return [CLEAR + "\n".join(line[:width] for line in [head, "", *lines, "", *below])]


def _details(box: BoxJudged, of_patrol: set[str]) -> list[str]:
    """of_patrol: rules about the patrol itself that another box has told already."""
    told: set[Any] = set(of_patrol)
    lines = [line for run in box.runs for line in details(run.verdict, run.look, wall(), told)]
    of_patrol.update(told & OF_PATROL)
    return lines
