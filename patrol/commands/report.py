"""`patrol report`: what is remembered, as one HTML page with charts. Looks at no box."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.amounts import duration
from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.contract.readings import observed
from onbox.errors import Trouble
from onbox.model.units import counted
from onbox.system.clock import pause, wall
from patrol.commands.options import common_options
from patrol.config.configured import load_settings
from patrol.cron_job import installed_lines
from patrol.page.gather import gather
from patrol.page.write import NoExtra, page_of, path_of, write_page
from patrol.timer.heartbeat import read_heartbeat

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from patrol.config.settings import Settings
    from patrol.page.model import PageHistory, RunHistory

EXAMPLES = """\
examples:
  patrol report                             report.html: one self-contained page
  patrol report --watch                     rewritten after each tick, until Ctrl-C
  patrol report --html - --since 7d >week.html
  patrol report --json                      the same numbers

[patrol] report = "report.html" in onbox.toml makes each tick write it.
"""
WATCH_SECONDS = 2.0


@command(EXAMPLES, exclusive=[("--html", "--json"), ("--watch", "--json")])
@click.option("--html", metavar="FILE", help="where to write it (default: report.html); -: standard output")
@click.option("--since", type=duration(1), default="30d", metavar="DURATION", help="how far back (default: 30d)")
@click.option("--watch", is_flag=True, help="rewrite it after each tick, until Ctrl-C")
@common_options
def run(args: Options) -> int:
    settings = load_settings(args, os.environ)
    if args.watch and args.html == "-":
        raise Trouble(Exit.USAGE, "--watch needs a file: --html FILE")
    if args.json:
        history = gather(settings, wall(), wall() - args.since)
        print(json.dumps({"schema": 1, "at": wall(), "runs": [_data(run) for run in history.runs]}))
        return Exit.DONE
    if args.html == "-":
        sys.stdout.write(_page(gather(settings, wall(), wall() - args.since, timed=_is_timed(settings))))
        return Exit.DONE
    path = os.path.abspath(args.html) if args.html else path_of(settings)
    _make(settings, path, args.since, watch=args.watch)
    if args.watch:
        _watch(settings, path, args.since)
    return Exit.DONE


def _is_timed(settings: Settings) -> bool | None:
    """Whether something fires the ticks: a timer began one, or the crontab has this patrol's line."""
    heartbeat = read_heartbeat(settings.state)
    if heartbeat is not None and heartbeat.timer_at is not None:
        return True
    lines = installed_lines(settings)
    return None if lines is None else bool(lines)


def _make(settings: Settings, path: str, since: float, *, watch: bool) -> None:
    renews = watch or (settings.patrol.report is not None and path == path_of(settings))
    history = gather(settings, wall(), wall() - since, renews=renews, timed=_is_timed(settings))
    page = _page(history)
    write_page(path, page)
    print(f"wrote {path}: {counted(len(history.runs), 'run')}, {len(page.encode()) / 1e6:.1f} MB", flush=True)


def _page(history: PageHistory) -> str:
    try:
        return page_of(history)
    except NoExtra as error:
        raise Trouble(Exit.UNAVAILABLE, str(error)) from error


def _watch(settings: Settings, path: str, since: float) -> None:
    """The ticks are other processes: what tells of their end is the patrol's heartbeat."""
    try:
        known = read_heartbeat(settings.state)
        while True:
            pause(WATCH_SECONDS)
            beat = read_heartbeat(settings.state)
            if beat != known and beat is not None and beat.ended_at is not None:
                _make(settings, path, since, watch=True)
            known = beat
    except KeyboardInterrupt:
        return


def _data(run: RunHistory) -> dict[str, Any]:
    cells = observed(run.look.cells) if run.look is not None else None
    points = [{"at": at, "rule": rule, "severity": number, **one._asdict()} for at, rule, number, one in run.points]
    return {
        "box": run.word.box,
        "run": run.word.run or None,
        "line": run.word.line,
        "points": points,
        "flips": [flip._asdict() for flip in run.flips],
        **({"cells": [list(row) for row in cells.rows]} if cells is not None and cells.rows else {}),
    }
