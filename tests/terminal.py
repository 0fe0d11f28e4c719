"""A program on a real pseudo-terminal, and the screen that its bytes make, as a terminal would show it."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pyte

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

BOUND_SECONDS = 60.0
MODES = slice(0, 4)  # of termios: input, output, control, local
CHANGING = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "LC_ALL", "LC_CTYPE", "LANG")  # of who runs the tests


class Terminal:
    """One program and its terminal. raw: everything that it wrote. close: ends the program."""

    def __init__(
        self, words: Sequence[str], folder: Path, env: Mapping[str, str], *, columns: int = 80, lines: int = 24
    ) -> None:
        self.raw = b""
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.modes_before = termios.tcgetattr(theirs)[MODES]
        kept = {name: value for name, value in env.items() if name not in CHANGING or env is not os.environ}
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *words],  # a session of its own with this terminal, as a login has it
            cwd=folder,
            env={"TERM": "xterm-256color", **kept},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        self._theirs = theirs  # kept open: the modes are asked of it when the program has ended

    def close(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        os.close(self._theirs)
        os.close(self.ours)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip("\n")

    @property
    def modes(self) -> list[object]:
        return list(termios.tcgetattr(self._theirs)[MODES])

    def wait_for(self, *words: str, bound_seconds: float = BOUND_SECONDS) -> str:
        """Until the screen shows them all at once; the screen."""
        deadline = time.monotonic() + bound_seconds
        while not all(word in self.text for word in words):
            if time.monotonic() > deadline:
                raise AssertionError(f"{words} not within {bound_seconds:g} s on the screen:\n{self.text}")
            self.read(0.2)
        return self.text

    def wait(self) -> int:
        """To the end of the program: its exit code."""
        deadline = time.monotonic() + BOUND_SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it did not end; the screen:\n{self.text}"
            self.read(0.1)
        while self.read(0.0):
            pass
        return self.process.returncode

    def press(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def resize(self, columns: int, lines: int) -> None:
        self.screen.resize(lines, columns)
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def read(self, seconds: float) -> bool:
        """What comes within so many seconds, once; whether something came."""
        ready, _, _ = select.select([self.ours], [], [], seconds)
        if not ready:
            return False
        piece = os.read(self.ours, 65536)
        self.raw += piece
        self._stream.feed(piece)
        return True
