"""The sweep's runner as a process, and what calls it back when it has died. As `onbox.chain.runner.runner_process`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.chain.lock.lock_owner import write_holder
from onbox.chain.runner.runner_process import BELL_FD, LOCK_FD
from onbox.contract.exits import Exit
from onbox.contract.paths import RunPaths
from onbox.errors import describe_defect
from onbox.sweep.runner.restart import report, revive
from onbox.system.files import StateNotWritten, remove_file
from onbox.system.lock import LockUnsupported
from onbox.system.process import close_others

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.events import Record


def serve() -> int:
    """The runner's main: run the sweep with the lock that was handed down."""
    paths = RunPaths(sys.argv[2])
    os.set_inheritable(LOCK_FD, False)
    os.set_inheritable(BELL_FD, False)
    os.set_blocking(BELL_FD, False)
    close_others(3, keep=(LOCK_FD, BELL_FD))
    with suppress(OSError), open("/proc/self/comm", "w", encoding="utf-8", errors="replace") as file:
        file.write(f"onbox:{os.path.basename(paths.root)}"[:15])
    code = run_sweep(paths, LOCK_FD, bell_fd=BELL_FD)
    with suppress(OSError):  # the viewer is gone, or has not listened for long
        os.write(BELL_FD, b"\0%d" % code)
    return code


def run_sweep(
    paths: RunPaths, lock_fd: int, *, bell_fd: int | None = None, listen: Callable[[Record], None] | None = None
) -> int:
    """Run the sweep in this process and turn what goes wrong into a line in runner.log and an exit code."""
    from onbox.sweep.runner.runner import SweepRunner  # noqa: PLC0415 - after the process has its name

    try:
        runner = SweepRunner(paths, listen=listen, bell_fd=bell_fd)
        remove_file(paths.stop_request)
        write_holder(lock_fd, runner.holder())
        return int(runner.run())
    except StateNotWritten as error:
        resume = f"onbox sweep resume {os.path.basename(paths.root)}"
        text = f"{error}. No cell is lost by this; {error.way_on}, then: {resume}"
        return report(Exit.STATE_NOT_WRITTEN, text, bell_fd)
    except LockUnsupported as error:
        return report(Exit.STATE_NOT_WRITTEN, str(error), bell_fd)
    except Exception as error:  # noqa: BLE001 - the boundary: whatever it is, it must not look like a failed cell
        return report(
            Exit.INTERNAL, f"a defect in onbox, or an unreadable state directory: {describe_defect(error)}", bell_fd
        )


def call_sweep() -> int:
    """A keeper found its cell's runner dead: the sweep's runner takes the cell over, once it lives itself."""
    cell = RunPaths(sys.argv[2])
    return revive(RunPaths(os.path.dirname(os.path.dirname(cell.root))))
