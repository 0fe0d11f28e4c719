"""Run another program to its end, with a time limit: what it said, or why it said nothing."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

END_SECONDS = 2.0  # what ending a program that was too slow may take


class CommandResult(NamedTuple):
    """A program that ended. code: negative for a signal. out, err: its streams as text, whatever bytes were in them."""

    code: int
    out: str
    err: str


class NotRun(NamedTuple):
    """No answer: the program is not there, cannot be started, or was too slow (and was killed).

    started: whether it may have done something.
    """

    why: str
    started: bool = True


def run_command(
    argv: Sequence[str], *, timeout_seconds: float, env: Mapping[str, str] | None = None, folder: str | None = None
) -> CommandResult | NotRun:
    """Run `argv` in a group of its own, with no standard input; on time-out the whole group is killed.

    env: the whole environment; None: this process's. folder: where it works; None: here.
    """
    try:
        child = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if env is None else dict(env),
            cwd=folder,
            start_new_session=True,
        )
    except OSError as error:
        return NotRun(f"{argv[0]} cannot be started: {error.strerror or error}", started=False)
    try:
        out, err = child.communicate(timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        _kill_group(child)
        return NotRun(f"{argv[0]} did not answer within {timeout_seconds:g} s")
    return CommandResult(child.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):  # held by the kernel: it is left to init
        child.communicate(timeout=END_SECONDS)
