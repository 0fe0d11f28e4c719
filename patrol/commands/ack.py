"""`patrol ack` and `patrol silence`: a person's word on what is said of a run. It changes nothing that is seen."""

from __future__ import annotations

import getpass
import json
import os
import time
from typing import TYPE_CHECKING

import click

from onbox.cli.amounts import duration
from onbox.cli.command import argument, command
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.outside import safe_words
from onbox.system.clock import wall
from patrol.commands.options import common_options, run_name_argument
from patrol.config.configured import load_settings, split_run
from patrol.cron_job import memory_of_cron
from patrol.memory.rows import PatrolAct
from patrol.memory.store import Memory
from patrol.memory.update_history import acknowledgement
from patrol.tick import warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.cli.command import Options
    from patrol.memory.history import Before

NAME_LIMIT, WHY_LIMIT = 60, 200
ACK_EXAMPLES = """\
examples:
  patrol ack gpu1/digits        I know: until its state changes it is shown but does not count
  patrol ack --all              every run as it is now; once all have ended, the patrol removes its cron line
  patrol ack gpu1/digits --why "the provider replaces the disk"
  patrol ack gpu1/digits --undo
"""
SILENCE_EXAMPLES = """\
examples:
  patrol silence gpu1/digits 4h     its findings count again after that
  patrol silence gpu1/digits 0      now
"""


@command(ACK_EXAMPLES)
@run_name_argument("BOX/RUN", "the run, as `patrol status` shows it", required=False)
@click.option("--all", is_flag=True, help="every known run")
@click.option("--why", metavar="TEXT", default="", help="what you know or do about it, for the next reader")
@click.option("--by", metavar="NAME", help="who says so (default: the account's name)")
@click.option("--undo", is_flag=True, help="take it back")
@common_options
def run_ack(args: Options) -> int:
    settings = load_settings(args, os.environ)
    if elsewhere := memory_of_cron(settings):
        warn(elsewhere)
    memory = Memory(settings.state)
    known = memory.recall().runs
    if args.all == bool(args.run_name):
        raise Trouble(Exit.USAGE, "name one run (BOX/RUN), or give --all")
    keys = sorted(key for key in known if key[1]) if args.all else [_known_key(args.run_name, known)]

    word = "" if args.undo else _word_of(args.by, args.why)

    def change(before: Before) -> Before:
        mark = None if args.undo else acknowledgement(before.run_id, before.rule or "")
        return before._replace(acknowledged=mark, acknowledged_by=word)

    for key in keys:
        outcome = "undone" if args.undo else f"{known[key].rule or ''}, {word}"
        _change(memory, key, change, "ack", outcome)
    return _say(
        args, keys, "no longer acknowledged" if args.undo else f"{word}; it does not count until its state changes"
    )


def _word_of(name: str | None, why: str) -> str:
    """`acknowledged by ann: the disk is being enlarged`."""
    who = safe_words(name or _account(), NAME_LIMIT)
    return f"acknowledged by {who}" + (f": {safe_words(why, WHY_LIMIT)}" if why.strip() else "")


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a number that no name belongs to, as in many containers
        return f"uid {os.getuid()}"


@command(SILENCE_EXAMPLES)
@run_name_argument("BOX/RUN", "the run, as `patrol status` shows it")
@argument("duration", type=duration(), metavar="DURATION", help="such as 30m, 4h, 2d")
@common_options
def run_silence(args: Options) -> int:
    memory = Memory(load_settings(args, os.environ).state)
    key = _known_key(args.run_name, memory.recall().runs)
    until = wall() + args.duration if args.duration else None
    shown = time.strftime("silenced until %Y-%m-%d %H:%M", time.localtime(until)) if until else "no longer silenced"
    _change(memory, key, lambda before: before._replace(silenced_until=until), "silence", shown)
    return _say(args, [key], shown)


def _known_key(word: str, known: dict[tuple[str, str], Before]) -> tuple[str, str]:
    box, run = split_run(word)
    mine = [key for key in known if key[0] == box and key[1] and run in (None, key[1])]
    if len(mine) == 1:
        return mine[0]
    names = ", ".join("/".join(key) for key in sorted(known) if key[1]) or "none"
    problem = "more than one run" if mine else "no run"
    raise Trouble(Exit.USAGE, f"{word!r} names {problem} of those that a tick has seen: {names}")


def _change(memory: Memory, key: tuple[str, str], change: Callable[[Before], Before], kind: str, outcome: str) -> None:
    memory.change_run(*key, change, PatrolAct(wall(), *key, kind, "/".join(key), outcome, ""))


def _say(args: Options, keys: list[tuple[str, str]], words: str) -> int:
    if args.json:
        print(json.dumps({"schema": 1, "runs": ["/".join(key) for key in keys], "said": words}))
    for key in () if args.json else keys:
        print(f"{'/'.join(key)}: {words}")
    return Exit.DONE
