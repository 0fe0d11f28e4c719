"""The sweep's runner as a process, and what calls it back when it has died. As `onbox.chain.process_main`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.chain.environment import runner_environment
from onbox.chain.holder import write_holder
from onbox.chain.process_main import BELL_FD, LOCK_FD
from onbox.contract.exits import Exit
from onbox.contract.paths import RunPaths
from onbox.errors import Trouble
from onbox.system.files import StateNotWritten, remove_file
from onbox.system.lock import LockUnsupported, is_locked
from onbox.system.process import Files, close_others, high, start_orphan
from onbox.system.relaunch import bare_child_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.events import Record

MODULE = "onbox.sweep.process_main"


def start_runner(run_dir: str, lock_fd: int, bell_fd: int) -> int:
    """Start a detached runner that inherits the lock; its pid. Raises OSError."""
    inherited = ((lock_fd, LOCK_FD), (bell_fd, BELL_FD))
    words = bare_child_words(MODULE, "serve()", run_dir)
    environ = {key: value for key, value in runner_environment(os.environ).items() if key != "ONBOX_CELL"}
    return start_orphan(words, environ, Files(output=RunPaths(run_dir).runner_log, inherited=inherited))


def words_of_cell(cell_dir: str) -> tuple[str, ...]:
    """With which the keeper of a cell's stage calls for help once the cell's runner is dead."""
    return bare_child_words(MODULE, "call_sweep()", cell_dir)


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
    from onbox.sweep.runner import SweepRunner  # noqa: PLC0415 - after the process has its name

    try:
        runner = SweepRunner(paths, listen=listen, bell_fd=bell_fd)
        remove_file(paths.stop_request)
        write_holder(lock_fd, runner.holder())
        return int(runner.run())
    except StateNotWritten as error:
        return _report(
            Exit.STATE_NOT_WRITTEN,
            f"{error}. No cell is lost by this; {error.way_on}, then: onbox sweep resume",
            bell_fd,
        )
    except LockUnsupported as error:
        return _report(Exit.STATE_NOT_WRITTEN, str(error), bell_fd)
    except Exception as error:  # noqa: BLE001 - the boundary: whatever it is, it must not look like a failed cell
        return _report(
            Exit.INTERNAL, f"a defect in onbox, or an unreadable state directory: {_describe(error)}", bell_fd
        )


def _describe(error: Exception) -> str:
    import traceback  # noqa: PLC0415 - only when something is wrong

    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"


def _report(code: Exit, text: str, bell_fd: int | None) -> int:
    line = f"onbox: {text}\n".encode("utf-8", "replace")
    for fd in (2, bell_fd):
        if fd is not None:
            with suppress(OSError):
                os.write(fd, line)
    return int(code)


# -- its cells call it back


def call_sweep() -> int:
    """A keeper found its cell's runner dead: the sweep's runner takes the cell over, once it lives itself."""
    cell = RunPaths(sys.argv[2])
    return revive(RunPaths(os.path.dirname(os.path.dirname(cell.root))))


def revive(paths: RunPaths) -> int:
    """Start a runner for a sweep that has none and has not ended by its own word. Never raises for what is in the way:
    then somebody else is at it, or a person is asked.
    """
    try:
        if not os.path.exists(paths.journal) or is_locked(paths.lock) or not _is_open(paths):
            return int(Exit.STOPPED)
        return _start_anew(paths)
    except (StateNotWritten, LockUnsupported) as error:
        return _report(Exit.STATE_NOT_WRITTEN, str(error), None)
    except Trouble as trouble:
        return _report(trouble.exit_code, str(trouble), None)
    except OSError as error:
        return _report(Exit.INTERNAL, f"the sweep's runner is gone and could not be started anew: {error}", None)


def _is_open(paths: RunPaths) -> bool:
    from onbox.contract.events import parse_events  # noqa: PLC0415 - only here
    from onbox.runs.journal import fold  # noqa: PLC0415
    from onbox.system.journal import read_lines  # noqa: PLC0415

    return fold(parse_events(read_lines(paths.journal))).is_open


def _start_anew(paths: RunPaths) -> int:
    from onbox.chain.launch import HolderUnknown, StillAlive, Taken, take_lock  # noqa: PLC0415 - only here

    try:
        lock = take_lock(paths)
    except (HolderUnknown, StillAlive):
        return int(Exit.ANOTHER_RUNNER)
    if not isinstance(lock, Taken):
        return int(Exit.ANOTHER_RUNNER)
    if _is_open(paths):
        start_runner(paths.root, high(lock.lock_fd), high(os.open(os.devnull, os.O_WRONLY)))
    return int(Exit.DONE)
