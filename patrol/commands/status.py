"""`patrol status`: what the last tick said, and whether the patrol itself is alive. Looks at no box."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.cron.daemon import cron_runs
from onbox.cron.schedule import BadSchedule, parse_schedule
from onbox.errors import Trouble
from onbox.model.units import counted, format_duration
from onbox.outside import safe_line
from onbox.system.clock import local_text, wall
from onbox.terminal.capable import shows_tables
from patrol.commands.onbox_there import call_onbox
from patrol.commands.options import common_options, run_name_argument
from patrol.commands.runs import one_run
from patrol.config.configured import load_settings
from patrol.cron_job import installed_lines, memory_of_cron
from patrol.decide.remote_command import here
from patrol.known_projects import in_each_project
from patrol.memory.codec import SCHEMA, verdict_from_text, verdict_to_dict
from patrol.memory.store import Memory
from patrol.memory.transfers import Register, transfer_line
from patrol.tick import policy_of, warn
from patrol.timer.cron_line import NONE_RUNS, WHAT_TO_DO
from patrol.timer.heartbeat import as_data, read_heartbeat, stand
from patrol.verdict import Severity

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from patrol.memory.rows import LastWord
    from patrol.timer.heartbeat import Heartbeat, PatrolStanding

EXAMPLES = """\
examples:
  patrol status                 when the last tick was, when the next is due, and the last line of every run
  patrol status gpu1/digits     one run, as `onbox status` shows it on the box now
  patrol status --json | jq .patrol.stale

`~` stands before a progress that was read from a log: the work itself may be further.
The exit code is that of the worst last line: 0 nothing needs you, 1 warning, 2 critical, 3 not known: the patrol itself
is stale or never looked, or the last look saw nothing.
"""


FUTURE_SECONDS = 60.0


@command(EXAMPLES)
@run_name_argument("BOX/RUN", "this run, as `onbox status` shows it on the box now", required=False)
@click.option("--all", is_flag=True, help="also acknowledged runs that ended more than a day ago")
@common_options
@in_each_project
def run(args: Options) -> int:
    if args.run_name:
        return _of_run(args)
    settings = load_settings(args, os.environ)
    policy_of(settings)
    now = wall()
    heartbeat = read_heartbeat(settings.state)
    lines = installed_lines(settings)
    standing = stand(heartbeat, parse_schedule(_schedule(lines, settings.patrol.schedule)), now)
    memory = Memory(settings.state)
    known = {box.name for box in settings.config.boxes}
    words = [word for word in memory.last_words() if word.box in known] if os.path.exists(memory.path) else []
    if args.json:
        patrol = {**as_data(heartbeat, standing), "schedule": settings.patrol.schedule, "state": settings.state}
        patrol["installed"] = None if lines is None else bool(lines)
        patrol["elsewhere"] = memory_of_cron(settings) or None
        print(json.dumps({"schema": 1, "at": now, "patrol": patrol, "runs": [_data(word) for word in words]}, indent=2))
        return _exit_code(words, standing, now)
    head = [*_patrol_lines(heartbeat, standing, lines, now), f"state dir    {settings.state}", *memory.notes]
    shown = [word for word in words if args.all or not _is_dealt_with(word, now)]
    if shows_tables(sys.stdout, os.environ):
        from patrol.commands.status_table import print_table  # noqa: PLC0415 - only on such a terminal

        print_table(sys.stdout, head, shown, memory, stale_seconds=2 * standing.cadence_seconds)
    else:
        print("\n".join([*head, *(_word_line(word, standing, now) for word in shown)]))
    if elsewhere := memory_of_cron(settings):
        warn(elsewhere)
    if len(shown) < len(words):
        left = counted(len(words) - len(shown), "run")
        print(f"{left} that ended and were acknowledged more than a day ago: patrol status --all")
    register = Register(settings.state)
    for one in register.all():
        if one.done_at is None or not one.is_complete:
            print(transfer_line(one, now, runs=register.runs(one)))
    if not words:
        print("no run is known yet: patrol tick" if known else "no box is known yet: patrol add HOST")
    return _exit_code(words, standing, now)


def _schedule(lines: list[str] | None, configured: str) -> str:
    """What the crontab says, which cron goes by; the configured one where there is no such line."""
    words = lines[0].split(None, 5) if lines else []
    schedule = words[0] if words and words[0].startswith("@") else " ".join(words[:5])
    try:
        parse_schedule(schedule)
    except BadSchedule:
        return configured
    return schedule


def _exit_code(words: list[LastWord], standing: PatrolStanding, now: float) -> int:
    """Of the worst last word; not known where the patrol itself is stale, or said nothing yet."""
    verdicts = [verdict_from_text(word.verdict) for word in words]
    told = [Severity.UNKNOWN if one is None else one.severity_told(now) for one in verdicts]
    told += [Severity.UNKNOWN] if standing.stale is not False or standing.timer_stale or not words else []
    return int(max(told, key=lambda severity: severity.rank))


def _is_dealt_with(word: LastWord, now: float) -> bool:
    verdict = verdict_from_text(word.verdict)
    return verdict is not None and verdict.is_dealt_with(now)


def _of_run(args: Options) -> int:
    """What `onbox status` says of it, there."""
    settings = load_settings(args, os.environ, looks=True)
    box, run = one_run(settings, args.run_name)
    if any(watch.name == run for watch in box.watches):
        name = f"{box.name}/{run}"
        raise Trouble(
            Exit.USAGE, f"onbox did not start {name}, so it has no status there: {here('patrol', 'explain', name)}"
        )
    return call_onbox(settings, box, run, ["status", *(["--json"] if args.json else []), "--", run])


def _data(word: LastWord) -> dict[str, Any]:
    """What is said of one run; of a verdict that cannot be read back, its line alone."""
    known = verdict_from_text(word.verdict)
    verdict = {"schema": SCHEMA, **verdict_to_dict(known)} if known is not None else {}
    return {"box": word.box, "run": word.run or None, "at": word.at, "line": word.line, **verdict}


def _patrol_lines(
    heartbeat: Heartbeat | None, standing: PatrolStanding, lines: list[str] | None, now: float
) -> list[str]:
    said = []
    if heartbeat is None:
        said.append("no tick ever ran here")
    else:
        said.append(_last_tick(heartbeat, standing, now))
    due = standing.next_due_at
    if lines:
        words = (
            "never by this schedule"
            if due is None
            else f"{local_text(due)} (in {format_duration(max(0.0, due - now))})"
        )
        if cron_runs() is False:
            said.append(f"next tick    never: {NONE_RUNS}. {WHAT_TO_DO[:1].upper()}{WHAT_TO_DO[1:]}")
        else:
            said.append(f"next tick    {words}, by cron, if this machine is on and awake then")
        if standing.timer_stale or (standing.timer_stale is None and standing.stale):
            said.append(f"PATROL STALE: cron should have begun a tick; {standing.missed} were missed. Is cron running?")
    elif lines is None:
        said.append("next tick    whether one is scheduled cannot be known here (no crontab)")
    else:
        said.append("next tick    none is scheduled: patrol install")
    return said


def _last_tick(heartbeat: Heartbeat, standing: PatrolStanding, now: float) -> str:
    age = format_duration(max(0.0, now - heartbeat.began_at))
    ahead = heartbeat.began_at > now + FUTURE_SECONDS
    when = "in the future: a clock was wrong" if ahead else f"{age} ago"
    text = f"last tick    {local_text(heartbeat.began_at)} ({when})"
    if heartbeat.ended_at is None:
        text += ", not ended: it runs, or it was killed"
    else:
        took = max(0.0, heartbeat.ended_at - heartbeat.began_at)
        boxes = "1 box" if heartbeat.boxes == 1 else f"{heartbeat.boxes} boxes"
        text += f", {counted(heartbeat.runs, 'run')} on {boxes} in {took:.1f} s, exit code {heartbeat.exit_code}"
    stale = " · STALE: silent for more than two cadences" if standing.stale else ""
    return text + stale + (f" · {safe_line(heartbeat.trouble)}" if heartbeat.trouble else "")


def _word_line(word: LastWord, standing: PatrolStanding, now: float) -> str:
    """The last line, with its age where that is more than the schedule lets expect: an old word proves no present."""
    old = now - word.at > 2 * standing.cadence_seconds
    return word.line + (f"   [said {format_duration(now - word.at)} ago]" if old else "")
