"""The `sentinel` command: its table, and what goes wrong as one clear line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.cli.boundary import run_as_script
from onbox.cli.command import Entry
from onbox.cli.program import Program
from sentinels.judge.outcome import EXIT_MEANINGS, SentinelExit
from sentinels.resolve_targets import UnknownBox
from sentinels.targets import BadTarget

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def _trouble(error: Exception) -> tuple[int, str] | None:
    if isinstance(error, BadTarget):
        return SentinelExit.USAGE, str(error)
    if isinstance(error, UnknownBox):
        return SentinelExit.CONFIG, str(error)
    return None


PROGRAM = Program(
    "sentinel",
    "Wait for a marker, a run, a log line or an artifact, here or on a box: reacts at once, always ends, says why.",
    "sentinel wait gpu1:digits && ./next.sh",
    EXIT_MEANINGS,
    "sentinels.commands",
    {
        "wait": Entry("wait:run", "wait until it appears, or until it is clear that it will not"),
        "list": Entry("register:run_list", "who waits for what: age, limit, last contact"),
        "stop": Entry("register:run_stop", "end waits by target or id"),
        "reap": Entry("register:run_reap", "remove waits whose process is gone or hangs"),
    },
    interrupted=(128 + signal.SIGINT, "interrupted; nothing on any box was changed by that"),
    trouble=_trouble,
)


def entry() -> None:
    """The console script."""
    run_as_script(_main_and_exit)


def _main_and_exit(argv: Sequence[str]) -> NoReturn:
    code = PROGRAM.answer(argv)
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # all is closed and written; taking the interpreter down takes 10 ms, and somebody waits for us


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    return PROGRAM.run(argv)
