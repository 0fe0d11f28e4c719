"""`handbook seal`: is the run really at its end, and its final facts as an entry and a tag."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING

import click

from handbook.auto_entries import contract_of, enter_what_happened
from handbook.check.seal import RunEnd, captured, checks, final_facts
from handbook.commands.log import actor_of
from handbook.commands.options import common_options, run_option
from handbook.gather import gather
from handbook.local_waits import find_waiters
from handbook.log.entry import make_entry
from handbook.log.git_sync import keep_in_git, tag_in_git
from handbook.log.logbook import LogbookFile
from handbook.look import look_now
from handbook.page.markdown import prose
from handbook.page.phrases import safe
from handbook.place import find_place
from handbook.which_run import about_run
from onbox.chain.command.code_identity import patch_identity
from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.contract.readings import observed
from onbox.outside import safe_line
from onbox.system.clock import wall

if TYPE_CHECKING:
    from handbook.check.seal import Check
    from handbook.gather import HandbookPlace
    from handbook.page.facts import HandbookFacts, RunFacts
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  handbook seal --check --run digits       what must be true at the end, checked now; changes nothing
  handbook seal --run digits               enter the final facts, commit the logbook, tag the code seal/digits
  handbook seal --run digits --push        and push both
"""
_WORDS = {True: "holds", False: "NOT SO", None: "not checked"}


@command(EXAMPLES)
@common_options
@run_option
@click.option("--check", is_flag=True, help="only check; change nothing")
@click.option(
    "--at", metavar="COMMIT", help="what to tag if the run's code had uncommitted changes: a commit that contains them"
)
@click.option("--push", is_flag=True, help="push the logbook's branch and the tag")
@click.option("--actor", metavar="NAME", help="who says so (default: $ONBOX_ACTOR, or the user)")
def run(args: Options) -> int:
    place = find_place(args, os.environ)
    trouble = look_now(place)
    facts = gather(place, wall(), fetching=True, all_anew=True)
    about = about_run(args.run, facts)
    book = LogbookFile(place.settings.folder, about.run, place.settings.state)
    damages = tuple(damage.what for damage in book.damages())
    end = RunEnd(about, place.settings.config.contract, damages, find_waiters(os.environ, wall()))
    found = checks(end)
    if args.json:
        print(json.dumps({"schema": 1, "run": about.name, "checks": [one._asdict() for one in found]}, indent=1))
    else:
        for one in found:
            print(safe_line(f"{_WORDS[one.holds]:<12} {one.name:<17} {safe(one.says, 300)}"))
    false = [one for one in found if one.holds is False]
    if trouble or false or args.check:
        print(safe_line(trouble), file=sys.stderr) if trouble else None
        return Exit.FAILED if false or trouble else Exit.DONE
    _enter(args, place, facts, about, found)
    return _into_git(args, place, book, found)


def _enter(args: Options, place: HandbookPlace, facts: HandbookFacts, about: RunFacts, found: list[Check]) -> None:
    """What happened first, launches before all, whether or not the page was ever built; then the seal."""
    for said in enter_what_happened(place, facts._replace(runs=(about,))):
        print(safe_line(f"handbook: {said}"), file=sys.stderr)
    contract = place.settings.config.contract
    caveats = [f"{one.name}: {safe(one.says, 160)}" for one in found if one.holds is None]
    entry = make_entry(
        "seal",
        "sealed" + (", with caveats" if caveats else ""),
        at=wall(),
        run=about.name,
        actor=actor_of(args),
        attempt=observed(about.attempt) or 0,
        source=f"seal {about.run_id}",
        status=prose("; ".join(caveats)),
        evidence=prose(captured(about, contract)),
        text=final_facts(about),
    )
    book = LogbookFile(place.settings.folder, about.run, place.settings.state)
    written = book.append([entry], contract_of(about, facts, contract))
    print(f"{book.path}: {f'entry {written.entries[0].seq}' if written.entries else 'sealed before'}")


def _into_git(args: Options, place: HandbookPlace, book: LogbookFile, found: list[Check]) -> int:
    kept = keep_in_git(book.path, book.run, os.environ, push=args.push)
    code = next((one.says for one in found if one.name == "code" and one.holds), "")
    tag, trouble = _tag(args, place, book.run, code)
    for what in filter(None, (f"logbook not in git: {kept.trouble}" if kept.trouble else "", trouble)):
        print(safe_line(f"handbook: {what}"), file=sys.stderr)
    if kept.commit or tag:
        pushed = f", pushed to {kept.pushed}" if kept.pushed else ""
        print(f"committed as {kept.commit or 'before'}{pushed}; tag {tag or 'none'}")
    return Exit.FAILED if kept.trouble or trouble else Exit.DONE


def _tag(args: Options, place: HandbookPlace, run_name: str, code: str) -> tuple[str, str]:
    """The tag, and what is in its way."""
    found = re.fullmatch(r"([0-9a-f]{7,40})(?: \+ patch ([0-9a-f]{12}))?", code)
    if found is None:
        return "", f"no tag: the run's code is {code or 'not recorded'}"
    commit, patch, folder = found[1], found[2], place.settings.folder
    if patch is not None:
        if args.at is None:
            return "", f"no tag: the run's code was {code}; commit that very diff on top of it, then: --at COMMIT"
        if args.at.startswith("-") or not (patch_identity(folder, commit, args.at) or "").startswith(patch):
            return "", f"no tag: {safe(args.at, 60)} is not {code}"
        commit = args.at
    return tag_in_git(folder, f"seal/{run_name}", commit, os.environ, push=args.push)
