"""The `handbook` command: its table, and what goes wrong as one clear line and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbook.exits import EXIT_MEANINGS
from onbox.cli.program import Program
from onbox.contract.exits import Exit
from patrol.memory.rows import MemoryTrouble

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def _trouble(error: Exception) -> tuple[int, str] | None:
    if isinstance(error, MemoryTrouble):
        return Exit.STATE_NOT_WRITTEN, f"the patrol's memory could not be used: {error}"
    return None


PROGRAM = Program(
    "handbook",
    "What runs where, how it stands, and what to type next: for somebody who takes over and knows nothing.",
    "handbook resume",
    EXIT_MEANINGS,
    "handbook.commands",
    {
        "build": "build",
        "resume": "resume",
        "handoff": "handoff",
        "log": "log",
        "verify": "verify",
        "contract": "contract",
        "seal": "seal",
        "issue": "issue",
        "agent": "agent",
    },
    interrupted=(int(Exit.STOPPED), "interrupted; no run was touched by that"),
    trouble=_trouble,
)


def entry() -> NoReturn:
    """The console script."""
    PROGRAM.run_as_script()


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    return PROGRAM.run(argv)
