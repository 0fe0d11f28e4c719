"""Signals as something to be asked for, by a loop that has an answer to each one and must not be torn out of it."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Interrupts:
    """SIGINTs, counted. fd: becomes readable with each signal, so that a loop can poll it. ended_by: the number of a
    signal that asks this process to end (SIGTERM, SIGHUP); None: none came.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.ended_by: int | None = None
        self._count = self._taken = 0

    def take(self) -> int:
        """How many came since the last call. Empties `fd`, so that polling it waits again."""
        with suppress(BlockingIOError):
            while os.read(self.fd, 512):
                pass
        count = self._count  # read once: the handler may count on in between
        taken, self._taken = count - self._taken, count
        return taken

    def on_signal(self, *_: object) -> None:
        self._count += 1

    def on_end(self, number: int, _: object) -> None:
        self.ended_by = number


@contextmanager
def counted_interrupts() -> Iterator[Interrupts]:
    """Within this, SIGINT raises nothing, and is counted; SIGTERM and SIGHUP are noted. For the main thread.

    A KeyboardInterrupt could come while the answer to the one before is under way, and would end that answer: a second
    Ctrl-C would leave the chain running that both had asked to stop. A signal that this process was started to ignore
    (nohup) stays ignored.
    """
    fd, write_fd = os.pipe()  # not inherited; pipe2 is Linux's only
    os.set_blocking(fd, False)
    os.set_blocking(write_fd, False)
    interrupts = Interrupts(fd)
    wakeup_before = signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)
    answers: dict[int, Callable[[int, object], None]] = {
        signal.SIGINT: interrupts.on_signal,
        signal.SIGTERM: interrupts.on_end,
        signal.SIGHUP: interrupts.on_end,
    }
    before = {number: signal.getsignal(number) for number in answers}
    for number, answer in answers.items():
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, answer)
    try:
        yield interrupts
    finally:
        signal.set_wakeup_fd(wakeup_before)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(fd)
        os.close(write_fd)
