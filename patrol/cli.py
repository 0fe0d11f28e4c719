"""The `patrol` command: its table, and what goes wrong as one clear line and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.cli.command import Entry
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
    "Look at your boxes from outside: one line per run, every time, even when nothing has changed.",
    "patrol add gpu1 --project /root/digits && patrol install",
    EXIT_MEANINGS,
    "patrol.commands",
    {
        "add": Entry("add:run", "add a box and look at it"),
        "check": Entry("check:run", "is everything there that a tick needs?"),
        "tick": Entry("tick:run", "look now: one line per run"),
        "status": Entry("status:run", "the last lines, and whether the patrol is alive"),
        "history": Entry("history:run", "what changed and when"),
        "report": Entry("report:run", "the history as one HTML page"),
        "explain": Entry("explain:run", "which rule applies, and why the others do not"),
        "watch": Entry("watch:run", "look again and again"),
        "pull": Entry("pull:run", "bring a run's results home"),
        "verify": Entry("verify:run", "check what was pulled, and load each file once"),
        "push": Entry("push:run", "send a folder to a box, or compare it"),
        "teardown-check": Entry("teardown_check:run", "may a rented box be given back?"),
        "logs": Entry("run_there:run_logs", "the end of a run's log, and what follows"),
        "series": Entry("run_there:run_series", "how a run went, point by point"),
        "checkpoints": Entry("run_there:run_checkpoints", "what a run has saved, and which checkpoints are whole"),
        "resume": Entry("run_there:run_resume", "continue a run; asks first"),
        "stop": Entry("run_there:run_stop", "end a run; asks first"),
        "list": Entry("boxes:run_list", "each box with its runs, and transfers"),
        "remove": Entry("boxes:run_remove", "remove a box from onbox.toml; asks first"),
        "forget": Entry("boxes:run_forget", "forget a run"),
        "ack": Entry("ack:run_ack", "say that you know about a run's finding"),
        "silence": Entry("ack:run_silence", "silence a run for a while"),
        "mcp": Entry("mcp:run", "an MCP server for coding agents"),
        "install": Entry("install:run_install", "let cron run the ticks"),
        "uninstall": Entry("install:run_uninstall", "remove the line; nothing else is touched"),
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
