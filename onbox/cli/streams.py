"""The standard streams that the caller closed (`>&-`). Light: `onbox chain` asks for it before anything else."""

from __future__ import annotations

import os
import sys


def open_the_closed() -> None:
    """Take the numbers of closed streams, before a file or a socket gets one of them and is written to by mistake. What
    would be answered on a closed output must not be lost in silence: to write it fails, as on a full disk. Who closed
    both outputs wants to hear nothing.
    """
    is_silent = sys.stdout is None and sys.stderr is None
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            _open_null(number, name, os.O_RDONLY if name == "stdout" and not is_silent else os.O_RDWR)


def _open_null(number: int, name: str, mode: int) -> None:
    fd = os.open(os.devnull, mode)
    if fd != number:
        os.dup2(fd, number)
        os.close(fd)
    setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115 - for the whole process
