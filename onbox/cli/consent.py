"""The user's word before something outside the project is changed, such as the crontab."""

from __future__ import annotations

import sys

from onbox.contract.exits import Exit
from onbox.errors import Trouble


def agrees(question: str, *, unasked: str) -> bool:
    """Whether the user says yes. unasked: the command that does it without a question. Raises Trouble where nobody can
    be asked.
    """
    if not sys.stdin.isatty():
        raise Trouble(Exit.USAGE, f"cannot ask here (stdin is not a terminal): {unasked}")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)  # stdout may go into a pipe
    return sys.stdin.readline().strip().lower() in ("y", "yes")
