"""`handbook resume`: the one word for whoever takes over. Looks now, says what goes on, and what to type next."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from handbook.auto_entries import enter_what_happened
from handbook.commands.options import common_options
from handbook.gather import gather
from handbook.local_waits import find_waiters
from handbook.look import look_now
from handbook.page.publish import DATA, NOTES_MASKED, publish
from handbook.page.render_json import as_data
from handbook.page.summary import differences, overdue, situation
from handbook.place import find_place, home_of
from onbox.cli.command import command
from onbox.contract.json_text import parse_object
from onbox.contract.readings import plain
from onbox.errors import Trouble
from onbox.model.screen import hanging
from onbox.outside import safe_line
from onbox.system.clock import wall
from onbox.system.files import StateNotWritten, read_file
from patrol.known_projects import in_each_project
from patrol.verdict import Severity

if TYPE_CHECKING:
    from handbook.gather import HandbookPlace
    from handbook.page.facts import HandbookFacts
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  handbook resume               look at every box now; at most ten facts, the last one is the next command
  handbook resume --json | jq -r '.runs[0].next_command'

It changes nothing on any box. Where page and world differ the world wins, the difference is shown, and the page is
written anew. The exit code is that of the worst run: 0 nothing needs you, 1 warning, 2 critical, 3 could not look.
"""


@command(EXAMPLES)
@common_options
@in_each_project
def run(args: Options) -> int:
    place = find_place(args, os.environ)
    page = _page(place)
    trouble = look_now(place)
    facts = gather(place, wall(), fetching=True, all_anew=True)
    facts = facts._replace(watch=facts.watch._replace(waiters=find_waiters(os.environ, wall(), place.settings.state)))
    changed = differences(page, facts) if page else []
    said = [*_keep(place, facts), *([] if place.here else overdue(facts, wall()))]
    if args.json:
        now = {"differs": changed, "trouble": trouble or None, "said": said, "waiters": plain(facts.watch.waiters)}
        print(json.dumps({**as_data(facts), **now}, indent=1))
    else:
        *lines, last = situation(facts, changed, trouble)
        for line in (*lines, *(f"note: {one}" for one in said)):
            print("\n".join(hanging("", safe_line(line), indent=2)))
        print(safe_line(last))  # it is typed
    return int(_severity(facts, trouble))


def _page(place: HandbookPlace) -> dict[str, Any]:
    try:
        return parse_object(read_file(os.path.join(home_of(place), DATA))) or {}
    except OSError:
        return {}


def _keep(place: HandbookPlace, facts: HandbookFacts) -> list[str]:
    """Write page and logbook anew; the answer does not depend on it."""
    said = list(facts.troubles)
    try:
        if not place.here:
            said += enter_what_happened(place, facts)
        done = publish(facts, home_of(place), place.settings.state)
    except (StateNotWritten, Trouble, OSError) as error:
        return [*said, f"the page could not be written: {error}"]
    said += [NOTES_MASKED] if done.masked else []
    return said + (
        [f"the page's marked lines were damaged; the earlier one is {done.set_aside}"] if done.set_aside else []
    )


def _severity(facts: HandbookFacts, trouble: str) -> Severity:
    found = [
        Severity[run.severity.upper()]
        for run in facts.runs
        if not run.acknowledged and run.severity.upper() in Severity.__members__
    ]
    found += [Severity.UNKNOWN] if trouble and not facts.runs else []
    return max(found, key=lambda one: one.rank, default=Severity.OK)
