"""A command line that no shell can read, such as one with an open quote: told before the start, by the shell itself."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from onbox.chain.command.keeper import command_argv, find_program
from onbox.regex import lazy
from onbox.system.command import CommandResult, run_command

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_SECONDS = 5.0
# A line may turn this on for the lines below it, which nobody knows without running it.
_EXTENDED = ("-O", "extglob")
_EXIT_LINE = lazy(r"^[ \t]*exit(?:[ \t]+[0-9]+)?[ \t]*$", re.MULTILINE)  # a shell reads nothing behind it


def why_unreadable(cmd: str | tuple[str, ...], find: Callable[[str], str | None] = find_program) -> str:
    """Why the shell cannot run a stage's `cmd`: `bash cannot read its command: line 1: unexpected EOF while looking for
    matching …`. "": it can, or the command needs no shell, or the shell could not be asked. Nothing of it is run.
    """
    argv = command_argv(cmd, find)
    if isinstance(cmd, tuple) or argv[-2:] != ["-c", cmd]:
        return ""
    shell = argv[:-2]
    said = _complaint(shell, cmd)
    end = _EXIT_LINE.search(cmd) if said else None
    if not said or (end is not None and not _complaint(shell, cmd[: end.start()], warnings=True)):
        return ""
    return f"{os.path.basename(shell[0])} cannot read its command: {said}"


def _complaint(shell: list[str], text: str, *, warnings: bool = False) -> str:
    """The first line of the shell's complaint, without its own name; "": it has none. warnings: they count, too, such
    as of a here-document without its end.
    """
    said = _said([*shell, "-n", "-c", text], warnings=warnings)
    if (
        said
        and os.path.basename(shell[0]) == "bash"
        and not _said([*shell, "-n", *_EXTENDED, "-c", text], warnings=warnings)
    ):
        return ""
    return said


def _said(argv: list[str], *, warnings: bool) -> str:
    done = run_command(argv, timeout_seconds=LOOK_SECONDS, env={**os.environ, "LC_ALL": "C"})
    if not isinstance(done, CommandResult) or done.code < 0 or (done.code == 0 and not warnings):
        return ""  # a shell that was killed says nothing of the command
    said = done.err.partition("\n")[0]
    return said.removeprefix(f"{argv[0]}: ").removeprefix("-c: ")
