"""`patrol tick`: look at every box now, one line per run."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.backends.cadence import FIRST_LOOK_SECONDS, next_look_seconds
from onbox.contract.readings import observed
from onbox.contract.states import RunState
from onbox.system.clock import pause, wall
from patrol.config.configured import add_common_options, choose_boxes, load_settings
from patrol.handbook_hook import renew_handbook
from patrol.report.lines import details
from patrol.report.machine_formats import nagios
from patrol.report.output import Output, bound_log, tick_data
from patrol.tick import Busy, Wishes, tick, warn
from patrol.verdict import Severity

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from patrol.config.settings import Settings
    from patrol.judge import BoxJudged
    from patrol.tick import Ticked
    from patrol.verdict import Finding

HANDBOOK = "HANDBOOK.md"
ENDED = (RunState.DONE, RunState.FAILED, RunState.STOPPED, RunState.INTERRUPTED)
EXAMPLES = """\
examples:
  patrol tick                   every box, one line per run; ends with the worst of them as exit code
  patrol tick gpu1              this box only
  patrol tick --nagios          one answer as a Nagios plugin gives it
  patrol tick --json | jq '.runs[].state'
"""


def add(subparsers: Any) -> None:
    parser = subparsers.add_parser("tick", help="look now: one line per run, always", epilog=EXAMPLES)
    parser.add_argument("boxes", nargs="*", metavar="BOX", help="only these boxes")
    add_common_options(parser)
    parser.add_argument("--nagios", action="store_true", help="a status line with performance data")
    parser.add_argument("--quiet", action="store_true", help="no lines below the one line per run")
    parser.add_argument(
        "--look-only", action="store_true", help="no resume, no relay, no message, no ping, whatever is configured"
    )
    parser.add_argument("--unattended", action="store_true", help="by a timer: output goes into a bounded log")
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    settings = load_settings(args, os.environ, looks=True)
    boxes = choose_boxes(settings, args.boxes)
    plain = not (args.json or args.nagios)
    output = Output(sys.stdout)
    if args.unattended:
        bound_log(settings.state)
        output.print(time.strftime("-- %Y-%m-%d %H:%M:%S %z", time.localtime(wall())))
    wishes = Wishes(boxes, args.unattended, act=not args.look_only)

    def show(judged: BoxJudged) -> None:
        for line in _lines(judged, quiet=args.quiet) if plain else ():
            output.print(line)

    try:
        ticked = tick(settings, wishes, os.environ, show)
    except Busy:
        warn(f"another tick of this patrol is at work ({settings.state}); this one leaves")
        return Severity.UNKNOWN
    _finish(args, settings, ticked, output)
    if args.unattended and not args.boxes:
        _look_at_young_jobs(settings, ticked, show)
    if os.path.exists(os.path.join(settings.folder, HANDBOOK)):
        renew_handbook(settings)
    return int(ticked.severity)


def _look_at_young_jobs(settings: Settings, ticked: Ticked, show: Callable[[BoxJudged], None]) -> None:
    """A job that dies, dies early: one that an engine has just taken is looked at again when it is two minutes old."""
    ages = {box.box: min(found) for box in ticked.judged if (found := _ages_of_young_jobs(box, ticked.now))}
    if not ages:
        return
    pause(max(next_look_seconds(age, FIRST_LOOK_SECONDS) for age in ages.values()))
    with suppress(Busy):  # then another tick looks just now
        tick(settings, Wishes(tuple(ages), act=False), os.environ, show)


def _ages_of_young_jobs(box: BoxJudged, now: float) -> list[float]:
    """Seconds since their submission, of jobs that are not over, and of what this patrol has just submitted anew."""
    ages = [
        observed(run.look.submitted_age_seconds)
        for run in box.runs
        if run.look is not None and run.verdict.state not in ENDED
    ]
    jobs = [run.job for run in box.memories.runs.values()] if box.memories is not None else []
    ages += [now - job.submitted_at for job in jobs if job is not None and job.submitted_at is not None]
    return [age for age in ages if age is not None and 0 <= age < FIRST_LOOK_SECONDS]


def _lines(judged: BoxJudged, *, quiet: bool) -> list[str]:
    lines: list[str] = []
    told: set[Finding] = set()
    for one in judged.runs:
        lines.append(one.line)
        silent = quiet or one.verdict.acknowledged or one.verdict.silenced_until is not None
        lines += [] if silent else details(one.verdict, one.look, judged.snapshot.at, told)
    return lines


def _finish(args: argparse.Namespace, settings: Settings, ticked: Ticked, output: Output) -> None:
    if args.json:
        output.print(json.dumps(tick_data(ticked), indent=2, default=str))
    elif args.nagios:
        entries = [entry for box in ticked.judged for entry in box.entries()]
        for line in nagios(entries, ticked.now, ticked.severity):
            output.print(line)
    else:
        for note in ticked.notes:
            output.print(note)
    for trouble in ticked.troubles:
        warn(trouble)
    if not args.boxes and not args.look_only:
        from patrol.crontab_entry import leave_when_all_is_over  # noqa: PLC0415 - loaded by now, most of it

        said = leave_when_all_is_over(settings, ticked.judged)
        if said:
            warn(said)
