"""The one place that asks over ssh: one bounded conversation, and what its end means.

The user's own configuration, agent and host-key policy are used as they are; nothing is ever asked, nothing weakened.
`ssh_argv.py` holds what the client is told, `connection.py` the running client, `ssh_words.py` what it says. Who talks
to a box takes all of it from here.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic
from patrol.ssh.argv import (
    CONNECT_SECONDS,
    NO_MASTER,
    SshTarget,
    client_environment,
    master_options,
    script_with_values,
    ssh_argv,
)
from patrol.ssh.client_errors import SSH_FAILED, Ending, Phase, phase_of, read_end, read_late
from patrol.ssh.connection import EXIT_SECONDS, Connection, NoAnswer, kill_all

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CONNECT_SECONDS",
    "NO_MASTER",
    "Answer",
    "Connection",
    "NoAnswer",
    "SshTarget",
    "ask",
    "discard_master",
    "find_mark",
    "kill_all",
    "probe_configuration",
    "script_with_values",
    "ssh_argv",
]

MASTER_SHARE = 1 / 3  # of the deadline: a master over which nothing comes for so long is not waited for


class Answer(NamedTuple):
    """The remote side said its end mark. output: all of its stdout, up to the mark. exit_code: of the remote command;
    None: it was not waited for. seconds: from start to mark. login_seconds: until the first byte of the answer.
    """

    output: bytes
    exit_code: int | None
    seconds: float
    login_seconds: float


def ask(
    target: SshTarget,
    stdin: bytes,
    *,
    end_mark: bytes,
    deadline_seconds: float,
    limit_bytes: int = 8 << 20,
    connect_seconds: int = CONNECT_SECONDS,
) -> Answer | NoAnswer:
    """One question and its whole answer. Returns at the latest `deadline_seconds` (plus a fraction) after the call,
    whatever link, login, shell or box do; the answer ends at the line that begins with `end_mark`, and what is still
    open then is closed. connect_seconds: for the connection and sshd's first words.
    """
    began = monotonic()
    question = _Question(target, stdin, end_mark, began + deadline_seconds, limit_bytes, connect_seconds)
    may_have_master = target.host is not None and target.control_path != NO_MASTER
    found = question.put(target, suspect_at=began + deadline_seconds * MASTER_SHARE if may_have_master else None)
    if found is None:
        if target.control_path is not None:
            discard_master(target)
        found = question.put(target._replace(control_path=NO_MASTER), suspect_at=None)
    assert found is not None
    return found._replace(seconds=monotonic() - began)


class _Question(NamedTuple):
    """What `ask` was asked. deadline, limits: of all tries together."""

    target: SshTarget
    stdin: bytes
    end_mark: bytes
    deadline: float
    limit_bytes: int
    connect_seconds: int

    def put(self, target: SshTarget, suspect_at: float | None) -> Answer | NoAnswer | None:
        """One try. None: it went over a master, and that is wedged (nothing came until `suspect_at`) or died."""
        began = monotonic()
        try:
            connection = Connection(target, self.stdin, connect_seconds=self.connect_seconds)
        except OSError as error:
            words = f"cannot start {ssh_argv(target)[0]!r}: {error.strerror}"
            return NoAnswer("client", words, b"", monotonic() - began)
        try:
            return self._hear(connection, connection.began, suspect_at)
        finally:
            connection.close()

    def _hear(self, connection: Connection, began: float, suspect_at: float | None) -> Answer | NoAnswer | None:
        output = bytearray()
        login_seconds = 0.0
        while (now := monotonic()) < self.deadline:
            part = connection.read()
            if part is None:
                return self._ended(connection, bytes(output), monotonic() - began, may_retry=suspect_at is not None)
            if part:
                login_seconds = login_seconds or monotonic() - began
                suspect_at = None
                seen = len(output)
                output += part
                if (at := find_mark(output, self.end_mark, seen)) is not None:
                    seconds = monotonic() - began
                    return Answer(bytes(output[:at]), _exit_code(connection, self.deadline), seconds, login_seconds)
                if len(output) > self.limit_bytes:
                    words = f"more than {self.limit_bytes} bytes came"
                    return NoAnswer("cut", words, bytes(output[: self.limit_bytes]), monotonic() - began)
            elif suspect_at is None:
                connection.wait(self.deadline - now)
            elif now < suspect_at:
                connection.wait(suspect_at - now)
            elif phase_of(connection.stderr()) <= Phase.MASTER:
                return None
            else:
                suspect_at = None
        local = self.target.host is None
        ending = read_late(connection.stderr(), bytes(output), monotonic() - began, local=local)
        return NoAnswer(ending.reason, ending.detail, bytes(output), monotonic() - began)

    def _ended(self, connection: Connection, output: bytes, seconds: float, *, may_retry: bool) -> NoAnswer | None:
        code = connection.end()
        stderr = connection.stderr()
        if may_retry and not output and not isinstance(code, int) and phase_of(stderr) is Phase.MASTER:
            return None
        local = self.target.host is None
        ending = read_end(stderr, code, output, local=local) if isinstance(code, int) else Ending(*code[:2])
        return NoAnswer(ending.reason, ending.detail, output, seconds)


def find_mark(output: bytes | bytearray, mark: bytes, seen_bytes: int = 0) -> int | None:
    """Where a line begins with `mark`; None: nowhere. seen_bytes: so much was searched before. Pure."""
    if seen_bytes < len(mark) and output.startswith(mark):
        return 0
    at = output.find(b"\n" + mark, max(0, seen_bytes - len(mark)))
    return at + 1 if at >= 0 else None


def _exit_code(connection: Connection, deadline: float) -> int | None:
    """The remote command's own exit code; it has said all that counts, so it is waited for only briefly."""
    until = min(deadline, monotonic() + EXIT_SECONDS)
    while connection.read() is not None:
        left = until - monotonic()
        if left <= 0:
            return None
        connection.wait(left)
    end = connection.end()
    return end if isinstance(end, int) else SSH_FAILED


# -- ssh without a conversation


def probe_configuration(target: SshTarget, timeout_seconds: float) -> str:
    """What the user's configuration makes of the host: the output of `ssh -G`. Connects to nothing. Raises OSError, and
    subprocess.TimeoutExpired (a `Match exec` may hang).
    """
    return _run([*target.ssh_command, "-G", "--", target.host or ""], timeout_seconds).decode("utf-8", "replace")


def discard_master(target: SshTarget) -> None:
    """End the target's master, bounded: one that does not answer loses its socket, so that nobody meets it again.

    What it still holds ends with its own ServerAlive.
    """
    assert target.control_path is not None
    path = master_options(target.control_path)[-1]
    with suppress(OSError, subprocess.TimeoutExpired):
        _run([*target.ssh_command, "-o", path, "-O", "exit", "--", target.host or ""], EXIT_SECONDS)
    with suppress(FileNotFoundError):
        os.unlink(target.control_path)


def _run(command: Sequence[str], timeout_seconds: float) -> bytes:
    """The stdout of a short command; with all its children it ends in time. Raises as `Popen.communicate`."""
    null, pipe = subprocess.DEVNULL, subprocess.PIPE
    with subprocess.Popen(
        command, stdin=null, stdout=pipe, stderr=null, env=client_environment(), start_new_session=True
    ) as client:
        try:
            return client.communicate(timeout=timeout_seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(client.pid, signal.SIGKILL)
            raise
