"""The `patrol` command: parse, run, and turn what goes wrong into one clear line and an exit code."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from onbox import __version__
from onbox.arguments import Parser
from onbox.boundary import run_as_script, within_boundary
from onbox.contract.exits import Exit
from patrol.exits import EXIT_MEANINGS
from patrol.kept import MemoryTrouble
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

# name of the command -> module that declares it
COMMAND_MODULES = {
    "add": "add",
    "check": "check",
    "tick": "tick",
    "status": "status",
    "history": "history",
    "report": "report",
    "explain": "explain",
    "watch": "watch",
    "ack": "ack",
    "silence": "ack",
    "install": "install",
    "uninstall": "install",
}

DESCRIPTION = "Look at your boxes from outside: one line per run, every time, also when nothing has changed."


def entry() -> None:
    """The console script."""
    run_as_script(main)


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    args = build_parser(argv[0] if argv else None).parse_args(argv)
    interrupted = (int(Severity.UNKNOWN), "interrupted; nothing on any box was changed by that")
    return within_boundary("patrol", lambda: args.function(args), _trouble, interrupted=interrupted)


def _trouble(error: Exception) -> tuple[int, str] | None:
    if isinstance(error, MemoryTrouble):
        return Exit.STATE_NOT_WRITTEN, f"the patrol's memory could not be used: {error}"
    return None


def build_parser(only: str | None = None) -> Parser:
    """The parser. only: load just this command's module (all of them if it is no command, for help and errors)."""
    codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_MEANINGS)
    parser = Parser(
        prog="patrol",
        description=DESCRIPTION,
        epilog=f"exit codes:\n{codes}\n\nexample:\n  patrol add gpu1 --project /root/digits && patrol install",
    )
    parser.add_argument("--version", action="version", version=f"patrol {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, prog="patrol")
    wanted = [COMMAND_MODULES[only]] if only in COMMAND_MODULES else list(dict.fromkeys(COMMAND_MODULES.values()))
    for module in wanted:
        importlib.import_module(f"patrol.commands.{module}").add(subparsers)
    return parser
