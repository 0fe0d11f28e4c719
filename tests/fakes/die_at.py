"""Run `onbox` and die by SIGKILL at the n-th operation that changes something on the disk or starts a process.

usage: die_at.py N before|after|torn COUNT_FILE ONBOX-ARGUMENTS...

`torn` writes half of the data of the n-th write first. Without reaching N, the number of operations that were seen is
written to COUNT_FILE, so that a sweep knows when it is through. Only this process counts and dies, not the stages.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from onbox.cli.app import main

WRITES = ("write", "pwrite")
OTHERS = (
    "open",
    "fsync",
    "fdatasync",
    "rename",
    "unlink",
    "rmdir",
    "symlink",
    "ftruncate",
    "posix_spawn",
    "mkdir",
    "fork",
)


class Sweep:
    """Counts operations and dies at the chosen one."""

    def __init__(self, at: int, when: str) -> None:
        self.at, self.when, self.seen = at, when, 0
        self.pid = os.getpid()

    def wrap(self, name: str) -> None:
        real = getattr(os, name)

        def operation(*args: Any, **kwargs: Any) -> Any:
            if os.getpid() != self.pid:
                return real(*args, **kwargs)  # a fork: a cell's runner
            if name == "open" and not args[1] & os.O_CREAT:
                return real(*args, **kwargs)
            if name in WRITES and args[0] <= 2:
                return real(*args, **kwargs)  # narration
            self.seen += 1
            if self.seen != self.at:
                return real(*args, **kwargs)
            if self.when == "torn" and name in WRITES:
                real(args[0], bytes(args[1])[: len(args[1]) // 2], *args[2:])
            elif self.when == "after":
                real(*args, **kwargs)
            os.kill(os.getpid(), signal.SIGKILL)
            return None

        setattr(os, name, operation)


if __name__ == "__main__":
    sweep = Sweep(int(sys.argv[1]), sys.argv[2])
    for name in WRITES + OTHERS:
        sweep.wrap(name)
    code = main(sys.argv[4:])
    at_end = sweep.seen
    sweep.at = 0
    with open(sys.argv[3], "w", encoding="ascii") as file:
        file.write(str(at_end))
    sys.exit(code)
