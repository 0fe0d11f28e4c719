"""Single keys from the terminal, for who watches: no Enter, and the terminal as it was afterwards."""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEQUENCE = re.compile(rb"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])")
_NAMES = {
    b"\x1b[A": "up",
    b"\x1bOA": "up",
    b"\x1b[B": "down",
    b"\x1bOB": "down",
    b"\x1b[5~": "page_up",
    b"\x1b[6~": "page_down",
    b"\x1b[H": "home",
    b"\x1b[F": "end",
    b"\r": "enter",
    b"\n": "enter",
    b"\x1b": "esc",
}


@contextmanager
def single_keys() -> Iterator[int | None]:
    """A descriptor that is readable when a key was pressed; None where nobody can press one: no terminal, or another
    program has it (`onbox chain &`). Ctrl-C stays a signal.
    """
    fd = _terminal()
    if fd is None:
        yield None
        return
    before = termios.tcgetattr(fd)
    _set(fd, [*before[:3], before[3] & ~(termios.ICANON | termios.ECHO), *before[4:]])
    try:
        yield fd
    finally:
        _set(fd, before)


def read_keys(fd: int) -> bytes:
    """What was pressed; b"" where the terminal is another program's by now, and at its end."""
    if not _is_ours(fd):
        return b""
    try:
        return os.read(fd, 256)
    except OSError:
        return b""


def names_of(typed: bytes) -> list[str]:
    """The keys in it, by name (`up`, `enter`, `esc`) or letter; what is not known is left out. Pure."""
    found, at = [], 0
    while at < len(typed):
        sequence = _SEQUENCE.match(typed, at)
        key = sequence[0] if sequence is not None else typed[at : at + 1]
        at += len(key)
        name = _NAMES.get(key) or (key.decode().lower() if key.isalnum() else "")
        found += [name] if name else []
    return found


def _terminal() -> int | None:
    try:
        fd = sys.stdin.fileno()
        return fd if os.isatty(fd) and sys.stdout.isatty() and _is_ours(fd) else None
    except (AttributeError, ValueError, OSError):  # closed, or not a file at all
        return None


def _is_ours(fd: int) -> bool:
    """Whether this process is in the foreground: else asking the terminal for anything would stop it (SIGTTIN)."""
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False


def _set(fd: int, attributes: list[object]) -> None:
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        with suppress(termios.error):
            termios.tcsetattr(fd, termios.TCSADRAIN, attributes)  # type: ignore[arg-type]
    finally:
        signal.signal(signal.SIGTTOU, before)
