"""`patrol history`: what changed and when, what was done, what the ticks were."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.amounts import WholeNumber
from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.model.screen import hanging
from onbox.model.units import format_duration
from onbox.outside import safe_line
from onbox.system.clock import local_text, wall
from patrol.commands.options import common_options, run_name_argument
from patrol.config.configured import load_settings, split_run
from patrol.memory.store import Memory
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onbox.cli.command import Options
    from patrol.memory.rows import Flip, PastTick, PatrolAct

EXAMPLES = """\
examples:
  patrol history                every change, newest last
  patrol history gpu1/digits    of this run
  patrol history gpu1/digits --points     its numbers, tick by tick
  patrol history --ticks        the ticks themselves
  patrol history --acts         what the patrol did: resumed, relayed
"""
LIMIT = 50
DAY_SECONDS = 86400.0


@command(EXAMPLES, exclusive=[("--ticks", "--acts", "--points")])
@run_name_argument("BOX[/RUN]", "only this box or run", required=False)
@click.option("-n", "--limit", type=WholeNumber(1), default=LIMIT, metavar="N", help="at most this many (default: 50)")
@click.option("--ticks", is_flag=True, help="the ticks")
@click.option("--acts", is_flag=True, help="what the patrol did")
@click.option("--points", is_flag=True, help="a run's numbers")
@common_options
def run(args: Options) -> int:
    memory = Memory(load_settings(args, os.environ).state)
    box, name = split_run(args.run_name) if args.run_name else (None, None)
    rows, render = _rows_of(args, memory, box, name)
    if box is not None and not rows:
        _check_known(args.run_name, memory, box, name)
    if args.json:
        data = [row if isinstance(row, dict) else row._asdict() for row in rows]
        print(json.dumps({"schema": 1, "at": wall(), "rows": data}, indent=2))
    else:
        for row in rows:
            print("\n".join(folded(render(row))))
        if not rows:
            print("nothing yet")
    return Exit.DONE


def folded(row: str) -> list[str]:
    return hanging("", safe_line(row))


def _check_known(word: str, memory: Memory, box: str, name: str | None) -> None:
    """That nothing is told of a name that no tick ever saw is not a history."""
    known = sorted(memory.recall().runs)
    if not any(key[0] == box and name in (None, key[1]) for key in known):
        names = ", ".join("/".join(key) for key in known if key[1]) or "none"
        raise Trouble(Exit.USAGE, f"{word!r} names no box and no run of those that a tick has seen: {names}")


def _rows_of(
    args: Options, memory: Memory, box: str | None, name: str | None
) -> tuple[Sequence[Any], Callable[[Any], str]]:
    """What was asked for, oldest first, and how a row reads as a line."""
    if args.ticks:
        return memory.ticks(args.limit)[::-1], _tick_line
    if args.acts:
        return memory.acts(args.limit)[::-1], _act_line
    if args.points:
        return _points(memory, box, name, args.limit), _point_line
    return memory.flips(args.limit, box, name)[::-1], _flip_line


def _points(memory: Memory, box: str | None, name: str | None, limit: int) -> list[dict[str, Any]]:
    if box is None or name is None:
        raise Trouble(Exit.USAGE, "--points needs a run: patrol history BOX/RUN --points")
    found = memory.points(box, name)[-limit:]
    return [{"at": at, "rule": rule, "severity": severity, **point._asdict()} for at, rule, severity, point in found]


def _flip_line(row: Flip) -> str:
    name = f"{row.box}/{row.run}" if row.run else row.box
    was = f"{row.rule_before} -> " if row.rule_before else ""
    word = f"{was}{row.rule} ({_severity(row.severity)})"
    return f"{local_text(row.at)} {name:<24} {row.state.upper():<11} {word} · {row.say}"


def _severity(number: int) -> str:
    return Severity(number).name.lower() if number in range(4) else str(number)


def _tick_line(row: PastTick) -> str:
    took = format_duration(max(0.0, row.ended_at - row.began_at))
    note = f" · {row.note}" if row.note else ""
    return (
        f"{local_text(row.began_at)} {row.runs} lines on {row.boxes} boxes in {took}, exit code {row.exit_code}{note}"
    )


def _act_line(row: PatrolAct) -> str:
    return f"{local_text(row.at)} {row.box}/{row.run:<20} {row.kind} {row.outcome} {row.subject} · {row.detail}"


def _point_line(row: dict[str, Any]) -> str:
    words = [
        f"{key} {value:g}"
        for key, value in row.items()
        if isinstance(value, int | float) and key not in ("at", "severity")
    ]
    return f"{local_text(row['at'])} {row['rule']:<20} {' · '.join(words)}"
