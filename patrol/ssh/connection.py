"""One running ssh client: started, fed, heard, and ended with all that it started."""

from __future__ import annotations

import os
import select
import selectors
import signal
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic
from patrol.ssh.argv import CONNECT_SECONDS, NO_MASTER, SshTarget, client_environment, ssh_argv
from patrol.ssh.client_errors import SSH_FAILED, read_end

if TYPE_CHECKING:
    from collections.abc import Iterator

EXIT_SECONDS = 1.0  # after its last word the client may take so long to end by itself
GRACE_SECONDS = 0.1  # between SIGTERM and SIGKILL
LOOK_SECONDS = 0.25  # without pidfd: how often to look whether the client has ended while others hold its pipes
STDERR_KEPT_BYTES = 16 << 10  # of the beginning, and of the end
CHUNK_BYTES = 64 << 10


class NoAnswer(NamedTuple):
    """It did not. reason: a key of `reach.REASONS`. detail: the proving words of ssh (or of the watch on the clock),
    one line, redacted. output: what came until then; it proves nothing but that the login worked.
    """

    reason: str
    detail: str
    output: bytes
    seconds: float


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

    fd: readable when output came or the connection ended, so that many can be watched with one selector. line: stdin
    stays open for `say`, and its end tells the remote side that we have gone. Raises OSError when the client cannot be
    started.
    """

    fd: int

    def __init__(
        self, target: SshTarget, stdin: bytes, *, connect_seconds: int = CONNECT_SECONDS, line: bool = False
    ) -> None:
        self.target = target
        self.began = monotonic()
        self._line = line
        self._further: Iterator[bytes] = iter(())
        self.sent_bytes = 0
        self._unsent = memoryview(stdin)
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
                env=client_environment(),
                start_new_session=True,  # no terminal to ask on, and one group to end
            )
        except OSError:
            self._selector.close()
            raise
        self._watch()
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        with _open_lock:
            _open.add(self)

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

    def say_last(self, data: bytes | Iterator[bytes]) -> None:
        """Any number of bytes to the remote side of a `line`, once its first words have gone out, and then the end of
        its input; sent while `read` and `wait` are called. Of an iterator a piece is asked for when the one before has
        gone out.
        """
        self._line = False
        if self._ended or self._stdin.closed:
            return
        self._further = iter((data,)) if isinstance(data, bytes) else data
        self._selector.register(self._stdin, selectors.EVENT_WRITE)

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
            while self._unsent or self._next_piece():
                count = os.write(self._stdin.fileno(), self._unsent[:CHUNK_BYTES])
                self._unsent = self._unsent[count:]
                self.sent_bytes += count
        except BlockingIOError:
            return  # the other side does not read yet
        except OSError:
            self._unsent, self._further = memoryview(b""), iter(())  # it reads no more; why, its end tells
        self._selector.unregister(self._stdin)
        if not self._line:
            with suppress(OSError):
                self._stdin.close()

    def _next_piece(self) -> bool:
        """Whether there is more to send."""
        self._unsent = memoryview(next(filter(None, self._further), b""))
        return bool(self._unsent)

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
