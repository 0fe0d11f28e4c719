"""The `onbox` command: its table, and what goes wrong as one clear line and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.cli.command import Entry
from onbox.cli.program import Program
from onbox.contract.exits import EXIT_MEANINGS, Exit
from onbox.contract.paths import CONFIG_FILE
from onbox.contract.runfile import DamagedRunfile
from onbox.system.files import StateNotWritten
from onbox.system.lock import LockUnsupported

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def _trouble(error: Exception) -> tuple[int, str] | None:
    if isinstance(error, StateNotWritten):
        text = f"{error}. Nothing was marked done by this; {error.way_on}, then repeat the command"
        return Exit.STATE_NOT_WRITTEN, text
    if isinstance(error, LockUnsupported):
        way = "set `state_dir` in onbox.toml (or work) on a local disk; results may stay where they are"
        return Exit.STATE_NOT_WRITTEN, f"{error}, so two runners could not be kept apart: {way}"
    if isinstance(error, DamagedRunfile):
        return Exit.CONFIG, f"{error}; `onbox chain` writes a new one, or move the run's directory away"
    return None


PROGRAM = Program(
    "onbox",
    "Run long jobs on a box you do not own: stages behind success gates, detached, resumable, never half done.",
    "onbox chain 'train=python train.py' 'eval=python eval.py'",
    EXIT_MEANINGS,
    "onbox.commands",
    {
        "init": Entry("init:run", f"write a small {CONFIG_FILE} here"),
        "chain": Entry("chain:run_chain", "run stages one after the other, each behind its success gate"),
        "resume": Entry("resume:run_resume", "continue an interrupted or stopped run"),
        "sweep": Entry("sweep:sweep", "run many cells of a parameter grid or a queue"),
        "attach": Entry("attach:run_attach", "watch a live run; nothing you type there can stop it"),
        "boot": Entry("boot:boot", "continue interrupted runs when the box starts again"),
        "stop": Entry("stop:run", "end a run; `onbox resume` continues it"),
        "status": Entry("status:run_status", "what a run is doing now"),
        "runs": Entry("status:run_runs", "the runs of this project"),
        "check": Entry("check:run_check", "what would go wrong here, before you start"),
        "stats": Entry("stats:run_stats", "what this container has and uses"),
        "series": Entry("series:run", "how a run went: step, loss, speed, memory, point by point"),
        "logs": Entry("logs:run", "a stage's log"),
        "checkpoints": Entry("checkpoints:run", "what a run has saved, and what a resume continues from"),
        "prune": Entry("prune:run", "remove checkpoints that nothing needs; asks first"),
        "rollback": Entry("rollback:run", "reject the checkpoints after a step; a resume continues from it"),
        "triage": Entry("triage:run", "why a run died, from its log"),
        "progress": Entry("progress:run", "how far a run is, from its log"),
        "stages": Entry("stages:run", "the configured stages"),
        "trust": Entry("trust:run", f"accept what {CONFIG_FILE} runs, hands out or writes outside the project"),
        "notify": Entry("notify:notify", "test, deliver and list notifications"),
        "completion": Entry("completion:run", "print a shell completion script"),
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
