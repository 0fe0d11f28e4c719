"""`patrol verify`: results that came home, each file against the manifest and loaded once."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import argument, command
from onbox.contract.exits import Exit
from onbox.contract.names import name_problem
from onbox.errors import Trouble
from onbox.model.units import counted, format_size
from onbox.outside import safe_line
from onbox.system.clock import wall
from patrol.commands.options import common_options
from patrol.config.configured import load_settings, split_run
from patrol.memory.transfers import Register
from patrol.tell.handbook_hook import log_in_handbook
from patrol.transfer.manifest import NotOne
from patrol.transfer.names import MANIFEST
from patrol.verdict import Severity
from patrol.verify.check import check_all, read_manifest

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from patrol.config.settings import Settings
    from patrol.transfer.manifest import Head, HomeManifest
    from patrol.verify.check import Result

EXAMPLES = """\
examples:
  patrol verify pulled/gpu1/digits        every file against the manifest, and each loaded once
  patrol verify pulled/gpu1/digits -v     and what was seen of each
"""
SHOWN = 50


@command(EXAMPLES)
@argument("dir", metavar="DIR", help="the folder that `patrol pull` wrote, or BOX/RUN")
@click.option("-v", "--verbose", is_flag=True, help="a line for each file")
@common_options
def run(args: Options) -> int:
    shown = os.path.abspath(args.dir)
    settings = load_settings(args, os.environ, looks=True)
    folder = _folder(settings, args.dir, shown)
    manifest = _read(folder, args.dir)
    results = []
    for result in check_all(folder, manifest, settings.config.verify):
        results.append(result)
        if args.verbose and not args.json:
            print(_line(result))
    head, errors = manifest.head, [one for one in results if one.problem]
    passed = not errors and bool(results) and head.is_complete
    _enter(settings, folder, head, passed=passed, summary=_summary(results, head))
    if args.json:
        print(json.dumps(_data(results, head, passed=passed), indent=2))
        return Exit.DONE if passed else Severity.WARNING
    for line in _lines(results, head, verbose=args.verbose):
        print(line)
    return Exit.DONE if passed else Severity.WARNING


def _folder(settings: Settings, word: str, path: str) -> str:
    """A folder, or `BOX/RUN`: then where that was pulled to."""
    box, run = split_run(word)
    if os.path.isdir(path) or not run:
        return path
    if name_problem(box) is not None or name_problem(run) is not None:
        return path
    known = Register(settings.state).read("pull", box, run)
    return known.destination if known is not None else path


def _read(folder: str, shown: str) -> HomeManifest:
    try:
        return read_manifest(folder)
    except FileNotFoundError:
        raise Trouble(
            Exit.USAGE, f"{shown}: no {MANIFEST} there: it is written when `patrol pull` has come to its end"
        ) from None
    except NotOne as wrong:
        raise Trouble(Exit.USAGE, f"{shown}/{MANIFEST} is damaged: {wrong}; pull again") from wrong


def _line(result: Result) -> str:
    if result.problem:
        return f"ERROR    {safe_line(result.path)}: {safe_line(result.problem)}"
    if result.loaded:
        return f"loaded   {safe_line(result.path)}: {safe_line(result.loaded)}"
    return f"checksum {safe_line(result.path)}: {safe_line(result.why)}"


def _lines(results: list[Result], head: Head, *, verbose: bool) -> list[str]:
    errors = [one for one in results if one.problem]
    lines = [] if verbose else [_line(one) for one in errors[:SHOWN]]
    lines += [f"ERROR    and {len(errors) - SHOWN} more (-v)"] if len(errors) > SHOWN and not verbose else []
    for word, names in (("MISSING", head.missing), ("CHANGED", head.changed), ("UNREAD", head.unread)):
        lines += [f"{word:<8} {safe_line(name)}: it did not come" for name in names[:SHOWN]]
    plain = sum(not (one.problem or one.loaded) for one in results)
    loaded = sum(bool(one.loaded) for one in results)
    lines.append(f"{head.box}/{head.run}: {format_size(head.bytes_total)}, {loaded} loaded, {plain} by checksum alone")
    if any(not one.came for one in errors) or not head.is_complete:
        lines.append(f"next: pull again what is wrong: {shlex.join(('patrol', 'pull', f'{head.box}/{head.run}'))}")
    elif errors:
        lines.append(
            "next: a file that cannot be loaded is the same on the box: it was copied as it is. Make it again there"
        )
    else:
        lines.append(f"next: {shlex.join(('patrol', 'teardown-check', head.box))}")
    return [*lines, _summary(results, head)]


def _summary(results: list[Result], head: Head) -> str:
    """The last line: `OK 12/12, 0 errors`."""
    errors = sum(bool(one.problem) for one in results)
    absent = len(head.missing) + len(head.changed) + len(head.unread)
    passed = len(results) - errors
    word = "OK" if not errors and not absent and results else "FAILED"
    return f"{word} {passed}/{len(results) + absent}, {counted(errors + absent, 'error')}"


def _data(results: list[Result], head: Head, *, passed: bool) -> dict[str, Any]:
    return {
        "schema": 1,
        "ok": passed,
        "box": head.box,
        "run": head.run,
        "run_id": head.run_id,
        "commit": head.commit,
        "files": [one._asdict() for one in results],
        "missing": head.missing,
        "changed": head.changed,
        "unread": head.unread,
        "summary": _summary(results, head),
    }


def _enter(settings: Settings, folder: str, head: Head, *, passed: bool, summary: str) -> None:
    """On record for the teardown check, and in the run's own logbook."""
    if name_problem(head.box) is not None or name_problem(head.run) is not None:
        return
    register = Register(settings.state)
    known = register.read("pull", head.box, head.run)
    if known is not None and os.path.realpath(known.destination) == os.path.realpath(folder):
        verified = known._replace(verified_at=wall() if passed else None, verified_run_id=head.run_id if passed else "")
        register.write(verified, durable=True)
    text = f"results of {head.box}/{head.run} (run id {head.run_id or 'not known'}) in {folder}: {summary}"
    trouble = log_in_handbook(settings, f"{head.box}/{head.run}", safe_line(text))
    if trouble:
        print(f"patrol: not entered into the logbook: {safe_line(trouble)}", file=sys.stderr)
