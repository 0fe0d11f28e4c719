"""The `onbox` command: its table, and what goes wrong as one clear line and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.cli.command import Entry
from onbox.cli.program import Program
from onbox.contract.exits import EXIT_MEANINGS, Exit
from onbox.contract.runfile import Damaged
from onbox.system.files import StateNotWritten
from onbox.system.lock import LockUnsupported

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


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


PROGRAM = Program(
    "onbox",
    "Run long jobs on a box you do not own: stages behind success gates, detached, resumable, never half done.",
    "onbox chain 'train=python train.py' 'eval=python eval.py'",
    EXIT_MEANINGS,
    "onbox.commands",
    {
        "init": "init",
        "chain": "chain",
        "resume": "chain",
        "attach": "attach",
        "boot": "boot",
        "stop": "stop",
        "status": Entry("status:status", "what a run is doing now"),
        "runs": Entry("status:runs", "the runs of this project"),
        "check": "check",
        "stats": "stats",
        "logs": "logs",
        "triage": Entry("triage:triage", "why a run died, from its log"),
        "progress": "progress",
        "stages": Entry("stages:stages", "the configured stages"),
        "trust": "trust",
        "notify": "notify",
        "completion": Entry("completion:completion", "print a shell completion script"),
    },
    interrupted=(Exit.STOPPED, "interrupted; a running chain goes on"),
    trouble=_trouble,
)


def entry() -> NoReturn:
    """The console script."""
    PROGRAM.run_as_script()


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code."""
    return PROGRAM.run(argv)
