"""The `handbook` command: its table, and what goes wrong as one clear line and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbook.exits import EXIT_MEANINGS
from onbox.cli.command import Entry
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
    "What runs where, how it is going, and what to type next: for anybody who takes over and knows nothing.",
    "handbook resume",
    EXIT_MEANINGS,
    "handbook.commands",
    {
        "build": Entry("build:run", "write HANDBOOK.md and handbook.json"),
        "resume": Entry("resume:run", "look now: what is going on, and the next command"),
        "handoff": Entry("handoff:run", "the block for the next owner"),
        "log": Entry("log:run", "the append-only record of a run"),
        "verify": Entry("verify:run", "check every statement on the page against what is true now"),
        "contract": Entry("contract:run", "is all said that a big run must answer for?"),
        "seal": Entry("seal:run", "check a run's end, and record it"),
        "issue": Entry("issue:run", "the text of a run's issue, and the command that sends it"),
        "agent": Entry("agent:run", "the instruction file for a coding agent's host"),
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
