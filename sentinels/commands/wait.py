"""`sentinel wait`: from the words to a wait, and from its end to a line, an exit code and what follows it."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import click

from onbox.cli.command import argument, command, config_option, files
from onbox.config.trust_keys import ACT, TELL
from onbox.cron.schedule import parse_schedule
from onbox.model.boxes import USUAL_DONE_REGEX
from onbox.model.units import format_duration
from onbox.project import load_project
from onbox.system.clock import wall
from onbox.trust import require
from patrol.config.configured import settings_of, unseen_meanwhile, uses_of_patrol
from patrol.timer.heartbeat import read_heartbeat, stand
from sentinels.judge.conditions.base import Arming
from sentinels.judge.conditions.program import ProgramCondition
from sentinels.judge.conditions.run import RunCondition
from sentinels.judge.conditions.table import make_conditions, with_processes
from sentinels.judge.jobs import HandedCondition, JobCondition
from sentinels.judge.watched import WatchedCondition
from sentinels.link.channel import Channel
from sentinels.link.job_channel import POLL_SECONDS, JobChannel
from sentinels.link.schedule import LinkPace, short_pace
from sentinels.link.table_channel import TableChannel
from sentinels.on_end import run_command, tell
from sentinels.report import final_json, final_line
from sentinels.resolve_targets import TargetPlace, find_place, note_of
from sentinels.targets import (
    BadTarget,
    Target,
    TargetKind,
    parse_artifact,
    parse_fail_marker,
    parse_logs,
    parse_process,
    parse_target,
    read_seconds,
)
from sentinels.wait import Plan, Signalled, Wait, WaitSignals
from sentinels.wait_registration import Duty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onbox.backends.cluster import Endpoint
    from onbox.cli.command import Options
    from patrol.config.settings import Settings
    from patrol.look_now import RunNow
    from sentinels.judge.conditions.base import WaitCondition
    from sentinels.judge.outcome import WaitFinding
    from sentinels.link.source import Source

EXAMPLES = """\
targets:
  MARKER                  a file on this machine          ckpt/DONE
  RUN                     a run of this project, here     digits
  BOX:/PATH/MARKER        a file on a box                 gpu1:/root/digits/DONE
  BOX:RUN                 a run of the box, by its name   gpu1:digits
BOX is a [boxes.*] of onbox.toml, or any host that ssh knows. What is there already counts at once, unless it is known
to be of an older run: by the run id in the marker, or older than the process of --pid. --new-only waits for new things.

examples:
  sentinel wait gpu1:digits && ./next.sh
  sentinel wait gpu1:/root/job/DONE --fail gpu1:/root/job/FAILED --pid gpu1:4711 --timeout 12h
  sentinel wait --log gpu1:/root/job/train.log --regex 'QUEUE DONE|Training completed' --stall-after 30m
  sentinel wait --artifact 'gpu1:/root/job/ckpt/epoch_30*.pt' --min-bytes 1GB --stable 20s
  sentinel wait gpu1:digits gpu2:digits --any --json
  sentinel wait gpu1:digits --timeout 25s     in slices: a call that ends with 124 is continued by the next one
"""


@command(EXAMPLES, exclusive=[("--all", "--any")])
@argument("targets", nargs=-1, metavar="TARGET", help="marker or run; see below", shell_complete=files)
@click.option("--log", multiple=True, metavar="PATH", help="a log (also BOX:PATH); the last match in it decides")
@click.option(
    "--regex",
    multiple=True,
    metavar="RE",
    help=f"the log line to wait for (default: {USUAL_DONE_REGEX})",
)
@click.option("--fail-regex", multiple=True, metavar="RE", help="a log line that means failure")
@click.option("--artifact", multiple=True, metavar="GLOB", help="a file (also BOX:GLOB) that is big enough and stable")
@click.option("--min-bytes", metavar="SIZE", help="its minimum size (default: not empty)")
@click.option("--stable", metavar="TIME", help="for how long it must not change (default: 10s)")
@click.option("--fail", multiple=True, metavar="MARKER", help="a marker that means failure")
@click.option(
    "--pid", multiple=True, metavar="PID", help="a process (also BOX:PID); ends the wait if it ends without a marker"
)
@click.option("--all", is_flag=True, help="until all targets have appeared, or one no longer can (default)")
@click.option("--any", is_flag=True, help="until one target has appeared, or none can any more")
@click.option("--timeout", metavar="TIME", default="3h", help="limit of the wait (default: 3h)")
@click.option("--stall-after", metavar="TIME", help="end as stalled when run or log is quiet for this long")
@click.option("--new-only", is_flag=True, help="ignore what was there before the wait began (except a run's end)")
@click.option("--once", is_flag=True, help="one look instead of a wait: one try, then 69")
@click.option("--fresh", is_flag=True, help="do not continue a wait that timed out before")
@click.option("--interval", metavar="TIME", help="one short connection every TIME, instead of a held one")
@click.option(
    "--exec", "command", metavar="CMD", help="shell line to run at the end, with SENTINEL_OUTCOME and others set"
)
@click.option("--notify", is_flag=True, help="send the outcome to the targets of [notify]")
@click.option("--json", is_flag=True, help="one JSON object instead of the line")
@config_option
def run(args: Options) -> int:
    try:
        return _wait(args)
    except Signalled as signalled:
        return _die_of(signalled.number)


def _die_of(number: int) -> int:
    """End as the signal would have ended us, so that the caller's shell sees what it was; everything is cleaned up."""
    sys.stdout.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


def _wait(args: Options) -> int:
    targets = read_targets(args)
    plan, arming, pace = read_terms(args, targets)
    asks = uses_of_patrol(os.environ) - {ACT} if any(target.box for target in targets) or args.notify else ()
    with unseen_meanwhile():
        project = load_project(args.config, asks=asks)
    settings = settings_of(project, os.environ)
    alone = unattended(plan, settings, wall())
    if alone and any(target.box for target in targets):
        print(f"sentinel: {alone}", file=sys.stderr)
    if args.notify:
        require(project.config_path, project.withheld, {TELL})
    if args.notify and not project.config.notify.targets:
        print("sentinel: --notify: [notify] of onbox.toml names no target, so no message will be sent", file=sys.stderr)
    places = [find_place(target, settings, os.getcwd()) for target in targets]
    if args.stall_after and not any(_shows_quiet(place) for place in places):
        raise BadTarget("--stall-after needs a run or a log whose quiet it can measure; add: --log PATH")
    for note in filter(None, (note_of(place, settings.config.boxes, os.getcwd()) for place in places)):
        print(f"sentinel: {note}", file=sys.stderr, flush=True)
    signals = WaitSignals()  # before the register: who supersedes us must not find us deaf
    try:
        duty = Duty(places, plan, fresh=args.fresh)
        channels = make_channels(places, arming, pace, duty.entry.armed_at)
        duty.recall(channels)
        wait = Wait(plan, channels, signals, duty.turn)
        wait.armed_at = duty.entry.armed_at
        finding = duty.watch(wait)
    finally:
        signals.close()
    _say(args, finding, wait)
    if args.notify:
        tell(project, finding)
    if args.command:
        run_command(args.command, finding)
    return int(finding.code)


def _shows_quiet(place: TargetPlace) -> bool:
    return place.target.kind in (TargetKind.RUN, TargetKind.LOG) or "/markers/" in place.target.path


UNATTENDED_SECONDS = 3600.0


def unattended(plan: Plan, settings: Settings, now: float) -> str:
    """A word on a long wait that nobody stands behind: a wait dies with its machine or session and tells nobody."""
    if plan.once or plan.limit_seconds <= UNATTENDED_SECONDS:
        return ""
    standing = stand(read_heartbeat(settings.state), parse_schedule(settings.patrol.schedule), now)
    if standing.timer_stale is False:
        return ""
    why = (
        "no timer of the patrol was ever seen here" if standing.timer_stale is None else "the patrol's timer is silent"
    )
    return f"{why}: over {format_duration(UNATTENDED_SECONDS)} a wait alone is not a watch (patrol install)"


def _say(args: Options, finding: WaitFinding, wait: Wait) -> None:
    now = wall()
    text = json.dumps(final_json(finding, wait, now)) if args.json else final_line(finding, now - wait.began_at)
    try:
        print(text, flush=True)
    except OSError as error:  # nobody reads it, or the disk is full: the exit code still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"sentinel: {text} (stdout: {error.strerror})", file=sys.stderr)


def read_terms(args: Options, targets: list[Target]) -> tuple[Plan, Arming, LinkPace]:
    """Under which terms it is waited. Raises BadTarget."""
    plan = Plan(
        tuple(target.text for target in targets),
        read_seconds("--timeout", args.timeout, least=1),
        want_any=args.any,
        once=args.once,
        watchers=frozenset(at for at, target in enumerate(targets) if is_watcher(target)),
    )
    stall_after = read_seconds("--stall-after", args.stall_after, least=1) if args.stall_after is not None else None
    arming = Arming(args.new_only, stall_after)
    if args.once:
        return plan, arming, short_pace(plan.limit_seconds, once=True)
    if args.interval is None:
        return plan, arming, LinkPace()
    return plan, arming, short_pace(read_seconds("--interval", args.interval, least=1))


def is_watcher(target: Target) -> bool:
    """What never lands: it can only speak against the others."""
    return target.fails or target.kind is TargetKind.PROCESS or (target.kind is TargetKind.LOG and not target.regex)


def read_targets(args: Options) -> list[Target]:
    """Everything that the words name. Raises BadTarget."""
    targets = [parse_target(text) for text in args.targets]
    for_stall_only = args.stall_after and (args.targets or args.artifact)
    regexes = args.regex or ([] if for_stall_only or not args.log else [USUAL_DONE_REGEX])
    targets += parse_logs(args.log, regexes, args.fail_regex)
    targets += [parse_artifact(text, args.min_bytes, args.stable) for text in args.artifact]
    targets += [parse_fail_marker(text) for text in args.fail]
    targets += [parse_process(text) for text in args.pid]
    if all(is_watcher(target) for target in targets):
        raise BadTarget(
            "nothing to wait for; wanted: MARKER, BOX:/PATH/MARKER, BOX:RUN, --log with --regex, or --artifact"
        )
    return targets


def make_channels(places: list[TargetPlace], arming: Arming, pace: LinkPace, armed_at: float) -> list[Source]:
    """One channel for each box, with the conditions of all targets that lie there; one for each engine beside them."""
    by_box: dict[object, list[tuple[int, TargetPlace]]] = {}
    for number, place in enumerate(places):
        if place.job is None:
            by_box.setdefault((place.box.host, place.box.ssh_command), []).append((number, place))
    every = pace.short_poll or POLL_SECONDS
    channels: list[Source] = list(_job_channels(places, arming, every, once=pace.once))
    for members in by_box.values():
        made = [
            (number, c)
            for number, place in members
            for c in make_conditions(place.target, place.path, arming, place.program)
        ]
        for number, condition in made:
            if isinstance(condition, RunCondition):
                condition.also_there = places[number].watched
        items = with_processes(made)
        watched = [
            (number, _watched(place, place.table, made, number)) for number, place in members if place.table is not None
        ]
        main = Channel(members[0][1].box, items, pace, armed_at)
        channels.append(main)
        if watched:
            channels.append(TableChannel(main, watched))
        handed = [
            (number, HandedCondition(place.target, condition, arming, place.endpoint_of))
            for number, place in members
            for at, condition in items
            if at == number
            and isinstance(condition, RunCondition)
            and place.endpoint_of is not None
            and not condition.companion
        ]
        if handed:
            engine = main.target._replace(box=f"{main.target.box} (engine)")
            channels.append(JobChannel(engine, handed, every, main=main))
    return channels


def _watched(
    place: TargetPlace, table: Callable[[], RunNow], made: list[tuple[int, WaitCondition]], number: int
) -> WatchedCondition:
    """What it claims to be its proof counts where the table says so."""
    proof, *others = (condition for at, condition in made if at == number)
    proof.is_claim = True
    program = next((one for one in others if isinstance(one, ProgramCondition)), None)
    return WatchedCondition(place.target, proof, program, table)


def _job_channels(
    places: list[TargetPlace], arming: Arming, every_seconds: float, *, once: bool
) -> Iterator[JobChannel]:
    """One for each cluster."""
    by_cluster: dict[Endpoint, list[tuple[int, TargetPlace]]] = {}
    for number, place in enumerate(places):
        if place.job is not None:
            by_cluster.setdefault(place.job.endpoint, []).append((number, place))
    for members in by_cluster.values():
        items = [
            (number, JobCondition(place.target, place.job, arming, seen_in=place.seen_in))
            for number, place in members
            if place.job is not None
        ]
        yield JobChannel(members[0][1].box, items, every_seconds, once=once)
