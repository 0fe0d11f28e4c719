"""The runner's one place to wait: signals, ends of processes, and a deadline. No spinning, no wake-up in between."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.system.clock import monotonic
from onbox.system.process import high_pipe

if TYPE_CHECKING:
    from collections.abc import Iterable


PIPE_BYTES = 1 << 16  # what a pipe holds (pipe(7))


class Signals:
    """SIGTERM and SIGINT ask the runner to stop (counted: the second one means now); SIGCHLD only wakes it up.

    SIGUSR1, where `warned_by_signal` asks for it, is an engine's word that the job's time is nearly over: it stops the
    runner, too, and `time_is_over` tells it apart. Must be made in the main thread. SIGHUP is ignored from then on.
    life_fd: see `Context`; what keepers write into it is read here and means nothing.
    """

    def __init__(self) -> None:
        self.stops = 0
        self.time_is_over = False
        self._life_fd, self.life_fd = high_pipe()
        os.set_blocking(self._life_fd, False)
        self.wake_fd, write_fd = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_stop)
        signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)

    def warned_by_signal(self) -> None:
        """Take SIGUSR1 for the announcement of a time limit (a job of an engine); else it ends the process."""
        signal.signal(signal.SIGUSR1, self._on_time)

    def _on_time(self, *_: object) -> None:
        self.time_is_over = True
        self.stops += 1

    def _on_stop(self, *_: object) -> None:
        self.stops += 1

    def urged(self) -> bool:
        """Whether somebody asked a second time. Empties the wake-up pipe, so that waiting on it works again."""
        self._drain()
        return self.stops > 1

    def wait(self, deadline: float | None, fds: Iterable[int] = ()) -> None:
        """Sleep until a signal arrives, one of `fds` becomes readable, or the monotonic `deadline` passes."""
        poller = select.poll()
        poller.register(self.wake_fd, select.POLLIN)
        for fd in fds:
            poller.register(fd, select.POLLIN)
        left = None if deadline is None else max(0.0, (deadline - monotonic()) * 1000)
        if left is not None and left > 0:
            left = min(left + 1, 2**31 - 1)  # poll rounds down to milliseconds: never wake up too early and spin
        poller.poll(left)
        self._drain()

    def _drain(self) -> None:
        for fd in (self.wake_fd, self._life_fd):
            with suppress(BlockingIOError):
                os.read(fd, PIPE_BYTES)
