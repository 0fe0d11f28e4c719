"""The one place that starts ssh: argv, one bounded conversation, and what its end means.

The user's own configuration, agent and host-key policy are used as they are; nothing is ever asked, nothing weakened.
"""

from __future__ import annotations

import os
import select
import selectors
import shlex
import signal
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from onbox.system.clock import monotonic
from patrol.ssh_words import SSH_FAILED, Ending, Phase, phase_of, read_end, read_late

if TYPE_CHECKING:
    from collections.abc import Sequence

CONNECT_SECONDS = 15
REMOTE_COMMAND = "exec sh -s"  # means the same to sh, bash, zsh, fish, csh and tcsh
NO_MASTER = "none"  # as a control_path: not even a master of the user's own
MASTER_SECONDS = 2400  # how long a master of ours stays when nobody uses it: past the next tick of the usual half hour
EXIT_SECONDS = 1.0  # after its last word the client may take so long to end by itself
GRACE_SECONDS = 0.1  # between SIGTERM and SIGKILL
LOOK_SECONDS = 0.25  # without pidfd: how often to look whether the client has ended while others hold its pipes
MASTER_SHARE = 1 / 3  # of the deadline: a master over which nothing comes for so long is not waited for
STDERR_KEPT_BYTES = 16 << 10  # of the beginning, and of the end
CHUNK_BYTES = 64 << 10


class Target(NamedTuple):
    """Where to. ssh_command: the client's words. host: as ssh takes it; None: this machine, without ssh.

    control_path: socket of a master connection to use (and to open if need be); None: none of ours, but the user's own
    where one is open; NO_MASTER: none at all.
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


def ssh_argv(target: Target, *, connect_seconds: int = CONNECT_SECONDS) -> list[str]:
    """The argv of a connection whose remote command is always `exec sh -s`: the same in every login shell (sh, fish,
    csh). Everything else, script and values, goes over stdin. Pure.
    """
    if target.host is None:
        return ["sh", "-s"]
    options = [*_OPTIONS, f"ConnectTimeout={connect_seconds}", *_master_options(target.control_path)]
    words = [word for option in options for word in ("-o", option)]
    # Of two values ssh takes the first: what the user's own words say goes before ours.
    return [*target.ssh_command, "-T", "-a", "-x", *words, "--", target.host, REMOTE_COMMAND]


_OPTIONS = (
    "BatchMode=yes",  # never ask
    "ServerAliveInterval=10",
    "ServerAliveCountMax=3",
    "ClearAllForwardings=yes",  # a forward of the user's would fight with the user's own connection for the port
    "PermitLocalCommand=no",
    "Compression=yes",  # script and answer shrink to less than half; they are text
    "RemoteCommand=none",  # one in the configuration forbids any other
    "LogLevel=DEBUG1",  # tells how far the login came, also where the configuration says QUIET
)


def _master_options(control_path: str | None) -> tuple[str, ...]:
    if control_path is None:
        return ("ControlMaster=no",)
    if control_path == NO_MASTER:
        return ("ControlMaster=no", "ControlPath=none")
    quoted = control_path.replace("%", "%%")
    return ("ControlMaster=auto", f"ControlPersist={MASTER_SECONDS}", f'ControlPath="{quoted}"')


def script_with_values(script: str, values: Sequence[str], *, line: bool = False) -> bytes:
    """What goes over stdin: `set -- VALUES` in POSIX quotes and the script as a function, in one group `{ }`, which a
    shell runs only when it has read all of it: a cut link runs nothing. Values may hold anything but NUL. Pure. Raises
    ValueError on a NUL.

    The script's own stdin is /dev/null: no command in it can eat what follows. It may `return`. line: what is said
    later (`Connection.say`), and the end of it, can be read from descriptor 3.
    """
    if "\0" in script or any("\0" in value for value in values):
        raise ValueError("a value for the remote shell holds a NUL character")
    quoted = " ".join(shlex.quote(value) for value in values)
    streams = "3<&0 </dev/null" if line else "</dev/null"
    text = f'{{ set -- {quoted}\nonbox_script() {{\n:\n{script}\n}}\nonbox_script "$@"\nexit\n}} {streams}\n'
    return text.encode("utf-8", "surrogateescape")


_open_lock = threading.Lock()
_open: set[Connection] = set()  # the one state of this module: clients have sessions of their own, no Ctrl-C ends them


def kill_all() -> None:
    """For a process that is told to end: kill every client that talks now. Who waits for one gets its end as `cut`."""
    with _open_lock:
        talking = list(_open)
    for connection in talking:
        connection.kill()


class Connection:
    """A remote `sh -s` that is being talked to. Started in its own process group; `close` ends all of it at once.

    fd: readable when output came or the connection ended, so that many can be watched with one selector. stdin: None:
    `hand` says it later, while the login goes on. line: stdin stays open for `say`, and its end tells the remote side
    that we have gone. Raises OSError when the client cannot be started.
    """

    fd: int

    def __init__(
        self, target: Target, stdin: bytes | None, *, connect_seconds: int = CONNECT_SECONDS, line: bool = False
    ) -> None:
        self.target = target
        self.began = monotonic()
        self._line = line
        self._unsent = memoryview(stdin or b"")
        self._stderr_head, self._stderr_tail = b"", b""
        self._came = False
        self._ended = False
        self._selector = selectors.DefaultSelector()
        self.fd = self._selector.fileno()  # epoll and kqueue descriptors can be watched themselves
        self._pidfd: int | None = None
        try:
            self._client = subprocess.Popen(
                ssh_argv(target, connect_seconds=connect_seconds),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=_environment(),
                start_new_session=True,  # no terminal to ask on, and one group to end
            )
        except OSError:
            self._selector.close()
            raise
        self._watch()
        if stdin is not None:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        with _open_lock:
            _open.add(self)

    def hand(self, stdin: bytes) -> None:
        """What goes over stdin, where it was not known at the start; once, and before the first `read`."""
        self._unsent = memoryview(stdin)
        self._selector.register(self._stdin, selectors.EVENT_WRITE)

    def _watch(self) -> None:
        client = self._client
        assert client.stdin is not None
        assert client.stdout is not None
        assert client.stderr is not None
        self._stdin, self._stdout, self._stderr = client.stdin, client.stdout, client.stderr
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        with suppress(OSError, AttributeError):  # no pidfd: macOS, gVisor, Linux < 5.3
            self._pidfd = os.pidfd_open(client.pid)
            self._selector.register(self._pidfd, selectors.EVENT_READ)

    # -- talking

    def read(self) -> bytes | None:
        """What has come since the last call, without waiting; b"": nothing yet; None: the connection has ended."""
        if self._ended:
            return None
        if self._unsent or not (self._line or self._stdin.closed):
            self._send()
        self._hear_stderr()
        # First the look at the client, then the last read: what it wrote before its end is in the pipe by now.
        gone = self._has_exited()
        part = _read_some(self._stdout.fileno())
        if part:
            self._came = True
            return part
        if part is None or gone:
            self._hear_stderr()
            self._ended = True
            return None
        return b""

    def say(self, data: bytes) -> None:
        """A few more bytes to the remote side of a `line`; dropped when it has ended, or takes nothing any more."""
        if self._ended or self._unsent or self._stdin.closed:
            return
        with suppress(OSError):
            os.write(self._stdin.fileno(), data)

    def wait(self, seconds: float) -> None:
        """Until `read` has something to do, at most so long. Also wakes to send, and for stderr."""
        if not self._ended:
            self._selector.select(max(0.0, seconds if self._pidfd is not None else min(seconds, LOOK_SECONDS)))

    def stderr(self) -> str:
        """What the client and the remote side said so far beside the answer; of a flood the beginning and the end."""
        return (self._stderr_head + self._stderr_tail).decode("utf-8", "replace")

    def end(self) -> NoAnswer | int:
        """After `read` gave None: the remote command's exit code, or why there was no remote command's end."""
        self._wait_for_exit(EXIT_SECONDS)
        self._hear_stderr()
        self.close()
        code = self._client.returncode
        if code is not None and 0 <= code < SSH_FAILED:
            return code
        came = b"." if self._came else b""
        ending = read_end(self.stderr(), SSH_FAILED if code is None else code, came, local=self.target.host is None)
        return NoAnswer(ending.reason, ending.detail, b"", 0.0)

    def close(self) -> None:
        """End it: the whole group, also a client that ignores SIGTERM. Safe to call twice."""
        with _open_lock:
            _open.discard(self)
        if self._client.returncode is None:
            self._end_group()
        if self._selector.get_map() is not None:
            self._selector.close()
        for stream in (self._stdin, self._stdout, self._stderr):
            with suppress(OSError):  # a last flush into a broken pipe
                stream.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None

    def kill(self) -> None:
        """SIGKILL to the whole group, from any thread; `read` then gives None, and `close` is still to be called."""
        if self._client.returncode is None:
            self._signal_group(signal.SIGKILL)

    # -- the pieces

    def _send(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._stdin.fileno(), self._unsent[:CHUNK_BYTES]) :]
        except BlockingIOError:
            return  # the other side does not read yet
        except OSError:
            self._unsent = memoryview(b"")  # it reads no more; why, its end tells
        self._selector.unregister(self._stdin)
        if not self._line:
            with suppress(OSError):
                self._stdin.close()

    def _hear_stderr(self) -> None:
        while not self._stderr.closed and (part := _read_some(self._stderr.fileno())) != b"":
            if part is None:
                self._selector.unregister(self._stderr)
                self._stderr.close()
                return
            room = STDERR_KEPT_BYTES - len(self._stderr_head)
            self._stderr_head += part[:room]
            self._stderr_tail = (self._stderr_tail + part[room:])[-STDERR_KEPT_BYTES:]

    def _has_exited(self) -> bool:
        """Whether the client has ended; where there is a pidfd it is not reaped, its number stays its own."""
        if self._pidfd is None:
            return self._client.poll() is not None
        return bool(_poll(self._pidfd, 0.0))

    def _wait_for_exit(self, seconds: float) -> bool:
        if self._pidfd is not None:
            return _poll(self._pidfd, seconds)
        try:
            self._client.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _end_group(self) -> None:
        """SIGTERM, and almost at once SIGKILL. Group and client have the same number, and it is ours until `wait`."""
        exited = self._has_exited()
        if exited and self._keeps_a_master():
            pass  # what is left of the group is the way that the master goes: its proxy command
        else:
            if not exited:
                self._signal_group(signal.SIGTERM)
                self._wait_for_exit(GRACE_SECONDS)
            self._signal_group(signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._client.wait(EXIT_SECONDS)

    def _keeps_a_master(self) -> bool:
        return self.target.control_path not in {None, NO_MASTER}

    def _signal_group(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):  # PermissionError: macOS, of a group that has ended
            os.killpg(self._client.pid, number)


def _environment() -> dict[str, str]:
    """The caller's, without any way to ask: there is no terminal, and the window that asks is no window."""
    return {**os.environ, "SSH_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "never"}


def _read_some(fd: int) -> bytes | None:
    """One piece of a pipe; b"": nothing yet; None: its end."""
    try:
        return os.read(fd, CHUNK_BYTES) or None
    except BlockingIOError:
        return b""


def _poll(fd: int, seconds: float) -> bool:
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


def ask(
    target: Target,
    stdin: bytes,
    *,
    end_mark: bytes,
    deadline_seconds: float,
    limit_bytes: int = 8 << 20,
    connect_seconds: int = CONNECT_SECONDS,
    early: Connection | None = None,
) -> Answer | NoAnswer:
    """One question and its whole answer. Returns at the latest `deadline_seconds` (plus a fraction) after the call,
    whatever link, login, shell or box do; the answer ends at the line that begins with `end_mark`, and what is still
    open then is closed. connect_seconds: for the connection and sshd's first words. early: a connection to the target
    that was started without stdin; the deadline is counted from its start.
    """
    began = early.began if early is not None else monotonic()
    question = _Question(target, stdin, end_mark, began + deadline_seconds, limit_bytes, connect_seconds, early)
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

    target: Target
    stdin: bytes
    end_mark: bytes
    deadline: float
    limit_bytes: int
    connect_seconds: int
    early: Connection | None = None

    def put(self, target: Target, suspect_at: float | None) -> Answer | NoAnswer | None:
        """One try. None: it went over a master, and that is wedged (nothing came until `suspect_at`) or died."""
        began = monotonic()
        try:
            if self.early is not None and target == self.target:
                connection = self.early
                connection.hand(self.stdin)
            else:
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


def probe_configuration(target: Target, timeout_seconds: float) -> str:
    """What the user's configuration makes of the host: the output of `ssh -G`. Connects to nothing. Raises OSError, and
    subprocess.TimeoutExpired (a `Match exec` may hang).
    """
    return _run([*target.ssh_command, "-G", "--", target.host or ""], timeout_seconds).decode("utf-8", "replace")


def discard_master(target: Target) -> None:
    """End the target's master, bounded: one that does not answer loses its socket, so that nobody meets it again.

    What it still holds ends with its own ServerAlive.
    """
    assert target.control_path is not None
    path = _master_options(target.control_path)[-1]
    with suppress(OSError, subprocess.TimeoutExpired):
        _run([*target.ssh_command, "-o", path, "-O", "exit", "--", target.host or ""], EXIT_SECONDS)
    with suppress(FileNotFoundError):
        os.unlink(target.control_path)


def _run(command: Sequence[str], timeout_seconds: float) -> bytes:
    """The stdout of a short command; with all its children it ends in time. Raises as `Popen.communicate`."""
    null, pipe = subprocess.DEVNULL, subprocess.PIPE
    with subprocess.Popen(
        command, stdin=null, stdout=pipe, stderr=null, env=_environment(), start_new_session=True
    ) as client:
        try:
            return client.communicate(timeout=timeout_seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(client.pid, signal.SIGKILL)
            raise
