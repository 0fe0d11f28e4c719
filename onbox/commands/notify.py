"""`onbox notify test|flush|list`: try the targets, deliver now, show what waits, went out and died."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.amounts import Number
from onbox.cli.command import argument, command, config_option, group, json_option
from onbox.commands.shared.arguments import run_argument
from onbox.commands.shared.project import (
    existing_run,
    load_project,
    load_project_to_read,
    run_to_act_on,
)
from onbox.config.trust_keys import TELL
from onbox.contract.exits import Exit
from onbox.contract.notices import TEST_EVENT, Notice
from onbox.errors import Trouble
from onbox.model.units import counted, format_duration
from onbox.notify.queue.outbox import Outbox
from onbox.notify.queue.queue_status import survey
from onbox.notify.send.deliver import Life, deliver
from onbox.notify.send.worker import try_once
from onbox.notify.shown_url import mask_url
from onbox.notify.signing import BadSecret
from onbox.notify.table import format_of
from onbox.notify.targets import NotSet, resolve_target
from onbox.notify.types import Unusable
from onbox.system.clock import parse_utc, utc_text, wall
from onbox.trust import require

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from onbox.commands.shared.project import Project
    from onbox.contract.notify_targets import NotifyTarget

EXAMPLES = """\
examples:
  onbox notify test             send one test message to every target, and show each answer
  onbox notify test team        to this target only
  onbox notify list             what waits, what was delivered, what was given up and why
  onbox notify flush            deliver waiting messages now (at most a minute)
  onbox notify flush --dead     try again what was given up, for example after correcting the URL
"""
FLUSH_SECONDS = 60.0
SHOWN = 20


# -- test


@command()
@argument("targets", nargs=-1, metavar="TARGET", help="names of targets (default: all)")
@config_option
@json_option
def run_test(args: Options) -> int:
    """0 if every target took it, 1 otherwise."""
    project = load_project(args.config, asks=(TELL,))
    require(project.config_path, project.withheld, (TELL,))
    results = [_test_one(project, target) for target in _chosen(project, args.targets)]
    well = all(result["outcome"] == "delivered" for result in results)
    if args.json:
        print(json.dumps({"schema": 1, "delivered": well, "targets": results}, indent=2))
    else:
        for result in results:
            where = result["url"] or "?"
            print(
                f"{result['target']:<20} {result['format'] or '?':<12} {where}  {result['outcome']}: {result['reason']}"
            )
    return Exit.DONE if well else Exit.FAILED


def _chosen(project: Project, names: list[str]) -> list[NotifyTarget]:
    targets = project.config.notify.targets
    known = [target.name for target in targets]
    if not targets:
        raise Trouble(Exit.USAGE, '[notify] names no target; add for example: urls = ["env:ONBOX_WEBHOOK"]')
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Trouble(Exit.USAGE, f"no target {', '.join(unknown)}; there are: {', '.join(known)}")
    return [target for target in targets if not names or target.name in names]


def _test_one(project: Project, target: NotifyTarget) -> dict[str, Any]:
    """What became of one test message, with the URL masked."""
    result: dict[str, Any] = {"target": target.name, "format": target.format, "url": None, "status": None}
    began = wall()
    try:
        resolved = resolve_target(target, os.environ, project.folder)
        result |= {"url": mask_url(resolved.url), "format": format_of(resolved.url, target.format).name}
        verdict = try_once(_test_notice(project), resolved, project.config.notify.pace.attempt_seconds)
        outcome, reason = verdict.outcome.name.lower(), verdict.reason
        result |= {"status": verdict.status, "retry_after_seconds": verdict.retry_after_seconds}
    except (NotSet, Unusable, BadSecret) as problem:
        outcome, reason = "waits", str(problem)
    words = {"later": "will be tried again", "never": "refused for good", "unclear": "unclear"}
    result |= {"outcome": words.get(outcome, outcome), "reason": reason, "seconds": round(wall() - began, 3)}
    return result


def _test_notice(project: Project) -> Notice:
    return Notice(
        id=f"msg_test_{os.urandom(8).hex()}",
        at=utc_text(wall()),
        event=TEST_EVENT,
        state="test",
        run=project.config.run_name,
        run_id="test",
        project=project.folder,
        host=os.uname().nodename,
        reason="somebody typed: onbox notify test",
    )


# -- flush


@command()
@run_argument
@click.option("--dead", is_flag=True, help="also try again what was given up")
@click.option(
    "--limit",
    type=Number(0.001, 1_000_000),
    default=FLUSH_SECONDS,
    metavar="SECONDS",
    help="at most this long (default: 60)",
)
@config_option
@json_option
def run_flush(args: Options) -> int:
    """0 if nothing waits afterwards, 1 otherwise."""
    paths = run_to_act_on(load_project_to_read(args.config), args.run)
    outbox = Outbox(paths)
    dead = outbox.names(paths.dead) if args.dead else []
    if not args.json and (waiting := len(outbox.pending()) + len(dead)):
        trying = f"onbox: trying to deliver {counted(waiting, 'message')}, for at most {format_duration(args.limit)}"
        print(trying, file=sys.stderr, flush=True)
    mine = deliver(paths, os.environ, Life(args.limit, 0.0, at_once=True, patience_seconds=args.limit), dead=dead)
    seen = survey(paths)
    if args.json:
        print(json.dumps({"schema": 1, "flushed_here": mine, **seen}, indent=2))
    else:
        print(_flushed(seen["pending_total"]) if mine else "another deliverer is at work and did not make way")
        _print_targets(seen)
    return Exit.DONE if not seen["pending_total"] else Exit.FAILED


def _flushed(waiting: int) -> str:
    return f"{waiting} not delivered: tried, and kept" if waiting else "all delivered"


# -- list


@command()
@run_argument
@config_option
@json_option
def run_list(args: Options) -> int:
    paths = existing_run(load_project_to_read(args.config), args.run)
    seen = survey(paths, details=SHOWN)
    if args.json:
        print(json.dumps({"schema": 1, **seen}, indent=2))
        return Exit.DONE
    _print_targets(seen)
    for folder in ("pending", "dead", "sent"):
        for row in seen[folder]:
            why = f" · {row['reason']}" if row.get("reason") else ""
            print(f"  {folder:<8} {row['at'] or '?'} {row['target']:<16} {row['title']}{why}")
    return Exit.DONE


def _print_targets(seen: dict[str, Any]) -> None:
    if not seen["targets"]:
        print("no messages are sent for this run: [notify] names no target")
    for row in seen["targets"]:
        line = f"{row['target']:<20} {row['format'] or '?':<12} {row['url'] or '?'}"
        line += f"  {row['pending']} waiting, {row['sent']} sent, {row['dead']} dead"
        if row["pending"]:
            line += f" · {row['reason'] or 'not tried yet'}"
            began = parse_utc(row["oldest_pending_at"] or "")
            line += f" · oldest {format_duration(max(0.0, wall() - began))}" if began else ""
        print(line)


notify = group(EXAMPLES)
notify.add("test", "send one test message to each target", run_test)
notify.add("flush", "deliver waiting messages now", run_flush)
notify.add("list", "what waits, what was sent, what was given up", run_list)
