"""`handbook build`: write HANDBOOK.md and handbook.json."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from handbook.auto_entries import enter_what_happened
from handbook.commands.options import common_options, look_now
from handbook.gather import gather
from handbook.page.publish import NOTES_MASKED, publish, wait_for_lock
from handbook.page.render import title_line
from handbook.page.render_json import render_json
from handbook.place import find_place, home_of
from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.model.units import counted
from onbox.outside import safe_line
from onbox.system.clock import wall
from onbox.system.files import make_folders

if TYPE_CHECKING:
    from handbook.gather import Place
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  handbook build                what is remembered, written beside onbox.toml; asks no box
  handbook build --look         look at every box first
  handbook build --here         on a box: this machine's own runs
"""


TURN = "build.lock"


@command(EXAMPLES)
@common_options
@click.option("--look", is_flag=True, help="look at the boxes first")
@click.option(
    "--from-memory",
    is_flag=True,
    help="after a tick: what it saw, and the records of runs that changed; says nothing when all went well",
)
@click.option(
    "--into", metavar="DIR", help="write there (default: beside onbox.toml; of --here: in the state directory)"
)
def run(args: Options) -> int:
    place = find_place(args, os.environ)
    if not place.here:
        return _build(args, place)
    # On a box each transition starts a build: the later one must look after the earlier one has written, or the page
    # would end with what was true before.
    make_folders(place.settings.state)
    turn = wait_for_lock(os.path.join(place.settings.state, TURN))
    try:
        return _build(args, place)
    finally:
        os.close(turn)


def _build(args: Options, place: Place) -> int:
    looking = args.look or (place.here and not args.from_memory)
    trouble = look_now(place) if looking else ""
    facts = gather(place, wall(), fetching=looking or args.from_memory)
    said = [] if place.here else enter_what_happened(place, facts)
    facts = facts._replace(troubles=(*facts.troubles, *filter(None, (trouble, *said))))
    done = publish(facts, os.path.abspath(args.into or home_of(place)), place.settings.state)
    if done.set_aside:
        print(f"handbook: its marked lines were damaged; the earlier page is kept as {done.set_aside}", file=sys.stderr)
    if done.masked:
        print(f"handbook: {NOTES_MASKED}", file=sys.stderr)
    if args.json:
        print(render_json(facts), end="")
    elif not args.from_memory:
        print(safe_line(f"{done.page}: {counted(len(facts.runs), 'run')}, {title_line(facts).partition(' · ')[2]}"))
    return Exit.DONE
