"""The `onbox` command: parse, run, and turn what goes wrong into one clear line and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.cli.boundary import run_as_script, within_boundary
from onbox.cli.tree import PROGRAM
from onbox.contract.exits import Exit
from onbox.contract.runfile import Damaged
from onbox.system.files import StateNotWritten
from onbox.system.lock import LockUnsupported

if TYPE_CHECKING:
    from collections.abc import Sequence


def entry() -> None:
    """The console script."""
    run_as_script(main)


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    args = PROGRAM.parser(argv[0] if argv else None).parse_args(argv)
    interrupted = (Exit.STOPPED, "interrupted; a running chain goes on")
    return within_boundary("onbox", lambda: args.function(args), _trouble, interrupted=interrupted)


def _trouble(error: Exception) -> tuple[int, str] | None:
    if isinstance(error, StateNotWritten):
        text = f"{error}. Nothing was marked done by this; {error.way_on}, then: onbox resume"
        return Exit.STATE_NOT_WRITTEN, text
    if isinstance(error, LockUnsupported):
        way = "set `state_dir` in onbox.toml (or work) on a local disk; results may stay where they are"
        return Exit.STATE_NOT_WRITTEN, f"{error}, so two runners could not be kept apart: {way}"
    if isinstance(error, Damaged):
        return Exit.CONFIG, f"{error}; `onbox chain` writes it anew, or move the run's directory away"
    return None
