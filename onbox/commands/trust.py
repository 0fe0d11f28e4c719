"""`onbox trust`: see and accept what onbox.toml runs, gives away or writes outside the project."""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import command, config_option
from onbox.cli.consent import agrees
from onbox.commands.shared.project import find_config, load_project
from onbox.contract.exits import Exit
from onbox.contract.paths import CONFIG_FILE
from onbox.errors import Trouble
from onbox.outside import safe_line
from onbox.project import read_toml
from onbox.system.files import StateNotWritten
from onbox.trust import VARIABLE, accept, lines_of, revoke, stand_of

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from onbox.trust import Stand

EXAMPLES = f"""\
examples:
  onbox trust             show what onbox.toml asks for, and accept it after a question
  onbox trust --show      only show it; ends with 78 while something is not accepted
  onbox trust --yes       accept it without a question (you have read the file)
  onbox trust --revoke    withdraw the acceptance

What you accepted stays accepted until one of these keys changes; other keys may change. Programs that cannot be asked
(CI, containers) say it by the environment: {VARIABLE}=HASH, as --show prints it, or {VARIABLE}=all.
"""


@command(EXAMPLES, exclusive=[("--show", "--yes", "--revoke")])
@config_option
@click.option("--show", is_flag=True, help="show it, and change nothing")
@click.option("--yes", is_flag=True, help="accept it without a question")
@click.option("--revoke", is_flag=True, help="withdraw the acceptance")
@click.option("--json", is_flag=True, help="JSON for programs (with --show)")
def run(args: Options) -> int:
    path = os.path.abspath(args.config) if args.config else find_config(os.getcwd())
    if path is None:
        raise Trouble(Exit.USAGE, f"there is no {CONFIG_FILE} here or above, so there is nothing to accept")
    if args.revoke:
        print(f"{safe_line(path)}: {'nothing of it is accepted any more' if revoke(path, os.environ) else NOTHING_YET}")
        return Exit.DONE
    load_project(path)  # a file with errors is refused with all of them
    stand = stand_of(path, read_toml(path), os.environ)
    if args.json:
        print(json.dumps(_data(stand), indent=2))
    else:
        _tell(stand)
    if args.show or args.json or not stand.open:
        return Exit.CONFIG if stand.open else Exit.DONE
    if not args.yes and not agrees("Do you trust this file so far?", unasked="onbox trust --yes"):
        print("nothing was accepted")
        return Exit.CONFIG
    try:
        accept(path, stand.found, os.environ)
    except StateNotWritten as error:
        text = f"{error}. Nothing was accepted; {error.way_on}, then: onbox trust"
        raise Trouble(Exit.STATE_NOT_WRITTEN, text) from error
    print("accepted, until one of these keys changes")
    return Exit.DONE


NOTHING_YET = "nothing of it was accepted"


def _tell(stand: Stand) -> None:
    if not stand.found:
        print(f"{safe_line(stand.path)} asks for nothing that has to be accepted")
        return
    accepted = [one for one in stand.found if one not in stand.open]
    for heading, some in (("accepted", accepted), ("not accepted", stand.open)):
        for number, line in enumerate(lines_of(stand.path, some) if some else ()):
            print(f"{heading}: {line}" if number == 0 else line)
    if stand.by:
        print(f"accepted by {stand.by} in the environment")
    elif stand.at is not None:
        when = datetime.fromtimestamp(stand.at, timezone.utc).astimezone().strftime("%Y-%m-%d %H:%M")
        print(f"accepted last: {when}")
    print(f"hash of all of it: {stand.hash}")


def _data(stand: Stand) -> dict[str, Any]:
    keys = [
        {"key": one.key, "value": safe_line(one.value), "does": one.does, "accepted": one not in stand.open}
        for one in stand.found
    ]
    return {"schema": 1, "config": stand.path, "accepted": not stand.open, "hash": stand.hash, "keys": keys}
