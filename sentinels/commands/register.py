"""`sentinel list`, `stop` and `reap`: who waits for what, and the end of those that should not."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import argument, command
from onbox.model.units import format_duration
from onbox.outside import safe_line
from onbox.system.clock import utc_text, wall
from sentinels.judge.outcome import SentinelExit
from sentinels.register import WaitRegister, WaitStanding, end_waiter, register_folder, standing_of
from sentinels.targets import BadTarget

if TYPE_CHECKING:
    from onbox.cli.command import Options


def _standings() -> tuple[WaitRegister, list[WaitStanding]]:
    register, now = WaitRegister(register_folder(os.environ)), wall()
    return register, [standing_of(entry, now) for entry in register.entries()]


@command()
@click.option("--json", is_flag=True, help="one JSON object")
def run_list(args: Options) -> int:
    _, standings = _standings()
    rows = [_row(standing, wall()) for standing in standings if standing.word != "over"]
    if args.json:
        print(json.dumps({"schema": 1, "waits": rows}, indent=2))
        return SentinelExit.LANDED
    for row in rows:
        contact = (
            f"last contact {format_duration(row['contact_seconds'])} ago"
            if row["contact_seconds"] is not None
            else "no contact"
        )
        left = f"limit in {format_duration(row['left_seconds'])}" if row["state"] == "waiting" else row["state"]
        targets = safe_line(" ".join(row["targets"]), 120)
        age = format_duration(row["age_seconds"])
        print(f"{row['id']}  pid {row['pid']:<8} age {age:<7} {left:<16} {contact:<22} {targets}")
    if not rows:
        print("nothing waits")
    return SentinelExit.LANDED


def _row(standing: WaitStanding, now: float) -> dict[str, Any]:
    entry = standing.entry
    heard = [at for at in entry.last_contact.values() if at is not None]
    return {
        "id": entry.ident,
        "state": standing.word,
        "targets": list(entry.texts),
        "pid": entry.waiter.pid,
        "armed_at": utc_text(entry.armed_at),
        "age_seconds": round(max(0.0, now - entry.armed_at), 1),
        "limit_seconds": entry.limit_seconds,
        "left_seconds": round(max(0.0, entry.began_at + entry.limit_seconds - now), 1),
        "contact_seconds": round(max(0.0, now - max(heard)), 1) if heard else None,
    }


@command("example:\n  sentinel stop gpu1:digits")
@argument("names", nargs=-1, metavar="TARGET", help="as it was typed, or the id that `list` shows")
@click.option("--all", "everyone", is_flag=True, help="all waits of this user")
def run_stop(args: Options) -> int:
    """0 if all that were named have ended."""
    register, standings = _standings()
    chosen = [one for one in standings if args.everyone or _is_named(one, args.names)]
    missing = [name for name in args.names if not any(_is_named(one, [name]) for one in standings)]
    if missing or not (args.names or args.everyone):
        raise BadTarget(
            f"nothing waits for {', '.join(missing)}; see: sentinel list"
            if missing
            else "stop which? wanted: TARGET, ID or --all"
        )
    return _end(register, chosen)


def _is_named(standing: WaitStanding, names: list[str]) -> bool:
    return any(name == standing.entry.ident or name in standing.entry.texts for name in names)


@command()
def run_reap(_: Options) -> int:
    """Clear entries whose process has gone and files that are not entries; end waiters that are frozen."""
    register, standings = _standings()
    chosen, damaged = [one for one in standings if one.word in ("dead", "over", "frozen")], register.damaged()
    if not chosen and not damaged:
        print("nothing to clear")
    code = _end(register, chosen)
    for ident in damaged:
        register.remove(ident)
        print(f"{ident}  damaged, removed")
    return code


def _end(register: WaitRegister, standings: list[WaitStanding]) -> int:
    well = True
    for entry, word in standings:
        gone = word in ("dead", "over", "parked") or end_waiter(entry.waiter, signal.SIGTERM)
        well = well and gone
        if gone:
            register.remove(entry.ident)
        say = {"waiting": "ended", "frozen": "was frozen, ended"}.get(word, "removed")
        print(f"{entry.ident}  {say if gone else 'could not be ended'}  {safe_line(' '.join(entry.texts), 120)}")
    return SentinelExit.LANDED if well else SentinelExit.FAILED
