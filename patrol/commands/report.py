"""`patrol report`: the history as one HTML page with plots. Looks at no box."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.contract.readings import observed
from onbox.errors import Trouble
from onbox.model.units import counted, parse_duration
from onbox.redact import redact
from onbox.system.clock import wall
from onbox.system.files import replace_file
from patrol.commands.options import common_options
from patrol.config.configured import load_settings
from patrol.memory.codec import look_from_text
from patrol.memory.store import Memory
from patrol.report.page import RunHistory, render_page
from patrol.snapshot import BoxLook

if TYPE_CHECKING:
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  patrol report --html report.html          one page that needs nothing else
  patrol report --html - --since 7d >week.html
  patrol report --json                      the same numbers
"""
FLIPS = 50


@command(EXAMPLES)
@click.option("--html", metavar="FILE", help="where to write it; -: standard output")
@click.option("--since", default="30d", metavar="DURATION", help="how far back (default: 30d)")
@common_options
def run(args: Options) -> int:
    if bool(args.html) == bool(args.json):
        raise Trouble(Exit.USAGE, "wanted --html FILE or --json")
    settings = load_settings(args, os.environ)
    try:
        since = wall() - parse_duration(args.since)
    except ValueError as error:
        raise Trouble(Exit.USAGE, f"--since {args.since!r}: {error}") from error
    memory = Memory(settings.state)
    cells = _cells_of_sweeps(memory)
    runs = [
        RunHistory(
            word,
            memory.points(word.box, word.run, since),
            memory.flips(FLIPS, word.box, word.run),
            cells.get((word.box, word.run), ()),
        )
        for word in memory.last_words()
        if word.at >= since
    ]
    if args.json:
        print(json.dumps({"schema": 1, "at": wall(), "runs": [_data(run) for run in runs]}))
        return Exit.DONE
    stamp = time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(wall()))
    about = [f"made {stamp} from {settings.config_path or settings.folder}", *memory.notes]
    page = redact(render_page(f"patrol of {settings.config.run_name}", about, runs))
    if args.html == "-":
        sys.stdout.write(page)
        return Exit.DONE
    path = os.path.abspath(args.html)
    replace_file(path, page.encode("utf-8", "replace"), durable=False)
    print(f"wrote {path}: {counted(len(runs), 'run')}")
    return Exit.DONE


def _cells_of_sweeps(memory: Memory) -> dict[tuple[str, str], tuple[tuple[str, ...], ...]]:
    """What the newest look at each box told of single cells, by box and run."""
    found = {}
    for box in {word.box for word in memory.last_words()}:
        look = look_from_text(memory.last_look(box))
        for run in (observed(look.runs) or ()) if isinstance(look, BoxLook) else ():
            if told := observed(run.cells):
                found[box, run.run] = told.rows
    return found


def _data(run: RunHistory) -> dict[str, Any]:
    points = [{"at": at, "rule": rule, "severity": number, **one._asdict()} for at, rule, number, one in run.points]
    return {
        "box": run.word.box,
        "run": run.word.run or None,
        "line": run.word.line,
        "points": points,
        "flips": [flip._asdict() for flip in run.flips],
        **({"cells": [list(row) for row in run.cells]} if run.cells else {}),
    }
