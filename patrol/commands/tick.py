"""`patrol tick`: look at every box now, one line per run."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.amounts import Number
from onbox.cli.command import command
from onbox.model.units import counted
from onbox.named_tuple import NamedTuple
from onbox.system.clock import pause, wall
from patrol.act.look_again import look_again_in, start_look_again, take_turn
from patrol.commands.options import boxes_argument, common_options
from patrol.config.configured import choose_boxes, load_settings
from patrol.cron_job import leave_when_all_is_over
from patrol.known_projects import in_each_project
from patrol.report.lines import OF_PATROL, details, wide_line
from patrol.report.machine_formats import nagios
from patrol.report.output import Output, bound_log, tick_data
from patrol.snapshot import Unreachable
from patrol.tell.handbook_hook import renew_handbook
from patrol.tick import Busy, TickWishes, tick, warn
from patrol.verdict import Severity

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from patrol.config.settings import Settings
    from patrol.judge import BoxJudged
    from patrol.tick import Ticked

HANDBOOK = "HANDBOOK.md"
EXAMPLES = """\
examples:
  patrol tick                   every box, one line per run; ends with the worst of them as exit code
  patrol tick gpu1              this box only
  patrol tick --nagios          one answer, as a Nagios plugin
  patrol tick --json | jq '.runs[].state'
"""


class ShowAs(NamedTuple):
    """How a tick is shown. every: what was dealt with long ago, too."""

    wide: bool = False
    quiet: bool = False
    every: bool = False


class SaidOnce(NamedTuple):
    """What is said once in a tick. down: hosts, and why they were not reached: once is enough for all projects there.
    of_patrol: rules that are about the patrol itself.
    """

    down: set[tuple[str, str]]
    of_patrol: set[str]


@command(EXAMPLES)
@boxes_argument
@common_options
@click.option("--nagios", is_flag=True, help="a status line with performance data")
@click.option("--wide", is_flag=True, help="everything known about each run, on lines of any length")
@click.option("--all", is_flag=True, help="also acknowledged runs that ended more than a day ago")
@click.option("--quiet", is_flag=True, help="only the one line per run")
@click.option("--look-only", is_flag=True, help="no resume, relay, message or ping, whatever is configured")
@click.option("--after", type=Number(0, 600), hidden=True, help="wait this many seconds; resume nothing")
@click.option("--unattended", is_flag=True, hidden=True, help="run by a timer: output goes into a bounded log")
@in_each_project
def run(args: Options) -> int:
    settings = load_settings(args, os.environ, looks=True)
    boxes = choose_boxes(settings, args.boxes)
    plain = not (args.json or args.nagios)
    output = Output(sys.stdout)
    if args.unattended:
        bound_log(settings.state)
        output.print(time.strftime("-- %Y-%m-%d %H:%M:%S %z", time.localtime(wall())))
    wishes = TickWishes(boxes, args.unattended, act=not args.look_only)
    if args.after is not None:
        turn = take_turn(settings)  # held until this command ends
        if turn is None:
            return Severity.OK
        pause(args.after)
        wishes = TickWishes(boxes, resume=False)

    show_as = ShowAs(args.wide, args.quiet, args.all)

    said = SaidOnce(set(), set())

    def show(judged: BoxJudged) -> None:
        for line in _lines(judged, show_as, said) if plain else ():
            output.print(line)

    try:
        ticked = tick(settings, wishes, os.environ, show)
    except Busy:
        warn(f"another tick of this patrol is at work ({settings.state}); this one leaves")
        return Severity.UNKNOWN
    _finish(args, settings, ticked, output)
    if wishes.act and wishes.resume:
        _look_again(settings, ticked, submitted=args.unattended)
    if os.path.exists(os.path.join(settings.folder, HANDBOOK)):
        renew_handbook(settings)
    return int(ticked.severity)


def _look_again(settings: Settings, ticked: Ticked, *, submitted: bool) -> None:
    due = look_again_in(ticked.judged, ticked.now, submitted=submitted)
    trouble = start_look_again(settings, due, os.environ) if due else ""
    if trouble:
        warn(trouble)


def _lines(judged: BoxJudged, show_as: ShowAs, said: SaidOnce) -> list[str]:
    lines: list[str] = []
    told: set[Any] = set(said.of_patrol)
    at = judged.snapshot.at
    for one in judged.runs:
        if one.verdict.is_dealt_with(at) and not show_as.every:
            continue
        wide = show_as.wide
        lines.append(wide_line(one.verdict, one.look, judged.snapshot, at, one.before) if wide else one.line)
        silent = show_as.quiet or one.verdict.acknowledged or one.verdict.silenced_until is not None
        silent = silent or (one.look is None and _is_told(judged, said.down))
        lines += [] if silent else details(one.verdict, one.look, at, told, wide=wide)
    said.of_patrol.update(told & OF_PATROL)
    return lines


def _is_told(judged: BoxJudged, down: set[tuple[str, str]]) -> bool:
    if not isinstance(judged.snapshot, Unreachable):
        return False
    why = (judged.box.host, judged.snapshot.reason)
    known = why in down
    down.add(why)
    return known


def _left_out(ticked: Ticked, show_as: ShowAs) -> str:
    """How many were not shown; "" for none."""
    runs = [run for box in ticked.judged for run in box.runs if run.verdict.is_dealt_with(ticked.now)]
    if show_as.every or not runs:
        return ""
    return f"{counted(len(runs), 'run')} that ended and were acknowledged more than a day ago: patrol tick --all"


def _finish(args: Options, settings: Settings, ticked: Ticked, output: Output) -> None:
    if args.json:
        output.print(json.dumps(tick_data(ticked), indent=2, default=str))
    elif args.nagios:
        entries = [entry for box in ticked.judged for entry in box.entries()]
        for line in nagios(entries, ticked.now, ticked.severity):
            output.print(line)
    else:
        left_out = _left_out(ticked, ShowAs(every=args.all))
        for note in (*ticked.notes, *([left_out] if left_out else ())):
            output.print(note)
    for trouble in ticked.troubles:
        warn(trouble)
    if not args.boxes and not args.look_only:
        said = leave_when_all_is_over(settings, ticked.judged)
        if said:
            warn(said)
