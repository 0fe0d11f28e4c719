"""The `handbook` command: parse, run, and turn what goes wrong into one clear line and an exit code."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from handbook.exits import EXIT_MEANINGS
from onbox import __version__
from onbox.arguments import Parser
from onbox.boundary import run_as_script, within_boundary
from onbox.contract.exits import Exit
from patrol.kept import MemoryTrouble

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMAND_MODULES = {
    "build": "build",
    "resume": "resume",
    "handoff": "handoff",
    "log": "log",
    "verify": "verify",
    "contract": "contract",
    "seal": "seal",
    "issue": "issue",
    "agent": "agent",
}
DESCRIPTION = "What runs where, how it stands, and what to type next: for whoever takes over and knows nothing."


def entry() -> None:
    """The console script."""
    run_as_script(main)


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    args = build_parser(argv[0] if argv else None).parse_args(argv)
    interrupted = (int(Exit.STOPPED), "interrupted; no run was touched by that")
    return within_boundary("handbook", lambda: args.function(args), _trouble, interrupted=interrupted)


def _trouble(error: Exception) -> tuple[int, str] | None:
    if isinstance(error, MemoryTrouble):
        return Exit.STATE_NOT_WRITTEN, f"the patrol's memory could not be used: {error}"
    return None


def build_parser(only: str | None = None) -> Parser:
    """The parser. only: load just this command's module (all of them if it is no command, for help and errors)."""
    codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_MEANINGS)
    parser = Parser(
        prog="handbook", description=DESCRIPTION, epilog=f"exit codes:\n{codes}\n\nexample:\n  handbook resume"
    )
    parser.add_argument("--version", action="version", version=f"handbook {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, prog="handbook")
    wanted = [COMMAND_MODULES[only]] if only in COMMAND_MODULES else list(dict.fromkeys(COMMAND_MODULES.values()))
    for module in wanted:
        importlib.import_module(f"handbook.commands.{module}").add(subparsers)
    return parser
