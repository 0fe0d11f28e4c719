"""The one place that starts ssh: argv, one bounded conversation, and what its end means.

The user's own configuration, agent and host-key policy are used as they are; nothing is ever asked, nothing weakened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Target(NamedTuple):
    """Where to. ssh_command: the client's words. host: as ssh takes it; None: this machine, without ssh.

    control_path: socket of a master connection to use (and to open if need be); None: a connection of its own.
    """

    box: str
    host: str | None
    ssh_command: tuple[str, ...] = ("ssh",)
    control_path: str | None = None


class Answer(NamedTuple):
    """The remote side said its end mark. output: all of its stdout, up to the mark. exit_code: of the remote command;
    None: it was not waited for. seconds: from start to mark. login_seconds: until the first byte of the answer.
    """

    output: bytes
    exit_code: int | None
    seconds: float
    login_seconds: float


class NoAnswer(NamedTuple):
    """It did not. reason: a key of `reach.REASONS`. detail: the proving words of ssh (or of the watch on the clock),
    one line, redacted. output: what came until then; it proves nothing but that the login worked.
    """

    reason: str
    detail: str
    output: bytes
    seconds: float


def ssh_argv(target: Target, *, connect_seconds: int = 15) -> list[str]:
    """The argv of a connection whose remote command is always `exec sh -s`: the same in every login shell (sh, fish,
    csh). Everything else, script and values, goes over stdin. Pure.
    """
    raise NotImplementedError


def script_with_values(script: str, values: Sequence[str]) -> bytes:
    """What goes over stdin: `set -- VALUES` in POSIX quotes, then the script as one function that runs only when it has
    arrived whole. Values may hold anything but NUL. Pure. Raises ValueError on a NUL.
    """
    raise NotImplementedError


class Connection:
    """A remote `sh -s` that is being talked to. Started in its own process group; `close` ends all of it at once.

    fd: readable when output came or the connection ended, so that many can be watched with one selector.
    """

    fd: int

    def __init__(self, target: Target, stdin: bytes, *, connect_seconds: int = 15) -> None:
        raise NotImplementedError

    def read(self) -> bytes | None:
        """What has come since the last call, without waiting; b"": nothing yet; None: the connection has ended."""
        raise NotImplementedError

    def end(self) -> NoAnswer | int:
        """After `read` gave None: the remote command's exit code, or why there was no remote command's end."""
        raise NotImplementedError

    def close(self) -> None:
        """End it: the whole group, also a client that ignores SIGTERM. Safe to call twice."""
        raise NotImplementedError


def ask(
    target: Target, stdin: bytes, *, end_mark: bytes, deadline_seconds: float, limit_bytes: int = 8 << 20
) -> Answer | NoAnswer:
    """One question and its whole answer. Returns at the latest `deadline_seconds` (plus a fraction) after the call,
    whatever link, login, shell or box do; the answer ends at the line that begins with `end_mark`, and what is still
    open then is closed.
    """
    raise NotImplementedError
