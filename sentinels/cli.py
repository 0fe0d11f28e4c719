"""The `sentinel` command: parse, run, and turn what goes wrong into one clear line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.cli.boundary import run_as_script, within_boundary
from onbox.cli.program import Program
from sentinels.judge.outcome import EXIT_MEANINGS, Exit
from sentinels.resolve_targets import UnknownBox
from sentinels.targets import BadTarget
from sentinels.wait import Signalled

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import NoReturn

PROGRAM = Program(
    "sentinel",
    "Wait for a marker, a run, a line or an artifact, here or on a box: reacts at once, always ends, says why.",
    "sentinel wait gpu1:digits && ./next.sh",
    EXIT_MEANINGS,
    "sentinels.commands",
    {"wait": "wait", "list": "register", "stop": "register", "reap": "register"},
)


def entry() -> None:
    """The console script."""
    run_as_script(_main_and_exit)


def _main_and_exit(argv: Sequence[str]) -> NoReturn:
    code = main(argv)
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # all is closed and written; taking the interpreter down takes 10 ms, and somebody waits for us


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    args = PROGRAM.parser(argv[0] if argv else None).parse_args(argv)
    interrupted = (128 + signal.SIGINT, "interrupted; nothing on any box was changed by that")
    return within_boundary("sentinel", lambda: _run(args), _trouble, interrupted=interrupted)


def _run(args: argparse.Namespace) -> int:
    try:
        return int(args.function(args))
    except Signalled as signalled:
        return _die_of(signalled.number)


def _die_of(number: int) -> int:
    """End as the signal would have ended us, so that the caller's shell sees what it was; everything is cleaned up."""
    sys.stdout.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


def _trouble(error: Exception) -> tuple[int, str] | None:
    if isinstance(error, BadTarget):
        return Exit.USAGE, str(error)
    if isinstance(error, UnknownBox):
        return Exit.CONFIG, str(error)
    return None
