"""The runner as a process: how it is started, and what it does with what goes wrong.

Started with `python -I -S`: no site-packages, no user's PYTHONPATH, half the start-up time. It needs the standard
library and this package only.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.chain.command.environment import runner_environment
from onbox.chain.lock.lock_owner import write_holder
from onbox.chain.lock.run_lock import HolderUnknown, StillAlive, Taken, take_lock
from onbox.chain.runner.early_runner import MODULE, SOCKET_FD, hand_over, receive
from onbox.chain.state.replay import replay
from onbox.contract.events import parse_events
from onbox.contract.exits import Exit
from onbox.contract.paths import CELLS_FOLDER, RunPaths
from onbox.errors import Trouble, describe_defect
from onbox.system.files import StateNotWritten, remove_file
from onbox.system.journal import read_lines
from onbox.system.lock import LockUnsupported
from onbox.system.process import Files, close_others, high, start_orphan
from onbox.system.self_exec import bare_child_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.events import Record

LOCK_FD = 7
BELL_FD = 8


def runner_words(run_dir: str) -> tuple[str, ...]:
    """The argv of a runner that is handed the lock as descriptor 7 and a pipe to its viewer as 8."""
    return bare_child_words(MODULE, "serve()", run_dir)


def resume_words(run_dir: str, only: str | None = None) -> tuple[str, ...]:
    """The argv with which a keeper continues the chain after its runner died. only: as of `run_chain`."""
    return bare_child_words(MODULE, "take_over()" if only is None else "stay_out()", run_dir)


def start_runner(run_dir: str, lock_fd: int, bell_fd: int) -> int:
    """Start a detached runner that inherits the lock; its pid. Raises OSError.

    It is nobody's child: who ends a tree of processes by their parents, as hosts and agents do, does not reach it.
    The one that waits already, if there is one.
    """
    paths = RunPaths(run_dir)
    waiting = hand_over(paths, lock_fd, bell_fd)
    if waiting is not None:
        return waiting
    files = Files(output=paths.runner_log, inherited=((lock_fd, LOCK_FD), (bell_fd, BELL_FD)))
    return start_orphan(runner_words(run_dir), runner_environment(os.environ), files)


def serve() -> int:
    """The runner's main: run the chain with the lock that was handed down."""
    os.set_inheritable(LOCK_FD, False)
    os.set_inheritable(BELL_FD, False)
    close_others(3, keep=(LOCK_FD, BELL_FD))
    return _serve(RunPaths(sys.argv[2]))


def wait_for_run() -> int:
    """The main of a runner that was started early: all is loaded when it is handed a run."""
    close_others(3, keep=(SOCKET_FD,))
    import onbox.chain.runner.runner  # noqa: F401, PLC0415 - what run_chain needs, while there is time

    handed = receive()
    if handed is None:
        return Exit.DONE
    run_dir, log, lock, bell = handed
    for here, there in ((log, 1), (log, 2), (lock, LOCK_FD), (bell, BELL_FD)):
        os.dup2(here, there, inheritable=there < 3)
    close_others(3, keep=(LOCK_FD, BELL_FD))
    return _serve(RunPaths(run_dir))


def _serve(paths: RunPaths) -> int:
    os.set_blocking(BELL_FD, False)
    _name_process(paths)
    code = run_chain(paths, LOCK_FD, bell_fd=BELL_FD)
    with suppress(OSError):  # the viewer is gone, or has not listened for long
        os.write(BELL_FD, b"\0%d" % code)
    return code


def take_over() -> int:
    """A keeper found its runner dead: start a new one, if nobody else did and the chain has not been ended."""
    paths = RunPaths(sys.argv[2])
    if not os.path.exists(paths.journal):
        return Exit.STOPPED  # the run's state was removed: nothing is made anew in its place
    try:
        lock = take_lock(paths)  # patient: who merely looks at the run (`onbox status`) holds the lock for an instant
    except (StateNotWritten, LockUnsupported) as error:
        _report(str(error))
        return Exit.STATE_NOT_WRITTEN
    except (HolderUnknown, StillAlive):
        return Exit.ANOTHER_RUNNER
    except Trouble as trouble:
        _report(str(trouble))
        return trouble.exit_code
    if not isinstance(lock, Taken):
        return Exit.ANOTHER_RUNNER
    if not replay(parse_events(read_lines(paths.journal))).open:
        return Exit.STOPPED
    start_runner(paths.root, high(lock.lock_fd), high(os.open(os.devnull, os.O_WRONLY)))
    return Exit.DONE


def stay_out() -> int:
    """A keeper found the runner of its job dead: the engine ends the job now, and whoever resumes goes on."""
    return Exit.STOPPED


def run_chain(
    paths: RunPaths,
    lock_fd: int,
    *,
    bell_fd: int | None = None,
    listen: Callable[[Record], None] | None = None,
    beat: Callable[[dict[str, Any]], None] | None = None,
    only: str | None = None,
    words: tuple[str, ...] | None = None,
) -> int:
    """Run the chain in this process and turn what goes wrong into a line in runner.log and an exit code.

    only: bring this one stage to its end, as a job of its own; None: all. words: with which a keeper has the chain
    continued after its runner died; None: the usual ones.
    """
    from onbox.chain.runner.runner import (  # noqa: PLC0415 - after the process has its name: it is most of the start
        Runner,
    )

    try:
        words = words or resume_words(paths.root, only)
        runner = Runner(paths, words, listen=listen, bell_fd=bell_fd, beat=beat, only=only)
        remove_file(paths.stop_request)  # an old one; whoever reads the holder from here on may leave a new one
        write_holder(lock_fd, runner.holder())
        code = int(runner.run())
        if bell_fd is None:
            runner.see_off()
        return code
    except StateNotWritten as error:
        _report(f"{error}. Nothing was marked done by this; {error.way_on}, then: {resume_command(paths)}", bell_fd)
        return Exit.STATE_NOT_WRITTEN
    except LockUnsupported as error:
        _report(str(error), bell_fd)
        return Exit.STATE_NOT_WRITTEN
    except Exception as error:  # noqa: BLE001 - the boundary: whatever it is, it must not look like a failed training
        _report(f"a defect in onbox, or an unreadable state directory: {describe_defect(error)}", bell_fd)
        return Exit.INTERNAL


def resume_command(paths: RunPaths) -> str:
    """What continues the run there; a cell goes on with its sweep."""
    folder, name = os.path.split(paths.root)
    sweep, within = os.path.split(folder)
    return f"onbox sweep resume {os.path.basename(sweep)}" if within == CELLS_FOLDER else f"onbox resume {name}"


def _report(text: str, bell_fd: int | None = None) -> None:
    """Last words, by every way that still works: runner.log (perhaps on a full disk), and the viewer's pipe."""
    line = f"onbox: {text}\n".encode("utf-8", "replace")
    for fd in (sys.stderr.fileno(), bell_fd):
        if fd is not None:
            with suppress(OSError):
                os.write(fd, line)


def _name_process(paths: RunPaths) -> None:
    """Show as `onbox:<run>` in ps and top (comm, 15 characters)."""
    try:
        with open("/proc/self/comm", "w", encoding="utf-8", errors="replace") as file:
            file.write(f"onbox:{os.path.basename(paths.root)}"[:15])
    except OSError:
        return
