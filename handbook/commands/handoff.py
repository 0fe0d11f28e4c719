"""`handbook handoff`: the block for the next owner, and the transfer of ownership on record."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import click

from handbook.auto_entries import contract_of
from handbook.commands.log import actor_of, keep_books
from handbook.commands.options import common_options
from handbook.gather import gather
from handbook.log.entry import make_entry
from handbook.log.logbook import LogbookFile
from handbook.page.handover import handover, handover_all, owner_of
from handbook.page.phrases import clock, safe
from handbook.page.render import first_command, title_line
from handbook.page.render_json import run_data
from handbook.place import find_place
from handbook.which_run import about_run
from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.contract.readings import observed
from onbox.errors import Trouble
from onbox.outside import safe_line
from onbox.system.clock import wall

if TYPE_CHECKING:
    from handbook.gather import HandbookPlace
    from handbook.page.facts import HandbookFacts, RunFacts
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  handbook handoff                     each run: state, error, remedy, next step, record; to paste into a message
  handbook handoff --to bob            and record that bob owns them from now on
  handbook handoff --to bob --run digits
"""


@command(EXAMPLES)
@common_options
@click.option("--run", metavar="RUN", help="of one run: RUN or BOX/RUN (default: all of them)")
@click.option("--to", metavar="NAME", help="their new owner: entered into each run's logbook, shown on the page")
@click.option("--actor", metavar="NAME", help="who hands over (default: $ONBOX_ACTOR, or the user)")
def run(args: Options) -> int:
    place = find_place(args, os.environ)
    facts = gather(place, wall())
    only = about_run(args.run, facts).name if args.run is not None else None
    code = int(Exit.DONE)
    if args.to is not None:
        code = _transfer(args, place, facts, only)
        facts = gather(place, wall())
    if args.json:
        runs = [run_data(facts, one) for one in facts.runs if only in (None, one.name)]
        print(json.dumps({"schema": 1, "runs": runs}, indent=1))
        return code
    print(safe_line(title_line(facts)))
    print(safe_line(f"take over with: {first_command(facts)} (facts as of {clock(facts.as_of)})"))
    for line in handover_all(facts, only):
        print(safe_line(line))
    return code


def _transfer(args: Options, place: HandbookPlace, facts: HandbookFacts, only: str | None) -> int:
    """Enter it into the logbook of each run whose owner it changes. Raises Trouble, StateNotWritten."""
    to = safe(args.to, 60)
    if not to:
        raise Trouble(Exit.USAGE, "--to wants a name")
    runs = [one for one in facts.runs if one.run and only in (None, one.name)]
    if not runs:
        raise Trouble(Exit.USAGE, "no run is known, so there is nothing to hand over: `handbook resume` looks")
    changed = [one for one in runs if owner_of(facts, one).name != to]
    books = [_enter(args, place, facts, one, to) for one in changed]
    for one in runs:
        if one not in changed:
            print(safe_line(f"handbook: {one.name} is {to}'s already"), file=sys.stderr)
    return keep_books(place, books)


def _enter(args: Options, place: HandbookPlace, facts: HandbookFacts, about: RunFacts, to: str) -> LogbookFile:
    before = owner_of(facts, about).name
    entry = make_entry(
        "handoff",
        f"{before or 'nobody named'} → {to}",
        at=wall(),
        run=about.name,
        actor=actor_of(args),
        attempt=observed(about.attempt) or 0,
        owner=to,
        text="\n".join(handover(facts, about)),
    )
    book = LogbookFile(place.settings.folder, about.run, place.settings.state)
    written = book.append([entry], contract_of(about, facts, place.settings.config.contract))
    print(
        safe_line(f"{book.path}: entry {written.entries[0].seq}: {to} owns {about.name} from now on"), file=sys.stderr
    )
    return book
