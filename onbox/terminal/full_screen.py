"""A program that has the whole terminal until a key, Ctrl-C or a signal ends it. The terminal is then as it was."""

from __future__ import annotations

import os
import select
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from onbox.terminal.ctrl_c import Interrupts, counted_interrupts
from onbox.terminal.keys import names_of, read_keys, single_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

REDRAW_SECONDS = 1.0  # ages are on the screen


class ScreenShown(Protocol):
    """What is on the screen."""

    def picture(self, width: int, height: int, *, has_keys: bool) -> RenderableType:
        """All of it, as of now."""

    def press(self, key: str) -> None:
        """A key, by the name that `keys.names_of` gives to it."""

    def is_over(self) -> bool:
        """Whether it has ended."""


def run_full_screen(console: Console, shown: ScreenShown, bell_fd: int) -> None:
    """Until it is over, or Ctrl-C. bell_fd: readable when there is something new to show; it is emptied here.

    Ctrl-Z gives the terminal back until the program is continued. A signal that asks this process to end does so, after
    the terminal is as it was.
    """
    while (number := _until_left(console, shown, bell_fd)) is not None:
        if number != signal.SIGTSTP:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        os.kill(os.getpid(), signal.SIGSTOP)


def _until_left(console: Console, shown: ScreenShown, bell_fd: int) -> int | None:
    """The signal that it was left for; None: it is over."""
    with counted_interrupts() as interrupts, _paused_by(interrupts), single_keys() as keys, _whole_terminal(console):
        while not shown.is_over():
            size = console.size
            console.update_screen(shown.picture(size.width, size.height, has_keys=keys is not None))
            watched = [fd for fd in (interrupts.fd, bell_fd, keys) if fd is not None]
            ready, _, _ = select.select(watched, [], [], REDRAW_SECONDS)
            if interrupts.take():
                return None
            if interrupts.ended_by is not None:
                return interrupts.ended_by
            if bell_fd in ready:
                os.read(bell_fd, 4096)
            if keys in ready:
                for key in names_of(read_keys(keys)):
                    shown.press(key)
    return None


@contextmanager
def _paused_by(interrupts: Interrupts) -> Iterator[None]:
    """Ctrl-Z asks for a pause instead of stopping at once; a new size of the window wakes the loop."""
    answers = {signal.SIGTSTP: interrupts.on_end, signal.SIGWINCH: lambda *_: None}
    before = {number: signal.getsignal(number) for number in answers}
    for number, answer in answers.items():
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, answer)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _whole_terminal(console: Console) -> Iterator[None]:
    """The other screen of the terminal, without a cursor."""
    console.set_alt_screen()
    console.show_cursor(show=False)
    try:
        yield
    finally:
        with suppress(OSError):  # the terminal may be gone
            console.set_alt_screen(enable=False)
            console.show_cursor()
