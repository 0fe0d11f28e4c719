"""Exit codes of `onbox`, one table.

Outcomes of a chain are small numbers; the tool's own trouble is numbered as in sysexits.h, so that a shell script
can tell "the training failed" from "onbox could not do its work".
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What `onbox` returns to the shell."""

    DONE = 0
    FAILED = 1
    GATE_REFUSED = 3
    STOPPED = 4
    USAGE = 64
    UNAVAILABLE = 69
    INTERNAL = 70
    STATE_NOT_WRITTEN = 74
    ANOTHER_RUNNER = 75
    CONFIG = 78


EXIT_MEANINGS: tuple[tuple[Exit, str], ...] = (
    (Exit.DONE, "done: every stage passed its success gate (for reading commands: the answer was printed)"),
    (Exit.FAILED, "failed: a stage failed and nothing downstream was started"),
    (Exit.GATE_REFUSED, "a gate refused: a stage was not started, nothing is lost"),
    (Exit.STOPPED, "stopped or interrupted: not finished, `onbox resume` continues"),
    (Exit.USAGE, "the command line is wrong"),
    (
        Exit.UNAVAILABLE,
        "the engine that runs the jobs did not answer, or refused one: nothing was started twice",
    ),
    (Exit.INTERNAL, "a defect in onbox itself; the report file is named"),
    (Exit.STATE_NOT_WRITTEN, "the run's state could not be written (disk full, no inodes, I/O error)"),
    (Exit.ANOTHER_RUNNER, "another live runner or stage holds this run; or you detached from one that goes on"),
    (Exit.CONFIG, "the configuration is wrong or not accepted (`onbox trust`), or a DONE marker is of another command"),
)
