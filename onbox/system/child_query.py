"""Questions to a child process that may hang or die: who asks never does.

For everything that can get stuck in the kernel (a stale network mount, the driver of a sick GPU) or crash: the look is
left to a small child, which reads a line and answers with a line. It ends with the end of its standard input, so it
does not outlive who asks.
"""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.system.clock import monotonic
from onbox.system.process import Files, high_pipe, look_up, start_detached, wait_for_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

GIVE_UP_SECONDS = 60.0  # a child that is silent for so long is killed
RESTART_SECONDS = 30.0  # and a new one is started no sooner than this after the last start
END_SECONDS = 1.0  # a child that closed its output may take so long to end
ANSWER_LIMIT_BYTES = 8 << 20


class Silence(NamedTuple):
    """No answer, and why; seconds: since the question was put, None if none is open."""

    why: str
    seconds: float | None = None


class ChildQuery:
    """One child with the words `argv`, started with the first question. Not thread-safe."""

    def __init__(self, argv: Sequence[str], *, name: str, give_up_seconds: float = GIVE_UP_SECONDS) -> None:
        self._argv, self._name, self._give_up_seconds = tuple(argv), name, give_up_seconds
        self._pid: int | None = None
        self._to_child = self._from_child = -1
        self._received = b""
        self._asked_at: float | None = None
        self._started_at: float | None = None
        self._end = ""

    @property
    def fd(self) -> int | None:
        """The descriptor that becomes readable with an answer; None while no question is open."""
        return self._from_child if self._asked_at is not None and self._from_child >= 0 else None

    def has_answer(self) -> bool:
        """Whether something (an answer or the child's end) can be read, or no question is open."""
        return self.fd is None or self._readable(0.0)

    def ask(self, question: bytes = b"") -> None:
        """Put a question, one line without its end. While one is open nothing is asked; `answer` tells the trouble."""
        if self._asked_at is not None or not self._is_ready():
            return
        try:
            os.write(self._to_child, question + b"\n")  # a pipe takes 64 KiB at once, and the child had read the rest
        except BrokenPipeError:  # it ended before it could be asked
            self._broken()
            return
        except BlockingIOError:
            self._reap()
            return
        self._received, self._asked_at = b"", monotonic()

    def answer(self, timeout_seconds: float) -> bytes | Silence:
        """The answer to the open question, waited for at most so long. One without an answer stays open."""
        if self._asked_at is None:
            return Silence(self._end or f"{self._name} was not asked")
        deadline = monotonic() + timeout_seconds
        while b"\n" not in self._received:
            if not self._readable(max(0.0, deadline - monotonic())):
                return self._still_silent()
            part = os.read(self._from_child, 1 << 16)
            self._received += part
            if not part or len(self._received) > ANSWER_LIMIT_BYTES:
                return self._broken()
        self._asked_at = None
        return self._received.partition(b"\n")[0]

    def close(self) -> None:
        """End the child: by the end of its input, and by force if it does not listen."""
        if self._pid is None:
            return
        self._close_pipes()
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self._reap()

    # -- the child

    def _is_ready(self) -> bool:
        if self._pid is not None and self._from_child >= 0:
            return True
        if self._pid is not None and not self._reap():
            self._end = f"{self._name} hangs in the kernel and cannot be ended"
            return False
        if self._started_at is not None and monotonic() - self._started_at < RESTART_SECONDS:
            return False
        return self._start()

    def _start(self) -> bool:
        question_out, self._to_child = high_pipe()
        self._from_child, answer_in = high_pipe()
        os.set_blocking(self._to_child, False)
        self._started_at = monotonic()
        try:
            files = Files(inherited=((question_out, 0), (answer_in, 1)))
            self._pid = start_detached(self._argv, _plain_environment(), files)
        except OSError as error:
            self._close_pipes()
            self._end = f"{self._name} cannot be started: {error.strerror}"
        finally:
            os.close(question_out)
            os.close(answer_in)
        return self._pid is not None

    def _readable(self, seconds: float) -> bool:
        poller = select.poll()
        poller.register(self._from_child, select.POLLIN)
        return bool(poller.poll(seconds * 1000))

    def _still_silent(self) -> Silence:
        assert self._asked_at is not None
        silent = monotonic() - self._asked_at
        why = f"{self._name} has not answered for {silent:.0f} s"
        if silent >= self._give_up_seconds and self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self._close_pipes()
            self._asked_at, self._end = None, f"{why}, and was ended"
            self._reap()
        return Silence(why, silent)

    def _broken(self) -> Silence:
        """The child ended (or floods us) instead of answering."""
        self._asked_at = None
        self._close_pipes()
        self._end = f"{self._name} ended without an answer{self._how_it_ended()}"
        return Silence(self._end)

    def _how_it_ended(self) -> str:
        """Reap a child that closed its output, and kill it first if it does not end by itself."""
        assert self._pid is not None
        entry = look_up(self._pid)
        if entry is not None and not wait_for_ends([entry.identity], END_SECONDS):
            os.kill(self._pid, signal.SIGKILL)
            wait_for_ends([entry.identity], END_SECONDS)
        gone, status = os.waitpid(self._pid, os.WNOHANG)
        if not gone:
            return ""
        self._pid = None
        code = os.waitstatus_to_exitcode(status)
        return f" (killed by {signal.Signals(-code).name})" if code < 0 else f" (exit code {code})"

    def _reap(self) -> bool:
        """Whether the child is gone. One that the kernel holds (D state) is looked at again with the next question."""
        if self._pid is None:
            return True
        try:
            gone, _ = os.waitpid(self._pid, os.WNOHANG)
        except ChildProcessError:
            gone = self._pid
        if gone:
            self._pid = None
            self._close_pipes()
        return bool(gone)

    def _close_pipes(self) -> None:
        for fd in (self._to_child, self._from_child):
            if fd >= 0:
                os.close(fd)
        self._to_child = self._from_child = -1


def _plain_environment() -> dict[str, str]:
    """What a small child needs, and none of the run's own variables (it would look like a part of a stage)."""
    return {name: value for name, value in os.environ.items() if not name.startswith("ONBOX_")}
