"""`patrol pull`: a run's results, logs, markers and records come home, with a manifest. Goes on where it
was cut off.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import click

from onbox.cli.amounts import WholeNumber, size
from onbox.cli.command import argument, command
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.model.units import counted, format_size
from onbox.outside import safe_line
from patrol.commands.options import common_options, run_name_argument
from patrol.commands.runs import one_run
from patrol.config.configured import load_settings
from patrol.config.ssh_target import target_of
from patrol.decide.remote_command import Untypeable, here
from patrol.look_now import look_now
from patrol.memory.transfers import Register
from patrol.transfer.pull import PullJob, find
from patrol.transfer.session import Interrupted, Wishes, pull
from patrol.transfer.stream.talk import LinkLost
from patrol.transfer.wanted import name_results
from patrol.verdict import Severity

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from patrol.config.settings import Settings
    from patrol.transfer.manifest import Head
    from patrol.transfer.pull import FoundFiles, Pulled

EXAMPLES = """\
examples:
  patrol pull gpu1/digits               into pulled/gpu1/digits; the same command continues after a cut
  patrol pull gpu1/digits results       into the folder `results`
  patrol pull gpu1/digits --dry-run     what would be copied, and how much
  patrol pull gpu1/digits --limit 5MB   at most this much per second
"""
DEFAULT_FOLDER = "pulled"
SHOWN = 20


@command(EXAMPLES)
@run_name_argument("BOX/RUN", "the run, as `patrol status` shows it")
@argument("dir", required=False, metavar="DIR", help="where to (default: pulled/BOX/RUN beside onbox.toml)")
@click.option("--dry-run", is_flag=True, help="list what would be copied; copy nothing")
@click.option("--limit", type=size(1), metavar="SIZE", help="bytes per second at most, such as 5MB")
@click.option(
    "--tries",
    type=WholeNumber(1),
    default=5,
    metavar="N",
    help="give up after this many connections without a byte (default: 5)",
)
@common_options
def run(args: Options) -> int:
    settings = load_settings(args, os.environ, looks=True)
    box, name = one_run(settings, args.run_name)
    job = PullJob(target_of(settings, box), box, settings.state_dir_of(box), name, args.limit)
    is_watched = any(watch.name == name for watch in box.watches)
    if args.dry_run:
        return _list(job, as_json=args.json)
    folder = args.dir or os.path.join(settings.folder, DEFAULT_FOLDER, box.name, name)
    command = command_of(settings, f"{box.name}/{name}", args.dir)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise Trouble(Exit.USAGE, f"{safe_line(folder)} is not a folder: name one, or nothing")
    register = Register(settings.state)
    if is_watched:
        now = look_now(settings, box, name)  # before its files are listed: what was done then is whole
        job = job._replace(done=now.is_done, ended_at=now.ended_at)
    try:
        pulled = pull(job, Wishes(os.path.abspath(folder), command, args.tries), register, _warn)
    except Interrupted as interrupted:
        came = f"{format_size(interrupted.done_bytes)} of {format_size(interrupted.total_bytes)} are here"
        came = f"; {came}" if interrupted.total_bytes else ""
        _warn(f"{box.name}: {interrupted.why}{came}. Go on with: {command}")
        return Severity.UNKNOWN
    except KeyboardInterrupt:
        _warn(f"interrupted; what came is kept. Go on with: {command}")
        return Severity.UNKNOWN
    shown = os.path.relpath(folder) if not os.path.isabs(args.dir or "") else folder
    return _tell(pulled, shown, is_watched=is_watched, as_json=args.json)


def command_of(settings: Settings, run_name: str, folder: str | None) -> str:
    """The command that does this again, from the project's directory."""
    words = ["patrol", "pull", run_name]
    if folder:
        words.append(os.path.relpath(folder, settings.folder) if not os.path.isabs(folder) else folder)
    try:
        return here(*words)
    except Untypeable as untypeable:
        return safe_line(str(untypeable))


def _list(job: PullJob, *, as_json: bool) -> int:
    try:
        found = find(job)
    except LinkLost as lost:
        _warn(f"{job.box.name}: {lost}")
        return Severity.UNKNOWN
    files = sorted(found.files.values(), key=lambda file: file.local)
    total = sum(file.size for file in files)
    if as_json:
        listed = [{"path": file.local, "bytes": file.size} for file in files]
        print(json.dumps({"schema": 1, "files": listed, "bytes": total, "missing": found.missing}, indent=2))
        return _code(found)
    for file in files:
        print(f"{format_size(file.size):>10}  {safe_line(file.local)}")
    for name in found.missing:
        print(f"   MISSING  {safe_line(name)}")
    print(f"{counted(len(files), 'file')}, {format_size(total)}; nothing was brought (--dry-run)")
    return _code(found)


def _code(found: FoundFiles) -> int:
    return Severity.CRITICAL if found.missing else Severity.OK


def _tell(pulled: Pulled, folder: str, *, is_watched: bool, as_json: bool) -> int:
    head = pulled.head
    code = _severity(head)
    if as_json:
        data = {"schema": 1, **head._asdict(), "complete": head.is_complete, "came_bytes": pulled.came_bytes}
        print(json.dumps({**data, "folder": folder, "notes": pulled.notes}, indent=2))
        return code
    for word, names in (("MISSING", head.missing), ("CHANGED", head.changed), ("UNREAD", head.unread)):
        for name in names[:SHOWN]:
            print(f"{word:<8} {safe_line(name)}")
        if len(names) > SHOWN:
            print(f"{word:<8} and {len(names) - SHOWN} more: see the first line of the manifest")
    for note in pulled.notes:
        print(note)
    came = "nothing new" if not pulled.came_bytes else f"{format_size(pulled.came_bytes)} came now"
    print(f"{head.box}/{head.run}: {counted(head.files, 'file')}, {format_size(head.bytes_total)} in {folder} ({came})")
    for line in _ends(pulled, is_watched=is_watched):
        print(line)
    print(f"next: {here('patrol', 'verify', folder)}" if code == Severity.OK or head.files else "nothing came")
    return code


def _severity(head: Head) -> Severity:
    if head.missing or head.unread or not head.files:
        return Severity.CRITICAL
    return Severity.WARNING if head.changed else Severity.OK


def _ends(pulled: Pulled, *, is_watched: bool) -> list[str]:
    head, lines = pulled.head, []
    if head.changed:
        lines.append("what changed while it was read was not taken: pull again when it is at rest")
    if not head.done:
        what = "nothing proves that the job is done" if is_watched and not head.run_id else "the run is not done"
        lines.append(f"{what}: this is what it has so far")
    if not pulled.results and head.files:
        lines.append(f"no results came, only its log and its records: {name_results(head.box, is_watched=is_watched)}")
    return lines


def _warn(text: str) -> None:
    print(f"patrol: {safe_line(text)}", file=sys.stderr)
