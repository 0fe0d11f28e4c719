"""`handbook verify`: every statement of the page that can be checked is checked, here and on the boxes."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

from handbook.check.checklist import PATHS_END, PATHS_SCRIPT, CheckedStatement, check_page, compare, read_paths
from handbook.commands.options import common_options
from handbook.gather import gather
from handbook.log.logbook import find_books
from handbook.look import look_now
from handbook.page.phrases import safe
from handbook.page.publish import DATA, PAGE
from handbook.page.render import DETAILED_RUNS
from handbook.page.render_json import as_data
from handbook.place import find_place, home_of
from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.model.screen import hanging
from onbox.outside import safe_line
from onbox.redact import redact
from onbox.system.clock import parse_utc, wall
from onbox.system.files import read_file
from patrol.config.ssh_target import target_of
from patrol.ssh.client import NoAnswer, ask, script_with_values
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handbook.gather import HandbookPlace
    from handbook.page.facts import HandbookFacts, RunFacts
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  handbook verify               0: all that can be checked is true; 1: the list of what is false; 3: not all could be
  handbook verify --json | jq '.statements[] | select(.truth == false)'
"""
PATHS_SECONDS = 30.0


@command(EXAMPLES)
@common_options
def run(args: Options) -> int:
    place = find_place(args, os.environ)
    page, stated = _read(place)
    trouble = look_now(place)
    facts = gather(place, wall(), fetching=True, all_anew=True)
    found = [
        _is_fresh(stated, wall()),
        *check_page(page, stated, DETAILED_RUNS),
        *compare(stated, as_data(facts)),
        *_paths(place, facts),
        *_here(place, page),
    ]
    found += [CheckedStatement("look", None, trouble)] if trouble else []
    return _tell(args, found)


def _read(place: HandbookPlace) -> tuple[str, dict[str, Any]]:
    """The page and its data, as they lie there. Raises Trouble."""
    folder = home_of(place)
    page, data = (read_file(os.path.join(folder, name)) for name in (PAGE, DATA))
    if page is None or data is None:
        raise Trouble(Exit.USAGE, f"no {PAGE} and {DATA} in {folder}: handbook build")
    try:
        stated = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Trouble(Exit.FAILED, f"{os.path.join(folder, DATA)} is damaged ({error}): handbook build") from error
    if not isinstance(stated, dict):
        raise Trouble(Exit.FAILED, f"{os.path.join(folder, DATA)} holds no JSON object: handbook build")
    return page.decode("utf-8", "replace"), stated


def _is_fresh(stated: dict[str, Any], now: float) -> CheckedStatement:
    until = parse_utc(str(stated.get("good_until") or ""))
    return CheckedStatement(
        "as of", until is not None and now <= until, f"{stated.get('as_of')}, good until {stated.get('good_until')}"
    )


def _paths(place: HandbookPlace, facts: HandbookFacts) -> Iterator[CheckedStatement]:
    """Directories, logs and programs on each box."""
    for box in place.settings.config.boxes:
        runs = [run for run in facts.runs if run.box == box.name and run.managed and run.run]
        if not runs or box.project is None:
            continue
        if why := place.settings.not_trusted(box):
            yield CheckedStatement(f"{box.name} paths", None, why)
            continue
        paths = [path for run in runs for path in _paths_of(run)]
        about = [
            f"{box.name} project",
            f"{box.name} program {runs[0].onbox[0]}",
            *(f"{box.name} {path}" for path in paths),
        ]
        there = [_as_it_lies(path, box.project) for path in paths]
        stdin = script_with_values(PATHS_SCRIPT, (box.project, runs[0].onbox[0], *there))
        answer = ask(target_of(place.settings, box), stdin, end_mark=PATHS_END, deadline_seconds=PATHS_SECONDS)
        if isinstance(answer, NoAnswer):
            yield CheckedStatement(f"{box.name} paths", None, f"{answer.reason}: {answer.detail}")
        else:
            yield from read_paths(answer.output, about)


def _as_it_lies(path: str, project: str) -> str:
    """The path with the project's own name: what is read from a box shows a line break in it as a sign."""
    shown = safe_line(project, len(path) + 1)
    return project + path.removeprefix(shown) if path.startswith(f"{shown}/") else path


def _paths_of(run: RunFacts) -> list[str]:
    log = run.log if isinstance(run.log, str) else None
    return [path for path in (run.place, f"{run.place}/logs" if run.place else "", log) if path]


def _here(place: HandbookPlace, page: str) -> Iterator[CheckedStatement]:
    """What can be checked on this machine: programs, logbooks, and that no secret got in."""
    words = ["ssh" if place.settings.ssh_command == ("ssh",) else place.settings.ssh_command[0]]
    words = [] if all(box.backend == "local" for box in place.settings.config.boxes) else words
    for word in words:
        yield CheckedStatement(f"program {word}", shutil.which(word) is not None, "it is on this machine's PATH")
    for book in find_books(place.settings.folder, place.settings.state):
        damages = book.damages()
        yield CheckedStatement(f"logbook {book.run}", not damages, damages[0].what if damages else "unchanged")
    yield CheckedStatement("no secret in the page", redact(page) == page, "the page is the same after redaction")


def _print_folded(truth: str, text: str) -> None:
    head = f"{truth:<9}  "
    print("\n".join(hanging(head, safe_line(text), indent=len(head))))


def _tell(args: Options, found: list[CheckedStatement]) -> int:
    false = [one for one in found if one.truth is False]
    unchecked = [one for one in found if one.truth is None]
    if args.json:
        counts = {"checked": len(found) - len(unchecked), "false": len(false), "unchecked": len(unchecked)}
        print(json.dumps({"schema": 1, **counts, "statements": [one._asdict() for one in found]}, indent=1))
    else:
        for one in false:
            _print_folded("FALSE", f"{one.about}: {one.says}")
        for one in unchecked:
            _print_folded("UNCHECKED", f"{one.about}: {safe(one.says, 200)}")
        print(
            f"{len(found) - len(unchecked)} statements checked, {len(false)} false, {len(unchecked)} not checkable now"
        )
    if false:
        return Exit.FAILED
    return int(Severity.UNKNOWN) if unchecked else Exit.DONE
