"""The words of `sentinel`, as argparse knows them."""

from __future__ import annotations

from typing import Any

from onbox import __version__
from onbox.arguments import Parser
from sentinels import register_commands, wait_command
from sentinels.outcome import TABLE, TROUBLES

DESCRIPTION = (
    "Wait for a marker, a run, a line or an artifact, here or on a box: reacts at once, always ends, says why."
)


def build_parser() -> Parser:
    """The parser with all commands."""
    rows = [(int(row.code), f"{row.outcome.value}: {row.meaning}") for row in TABLE]
    rows += [(int(code), meaning) for code, meaning in TROUBLES]
    codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in sorted(rows))
    parser = Parser(
        prog="sentinel",
        description=DESCRIPTION,
        epilog=f"exit codes:\n{codes}\n\nexample:\n  sentinel wait gpu1:digits && ./next.sh",
    )
    parser.add_argument("--version", action="version", version=f"sentinel {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, prog="sentinel")
    add_wait(subparsers)
    add_register(subparsers)
    return parser


WAIT_EXAMPLES = """\
targets:
  MARKER                  a file on this machine          ckpt/DONE
  BOX:/PATH/MARKER        a file on a box                 gpu1:/root/digits/DONE
  BOX:RUN                 a run of the box, by its name   gpu1:digits
BOX is a [boxes.*] of onbox.toml, or any host that ssh knows. What was there before the wait began does not count
(--existing takes it), but for BOX:RUN: of a run that has ended already its end is told at once.

examples:
  sentinel wait gpu1:digits && ./next.sh
  sentinel wait gpu1:/root/job/DONE --fail gpu1:/root/job/FAILED --pid gpu1:4711 --timeout 12h
  sentinel wait --log gpu1:/root/job/train.log --regex 'QUEUE DONE|Training completed' --stall-after 30m
  sentinel wait --artifact 'gpu1:/root/job/ckpt/epoch_30*.pt' --min-bytes 1GB --stable 20s
  sentinel wait gpu1:digits gpu2:digits --any --json
  sentinel wait gpu1:digits --timeout 25s     in slices: a call that ends with 124 is continued by the next one
"""


def add_wait(subparsers: Any) -> None:
    wait = subparsers.add_parser(
        "wait", help="wait until it lands, or until it is clear that it will not", epilog=WAIT_EXAMPLES
    )
    wait.add_argument("targets", nargs="*", metavar="TARGET", help="marker or run; see below")
    wait.add_argument(
        "--log", action="append", default=[], metavar="PATH", help="a log (also BOX:PATH); lines from now on count"
    )
    wait.add_argument(
        "--regex", action="append", default=[], metavar="RE", help="the line of the log that is waited for"
    )
    wait.add_argument(
        "--fail-regex", action="append", default=[], metavar="RE", help="a line of the log that means failure"
    )
    wait.add_argument(
        "--artifact",
        action="append",
        default=[],
        metavar="GLOB",
        help="a file (also BOX:GLOB) that is new, big enough and stable",
    )
    wait.add_argument("--min-bytes", metavar="SIZE", help="how big it must be at least (default: not empty)")
    wait.add_argument("--stable", metavar="TIME", help="for how long it must not change (default: 10s)")
    wait.add_argument(
        "--fail", action="append", default=[], metavar="MARKER", help="a marker whose landing means failure"
    )
    wait.add_argument(
        "--pid",
        action="append",
        default=[],
        metavar="PID",
        help="a process (also BOX:PID); its end without a marker is told",
    )
    how = wait.add_mutually_exclusive_group()
    how.add_argument(
        "--all", action="store_true", help="until all targets have landed, or one cannot any more (default)"
    )
    how.add_argument("--any", action="store_true", help="until one target has landed, or none can any more")
    wait.add_argument("--timeout", metavar="TIME", default="3h", help="limit of the wait (default: 3h)")
    wait.add_argument("--stall-after", metavar="TIME", help="end as stalled when run or log is quiet for so long")
    wait.add_argument("--existing", action="store_true", help="what was there before the wait began counts, too")
    wait.add_argument("--once", action="store_true", help="one look instead of a wait; what is there counts")
    wait.add_argument("--fresh", action="store_true", help="begin anew: do not continue a wait that timed out before")
    wait.add_argument("--interval", metavar="TIME", help="short connections, one each TIME, instead of a held one")
    wait.add_argument(
        "--exec",
        metavar="CMD",
        dest="command",
        help="shell line to run at the end; SENTINEL_OUTCOME and the like tell it how",
    )
    wait.add_argument("--notify", action="store_true", help="tell the targets of [notify] how it ended")
    wait.add_argument("--json", action="store_true", help="one JSON object instead of the line")
    wait.add_argument("-c", "--config", metavar="FILE", help="configuration (default: the nearest onbox.toml)")
    wait.set_defaults(function=wait_command.run)


def add_register(subparsers: Any) -> None:
    listing = subparsers.add_parser("list", help="who waits for what: age, limit, last contact")
    listing.add_argument("--json", action="store_true", help="one JSON object")
    listing.set_defaults(function=register_commands.run_list)
    stop = subparsers.add_parser(
        "stop", help="end waits by target or id", epilog="example:\n  sentinel stop gpu1:digits"
    )
    stop.add_argument("names", nargs="*", metavar="TARGET", help="as it was typed, or the id that `list` shows")
    stop.add_argument("--all", action="store_true", dest="everyone", help="all waits of this user")
    stop.set_defaults(function=register_commands.run_stop)
    reap = subparsers.add_parser("reap", help="clear waits whose process has gone or hangs")
    reap.set_defaults(function=register_commands.run_reap)
