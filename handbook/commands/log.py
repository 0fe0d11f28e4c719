"""`handbook log`: write into a run's record, show it, prove that nobody changed it."""

from __future__ import annotations

import getpass
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from handbook.auto_entries import contract_of
from handbook.commands.options import common_options, run_option
from handbook.gather import gather
from handbook.log.entry import KINDS, PEOPLES_KINDS, Damage, LogEntry, make_entry
from handbook.log.git_sync import is_rewritten, keep_in_git
from handbook.log.logbook import LogbookFile, find_books
from handbook.page.phrases import safe
from handbook.place import find_place
from handbook.which_run import about_run, planned_run
from onbox.cli.command import argument, command
from onbox.contract.exits import Exit
from onbox.contract.names import name_problem
from onbox.contract.readings import observed
from onbox.errors import Trouble
from onbox.model.units import counted
from onbox.outside import safe_line, safe_text
from onbox.system.clock import wall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from handbook.gather import HandbookPlace
    from handbook.page.facts import RunFacts
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  handbook log "loss is flat since step 4000; letting it run to 6000"
  handbook log --kind decision --run digits --next "look at 06:00" "resume from step 4000, not 4500"
  handbook log show --run digits --kind launch
  handbook log --push "sealed"   and commit the logbook, only that file, and push it (--commit: only commit)
  handbook log commit            commit every logbook that is not in git yet
  handbook log verify            nothing edited, lost or moved
"""
ACTOR = "ONBOX_ACTOR"
FIELDS = ("status", "reason", "evidence", "decision", "next")
LINEAGES = ("same", "new")


def _field(name: str, about: str, declared: str = "") -> Callable[[Any], Any]:
    return click.option(f"--{name}", declared or name, default="", metavar="TEXT", help=about)


@command(EXAMPLES)
@argument("words", nargs=-1, required=True, metavar="TEXT", help="what to write; or alone: `show`, `verify`, `commit`")
@common_options
@run_option
@click.option("--kind", type=click.Choice(KINDS), help="what kind of entry (default: observation; show: all)")
@_field("status", "the entry's field `status`")
@_field("reason", "the entry's field `reason`")
@_field("evidence", "the entry's field `evidence`")
@_field("decision", "the entry's field `decision`")
@_field("next", "the entry's field `next`")
@click.option(
    "--lineage",
    type=click.Choice(LINEAGES),
    help="of --kind launch by hand: same run id, tracker and output root; or a new run for the record",
)
@_field("old", "with --lineage new: id of the previous run", "launch_old")
@_field("new", "with --lineage new: id of this one", "launch_new")
@_field("from", "with --lineage new: checkpoint it starts from", "launch_from")
@_field("root", "with --lineage new: its output root", "launch_root")
@_field("code", "with --lineage new: its commit", "launch_code")
@click.option("--actor", metavar="NAME", help=f"who says so (default: ${ACTOR}, or the user)")
@click.option("--commit", is_flag=True, help="commit the logbook: only that file, nothing that is staged")
@click.option("--push", is_flag=True, help="commit it and push, if nothing else would go along")
def run(args: Options) -> int:
    place = find_place(args, os.environ, before_launch=True)
    if args.words == ["show"]:
        return _show(args, place)
    if args.words == ["verify"]:
        return _verify(args, place)
    if args.words == ["commit"]:
        return _tell_git(_books(args, place), push=args.push)
    return _write(args, place)


def _write(args: Options, place: HandbookPlace) -> int:
    kind = args.kind or "observation"
    if kind not in PEOPLES_KINDS:
        raise Trouble(
            Exit.USAGE, f"--kind {kind}: such entries are made by themselves; yours: {', '.join(PEOPLES_KINDS)}"
        )
    facts = gather(place, wall())
    about = about_run(args.run, facts, planned_run(place.settings))
    text = safe_text(" ".join(args.words).replace("\r\n", "\n")).strip()
    if not text:
        raise Trouble(Exit.USAGE, "an entry needs a text")
    first, _, rest = text.partition("\n")
    long = len(first) > 120
    entry = make_entry(
        kind,
        safe(first, 120),
        at=wall(),
        run=about.name,
        actor=actor_of(args),
        attempt=observed(about.attempt) or 0,
        text=text if long or rest else "",
        lineage=lineage_of(args, about) if kind == "launch" else "",
        **{name: safe(getattr(args, name), 1000) for name in FIELDS},
    )
    book = LogbookFile(place.settings.folder, about.run, place.settings.state)
    written = book.append([entry], contract_of(about, facts, place.settings.config.contract))
    if written.torn:
        print(f"handbook: an earlier append had been cut off; its bytes are in {written.torn}", file=sys.stderr)
    entry = written.entries[0]
    if args.json:
        print(json.dumps({"schema": 1, "path": book.path, "entry": entry.seq}))
    else:
        print(f"{book.path}: entry {entry.seq}")
    way = place.settings.config.logbook.git
    if args.commit or args.push or way != "never":
        return _tell_git([book], push=args.push or way == "push", out=sys.stderr if args.json else sys.stdout)
    return Exit.DONE


def lineage_of(args: Options, about: RunFacts) -> str:
    """What a launch by hand continues. Raises Trouble where its record would leave the lineage open: a reader months
    later must be able to tell what was trained on what.
    """
    if not args.reason or args.lineage is None:
        raise Trouble(Exit.USAGE, "--kind launch wants --reason (why it was recoverable) and --lineage same|new")
    known, identity = observed(about.resume), observed(about.identity)
    if args.lineage == "same":
        if known and known.refused:
            raise Trouble(
                Exit.USAGE, f"--lineage same: {known.refused[0]} is newer and not of this run; move it away, or: new"
            )
        return f"same: run id {about.run_id or '?'}, code {identity.code if identity else 'not recorded'}"
    wanted = ("old", "new", "from", "root", "code")
    missing = [f"--{name}" for name in wanted if not getattr(args, f"launch_{name}")]
    if missing:
        raise Trouble(Exit.USAGE, f"--lineage new: a new run for the record wants {', '.join(missing)} too")
    if args.launch_old == args.launch_new:
        raise Trouble(Exit.USAGE, "--lineage new: --old and --new name the same run")
    return "new: " + "; ".join(f"{name} {safe(getattr(args, f'launch_{name}'), 200)}" for name in wanted)


def _tell_git(books: Sequence[LogbookFile], *, push: bool, out: TextIO | None = None) -> int:
    """Commit logbooks, and push if asked to; 1 where something was in the way: the entries stand all the same."""
    refused = False
    for book in books:
        kept = keep_in_git(book.path, book.run, os.environ, push=push)
        if kept.trouble:
            refused = True
            what = f"committed as {kept.commit}, but not pushed" if kept.commit else "not in git"
            print(safe_line(f"handbook: {book.path}: {what}: {kept.trouble}"), file=sys.stderr)
            continue
        said = [f"committed as {kept.commit}" if kept.commit else "nothing new to commit"]
        said += [f"pushed to {kept.pushed}"] if kept.pushed else []
        print(safe_line(f"{book.path}: {', '.join(said)}"), file=out)
    return Exit.FAILED if refused else Exit.DONE


def keep_books(place: HandbookPlace, books: Sequence[LogbookFile]) -> int:
    """Into git, where `[logbook] git` says so."""
    way = place.settings.config.logbook.git
    return Exit.DONE if way == "never" else _tell_git(books, push=way == "push", out=sys.stderr)


def actor_of(args: Options) -> str:
    """Who writes."""
    return safe(args.actor or os.environ.get(ACTOR) or _user(), 60)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def _books(args: Options, place: HandbookPlace) -> list[LogbookFile]:
    books = find_books(place.settings.folder, place.settings.state)
    if args.run is None:
        return books
    run = args.run.rpartition("/")[2]
    if name_problem(run):
        raise Trouble(Exit.USAGE, f"--run {run!r}: {name_problem(run)}")
    found = [book for book in books if book.run == run]
    if not found:
        raise Trouble(Exit.USAGE, f"no logbook of {run}; there are: {', '.join(book.run for book in books) or 'none'}")
    return found


def _show(args: Options, place: HandbookPlace) -> int:
    books = _books(args, place)
    shown = [(book.run, entry) for book in books for entry in book.read().entries if args.kind in (None, entry.kind)]
    if args.json:
        print(
            json.dumps(
                {"schema": 1, "entries": [{"logbook": run, **entry._asdict()} for run, entry in shown]}, indent=1
            )
        )
        return Exit.DONE
    for run, entry in shown:
        print(safe_line(_line(run, entry, many=len(books) > 1)))
    if not shown:
        print("nothing is recorded yet")
    return Exit.DONE


def _line(run: str, entry: LogEntry, *, many: bool) -> str:
    head = f"{run} " if many else ""
    attempt = f" attempt {entry.attempt}" if entry.attempt else ""
    lines = [f"{head}{entry.seq:>4} {entry.at} {entry.kind:<11} {entry.title}  [{entry.actor}{attempt}]"]
    lines += [
        f"       {name}: {value}" for name in (*FIELDS[:2], "lineage", *FIELDS[2:]) if (value := getattr(entry, name))
    ]
    lines += [f"       {line}" for line in entry.text.split("\n")] if entry.text else []
    return "\n".join(lines)


def _verify(args: Options, place: HandbookPlace) -> int:
    books = _books(args, place)
    found = [(book, damage) for book in books for damage in book.damages()]
    rewritten = [book for book in books if is_rewritten(book.path, os.environ)]
    found += [(book, Damage(1, "it does not begin with what was committed")) for book in rewritten]
    if args.json:
        data = [{"path": book.path, **damage._asdict()} for book, damage in found]
        print(json.dumps({"schema": 1, "logbooks": len(books), "damages": data}, indent=1))
    else:
        for book, damage in found:
            print(f"{book.path}:{damage.line}: {damage.what}")
        if not found:
            count = sum(len(book.read().entries) for book in books)
            print(f"{counted(len(books), 'logbook')}, {count} entries: nothing edited, lost or moved")
    return Exit.FAILED if found else Exit.DONE
