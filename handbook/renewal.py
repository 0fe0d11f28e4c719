"""Write the page: for `handbook build`, and for a runner or a tick that renews it unasked, without a command line."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from handbook.auto_entries import enter_what_happened
from handbook.gather import gather
from handbook.look import look_now
from handbook.page.publish import NOTES_MASKED, publish, wait_for_lock
from handbook.page.render import title_line
from handbook.page.render_json import render_json
from handbook.place import find_place, home_of
from onbox.cli.boundary import within_boundary
from onbox.cli.options import Options
from onbox.contract.exits import Exit
from onbox.model.units import counted
from onbox.outside import safe_line
from onbox.system.clock import wall
from onbox.system.files import make_folders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handbook.gather import HandbookPlace

TURN = "build.lock"


def main(words: Sequence[str]) -> int:
    """words: `here` (after a transition on a box) or `from_memory` (after a tick), the configuration, the folder; ""
    where one is not given. Its exit code is that of `handbook build`.
    """
    how, config, folder = words
    wanted = {"config": config or None, "folder": folder or None, "look": False, "into": None, "json": False}
    options = Options(**wanted, here=how == "here", from_memory=how == "from_memory")
    interrupted = (int(Exit.STOPPED), "interrupted; no run was touched by that")
    return within_boundary("handbook", lambda: build(options), lambda _: None, interrupted=interrupted)


def build(args: Options) -> int:
    """What `handbook build` does. Raises Trouble, StateNotWritten."""
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
        turn.release()


def _build(args: Options, place: HandbookPlace) -> int:
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
