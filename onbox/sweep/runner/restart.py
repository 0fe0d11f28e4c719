"""How a sweep's runner is started: by its launcher, and by its cells when it has died."""

from __future__ import annotations

import os
from contextlib import suppress

from onbox.chain.command.environment import runner_environment
from onbox.chain.lock.run_lock import HolderUnknown, StillAlive, Taken, take_lock
from onbox.chain.runner.runner_process import BELL_FD, LOCK_FD
from onbox.contract.events import parse_events
from onbox.contract.exits import Exit
from onbox.contract.paths import RunPaths
from onbox.errors import Trouble
from onbox.runs.journal import fold
from onbox.system.files import StateNotWritten
from onbox.system.journal import read_lines
from onbox.system.lock import LockUnsupported, is_locked
from onbox.system.process import Files, high, start_orphan
from onbox.system.self_exec import bare_child_words

MODULE = "onbox.sweep.runner.runner_process"
CELL_VARIABLE, SWEEP_VARIABLE = "ONBOX_CELL", "ONBOX_SWEEP_DIR"


def start_runner(run_dir: str, lock_fd: int, bell_fd: int) -> int:
    """Start a detached runner that inherits the lock; its pid. Raises OSError."""
    inherited = ((lock_fd, LOCK_FD), (bell_fd, BELL_FD))
    words = bare_child_words(MODULE, "serve()", run_dir)
    known = runner_environment(os.environ).items()
    environ = {key: value for key, value in known if key not in (CELL_VARIABLE, SWEEP_VARIABLE)}
    return start_orphan(words, environ, Files(output=RunPaths(run_dir).runner_log, inherited=inherited))


def words_of_cell(cell_dir: str) -> tuple[str, ...]:
    """With which the keeper of a cell's stage calls for help once the cell's runner is dead."""
    return bare_child_words(MODULE, "call_sweep()", cell_dir)


def report(code: Exit, text: str, bell_fd: int | None = None) -> int:
    """Last words, by every way that still works: runner.log (perhaps on a full disk), and the viewer's pipe."""
    line = f"onbox: {text}\n".encode("utf-8", "replace")
    for fd in (2, bell_fd):
        if fd is not None:
            with suppress(OSError):
                os.write(fd, line)
    return int(code)


def revive(paths: RunPaths) -> int:
    """Start a runner for a sweep that has none and has not ended by its own word. Never raises for what is in the way:
    then somebody else is at it, or a person is asked.
    """
    try:
        if not os.path.exists(paths.journal) or is_locked(paths.lock) or not _is_open(paths):
            return int(Exit.STOPPED)
        return _start_anew(paths)
    except Trouble as trouble:
        return report(trouble.exit_code, str(trouble))
    except (StateNotWritten, LockUnsupported, OSError) as error:
        return report(Exit.STATE_NOT_WRITTEN, f"the sweep's runner is gone and could not be started again: {error}")


def _is_open(paths: RunPaths) -> bool:
    return fold(parse_events(read_lines(paths.journal))).is_open


def _start_anew(paths: RunPaths) -> int:
    try:
        lock = take_lock(paths)
    except (HolderUnknown, StillAlive):
        return int(Exit.ANOTHER_RUNNER)
    if not isinstance(lock, Taken):
        return int(Exit.ANOTHER_RUNNER)
    if _is_open(paths):
        start_runner(paths.root, high(lock.lock_fd), high(os.open(os.devnull, os.O_WRONLY)))
    return int(Exit.DONE)
