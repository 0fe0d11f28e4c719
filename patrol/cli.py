"""The `patrol` command: its table, and what goes wrong as one clear line and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.cli.program import Program
from onbox.contract.exits import Exit
from patrol.exits import EXIT_MEANINGS
from patrol.memory.rows import MemoryTrouble
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def _trouble(error: Exception) -> tuple[int, str] | None:
    if isinstance(error, MemoryTrouble):
        return Exit.STATE_NOT_WRITTEN, f"the patrol's memory could not be used: {error}"
    return None


PROGRAM = Program(
    "patrol",
    "Look at your boxes from outside: one line per run, every time, also when nothing has changed.",
    "patrol add gpu1 --project /root/digits && patrol install",
    EXIT_MEANINGS,
    "patrol.commands",
    {
        "add": "add",
        "check": "check",
        "tick": "tick",
        "status": "status",
        "history": "history",
        "report": "report",
        "explain": "explain",
        "watch": "watch",
        "pull": "pull",
        "verify": "verify",
        "ack": "ack",
        "silence": "ack",
        "install": "install",
        "uninstall": "install",
    },
    interrupted=(int(Severity.UNKNOWN), "interrupted; nothing on any box was changed by that"),
    trouble=_trouble,
)


def entry() -> NoReturn:
    """The console script."""
    PROGRAM.run_as_script()


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    return PROGRAM.run(argv)
