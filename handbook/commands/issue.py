"""`handbook issue`: the text of a run's issue, or of an update, and the command that sends it. Sends nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from handbook.auto_entries import contract_of
from handbook.check.issue import body, command_to_send, update
from handbook.commands.options import place_options, run_option
from handbook.gather import gather
from handbook.log.logbook import FOLDER, LogbookFile
from handbook.place import find_place
from handbook.which_run import about_run, planned_run
from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.outside import safe_line, safe_text
from onbox.system.clock import wall
from onbox.system.files import replace_file

if TYPE_CHECKING:
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  handbook issue --run digits              the issue's text, or an update where [contract] issue names one already
  handbook issue --run digits --approved   the same, read by a person: without the mark of a machine
"""


@command(EXAMPLES)
@place_options
@run_option
@click.option("--approved", is_flag=True, help="a person has read this text")
def run(args: Options) -> int:
    place = find_place(args, os.environ, before_launch=True)
    facts = gather(place, wall())
    about = about_run(args.run, facts, planned_run(place.settings))
    contract = place.settings.config.contract
    book = LogbookFile(place.settings.folder, about.run, place.settings.state)
    if contract.issue:
        text = update(about, book.read().entries, approved=args.approved)
    else:
        text = body(about, contract_of(about, facts, contract), f"{FOLDER}/{about.run}.md")
    path = os.path.join(place.settings.state, f"issue-{about.run}.md")
    replace_file(path, safe_text(text).encode())
    print(safe_text(text))
    print(f"send it, if you may: {safe_line(command_to_send(about.run, contract.issue, path))}")
    if not contract.issue:
        print("then name its address in onbox.toml: [contract] issue")
    return Exit.DONE
