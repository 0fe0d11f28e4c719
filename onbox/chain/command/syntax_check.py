"""A command line that no shell can read, such as one with an open quote: told before the start, by the shell itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.command.keeper import command_argv, find_program
from onbox.regex import lazy
from onbox.system.command import CommandResult, run_command

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_SECONDS = 5.0
# A line may turn this on for the lines below it, which nobody knows without running it.
_EXTENDED = ("-O", "extglob")
_TO_BE_CLOSED = lazy(r"""['"`(){}\[\]<>|&;\\\n]""")  # without any of these a line cannot be broken; to ask takes 4 ms


def why_unreadable(cmd: str | tuple[str, ...], find: Callable[[str], str | None] = find_program) -> str:
    """Why the shell cannot run a stage's `cmd`: `bash cannot read its command: line 1: unexpected EOF while looking for
    matching …`. "": it can, or the command needs no shell, or the shell could not be asked. Nothing of it is run.
    """
    argv = command_argv(cmd, find)
    if isinstance(cmd, tuple) or argv[-2:] != ["-c", cmd] or not _TO_BE_CLOSED.search(cmd):
        return ""
    shell, name = argv[:-2], os.path.basename(argv[0])
    said = _said([*shell, "-n", "-c", cmd])
    if not said or (name == "bash" and not _said([*shell, "-n", *_EXTENDED, "-c", cmd])):
        return ""
    return f"{name} cannot read its command: {said}"


def _said(argv: list[str]) -> str:
    """The first line of its complaint, without its own name; "": it has none."""
    done = run_command(argv, timeout_seconds=LOOK_SECONDS, env={**os.environ, "LC_ALL": "C"})
    if not isinstance(done, CommandResult) or done.code == 0:
        return ""
    said = done.err.partition("\n")[0]
    return said.removeprefix(f"{argv[0]}: ").removeprefix("-c: ") or f"exit code {done.code}"
