"""`patrol push`: a folder of this machine goes to a box, or is compared with what lies there. Goes on after a cut."""

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
from onbox.model.boxes import DeclaredCount
from onbox.model.units import counted, format_duration
from onbox.outside import safe_line
from onbox.system.clock import pause, wall
from patrol.commands.options import common_options, complete_box
from patrol.config.configured import choose_boxes, load_settings
from patrol.config.ssh_target import target_of
from patrol.decide.remote_command import Untypeable, here
from patrol.memory.transfers import Register, Transfer
from patrol.transfer.compare import compared_line
from patrol.transfer.meter import Meter
from patrol.transfer.push import Copy, look, send
from patrol.transfer.stream.talk import LinkLost
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.cli.command import Options
    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings
    from patrol.transfer.compare import Compared

EXAMPLES = """\
examples:
  patrol push gpu1                  the folders in the box's `counts`: sends what is missing or short
  patrol push gpu1 data/train       this one of them, or any folder, to the same path below the project
  patrol push gpu1 --check          only compare names and sizes; --sha256: and contents
"""
FIRST_PAUSE_SECONDS = 1.0


@command(EXAMPLES)
@argument("box", metavar="BOX", help="the box that gets it", shell_complete=complete_box)
@argument("dir", metavar="DIR", required=False, help="a folder here (default: every folder in `counts`)")
@click.option("--check", is_flag=True, help="compare, and send nothing")
@click.option("--sha256", is_flag=True, help="compare contents, too")
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
    (box,) = choose_boxes(settings, [args.box])
    if box.is_cluster:
        raise Trouble(Exit.USAGE, f"{box.name} is a cluster: nothing of it is reached by ssh")
    codes, told = [], []
    for count in _counts(settings, box, args.dir):
        copy = Copy(target_of(settings, box), box.project, os.path.join(settings.folder, count.local), count.remote)
        command_ = _command(box, args.dir)
        try:
            found = _check(copy, args) if args.check else _send(settings, box, copy, count, command_, args)
        except LinkLost as lost:
            print(f"patrol: {box.name}: {safe_line(lost)}. Go on with: {command_}", file=sys.stderr)
            return Severity.UNKNOWN
        told.append({"local": count.local, "remote": count.remote, **_data(found)})
        codes.append(Severity.OK if found.is_complete else Severity.WARNING)
        if not args.json:
            print(compared_line(count.remote, found))
    if args.json:
        print(json.dumps({"schema": 1, "box": box.name, "folders": told}, indent=2))
    if Severity.WARNING in codes and args.check and not args.json:
        print(f"next: {_command(box, args.dir)}")
    return max(codes, default=Severity.OK, key=int)


def _counts(settings: Settings, box: BoxSettings, word: str | None) -> list[DeclaredCount]:
    if word is None:
        if not box.counts:
            text = f"{box.name} has no `counts` in onbox.toml, which name what it should hold"
            raise Trouble(Exit.USAGE, f"{text}; name a folder: patrol push {box.name} DIR")
        return list(box.counts)
    local = os.path.relpath(os.path.abspath(word), settings.folder)
    known = [count for count in box.counts if os.path.normpath(count.local) == local]
    if not known and local.startswith(".."):
        raise Trouble(Exit.USAGE, f"{word!r} lies outside the project: say where it goes with `counts` of the box")
    return known or [DeclaredCount(local, local)]


def _command(box: BoxSettings, word: str | None) -> str:
    try:
        return here("patrol", "push", box.name, *([word] if word else []))
    except Untypeable as shown:
        return safe_line(str(shown))


def _check(copy: Copy, args: Options) -> Compared:
    found, odd = look(copy, by_checksum=args.sha256)
    _tell_odd(odd)
    return found


def _send(
    settings: Settings, box: BoxSettings, copy: Copy, count: DeclaredCount, command_: str, args: Options
) -> Compared:
    """Send until nothing is missing, through links that break as long as bytes go out."""
    register = Register(settings.state)
    name = f"{count.local} → {box.name}:{count.remote}"
    transfer = Transfer("push", box.name, "", count.local, f"{box.name}:{count.remote}", wall(), command_)
    lock = register.lock(transfer.key)
    if lock is None:
        raise Trouble(Exit.ANOTHER_RUNNER, f"something is being pushed to {box.name} already, by another process")
    fruitless, delay = 0, FIRST_PAUSE_SECONDS
    try:
        while True:
            meter = None
            try:
                found, odd = look(copy, by_checksum=args.sha256)
                wanted = sum(found.here[one] for one in found.wanted)
                transfer = transfer._replace(bytes_total=sum(found.here.values()), files_total=len(found.here))
                if not found.wanted:
                    _tell_odd(odd)
                    break
                meter = Meter(name, wanted, limit=args.limit, tell=_teller(register, transfer, wanted))
                register.write(transfer)
                send(copy, found, meter)
                found, odd = look(copy, by_checksum=args.sha256)
                _tell_odd(odd)
                break
            except LinkLost as lost:
                fruitless = 0 if meter is not None and meter.done_bytes else fruitless + 1
                if lost.lasting or fruitless >= args.tries or args.tries == 1:
                    raise
                print(f"patrol: {box.name}: {safe_line(lost)}; going on in {format_duration(delay)}", file=sys.stderr)
                pause(delay)
                delay = min(60.0, 2 * delay)
            finally:
                if meter is not None:
                    meter.end()
        done = transfer._replace(done_at=wall(), bytes_done=transfer.bytes_total, is_complete=found.is_complete)
        register.write(done, durable=True)
        return found
    finally:
        lock.release()


def _teller(register: Register, transfer: Transfer, wanted: int) -> Callable[[int], None]:
    before = transfer.bytes_total - wanted
    return lambda count: register.write(transfer._replace(bytes_done=before + count, last_byte_at=wall()))


def _tell_odd(odd: list[str]) -> None:
    if odd:
        shown = ", ".join(safe_line(name, 80) for name in odd[:5])
        print(f"patrol: {counted(len(odd), 'link, FIFO or device')} left out: {shown}", file=sys.stderr)


def _data(found: Compared) -> dict[str, object]:
    return {
        "complete": found.is_complete,
        "files": len(found.here),
        "bytes": sum(found.here.values()),
        "missing": found.missing,
        "short": found.short,
        "different": found.differs,
        "extra": found.extra,
    }
