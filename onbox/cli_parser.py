"""The tree of `onbox` commands, as argparse knows it. A command's module is imported only when it is asked for."""

from __future__ import annotations

import importlib

from onbox import __version__
from onbox.arguments import Parser
from onbox.contract.exits import EXIT_MEANINGS

# name of the command -> module that declares it (a module may declare two)
COMMAND_MODULES = {
    "init": "init",
    "chain": "chain",
    "resume": "chain",
    "boot": "boot",
    "stop": "stop",
    "status": "status",
    "runs": "status",
    "check": "check",
    "stats": "stats",
    "logs": "logs",
    "triage": "triage",
    "progress": "progress",
    "stages": "stages",
    "notify": "notify",
    "completion": "completion",
}

DESCRIPTION = (
    "Run long jobs on a box you do not own: stages behind success gates, detached, resumable, never half done."
)


def build_parser(only: str | None = None) -> Parser:
    """The parser. only: load just this command's module (all of them if it is no command, for help and errors)."""
    codes = "\n".join(f"  {int(code):>3}  {meaning}" for code, meaning in EXIT_MEANINGS)
    parser = Parser(
        prog="onbox",
        description=DESCRIPTION,
        epilog=f"exit codes:\n{codes}\n\nexample:\n  onbox chain 'train=python train.py' 'eval=python eval.py'",
    )
    parser.add_argument("--version", action="version", version=f"onbox {__version__}")
    # With `prog` given, argparse need not load shutil to find it.
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, prog="onbox"
    )  # prog: else argparse loads shutil
    wanted = [COMMAND_MODULES[only]] if only in COMMAND_MODULES else list(dict.fromkeys(COMMAND_MODULES.values()))
    for module in wanted:
        importlib.import_module(f"onbox.commands.{module}").add(subparsers)
    return parser
