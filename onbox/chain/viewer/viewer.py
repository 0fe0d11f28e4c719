"""The viewer: follows a runner through what it leaves on disk, and ends with its result. Killing it harms nothing.

The runner is nobody's child (it must survive whoever kills this process's tree), so its result comes by the bell, the
pipe to the viewer that started it, or from the journal.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onbox.chain.observe.progress_now import ProgressNow
from onbox.chain.state.frozen_run import read_head
from onbox.chain.state.read_status import read_status
from onbox.chain.state.replay import replay
from onbox.chain.state.stop_request import StopRequest, write_request
from onbox.chain.viewer.colour import coloured
from onbox.chain.viewer.event_text import live_line, narrate
from onbox.chain.viewer.progress_lines import ProgressLines, with_elapsed
from onbox.contract.events import CHAIN_ENDS, Unreadable, parse_events
from onbox.contract.exits import Exit
from onbox.logs.tail import look_at_log
from onbox.model.units import format_duration
from onbox.outside import safe_text
from onbox.system.clock import monotonic
from onbox.system.files import LINE_LIMIT_BYTES, StateNotWritten, open_plain
from onbox.system.journal import read_lines
from onbox.system.process import Identity, has_open, is_alive, open_pidfd
from onbox.terminal.capable import is_utf8
from onbox.terminal.ctrl_c import Interrupts, counted_interrupts
from onbox.terminal.keys import read_keys, single_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths

CODE_MARK = b"\0"  # in the bell, before the runner's exit code
DETACH_KEY = b"d"
_WAYS = {
    True: "Ctrl-C stops the run; d detaches, and the run goes on",
    False: "Ctrl-C or d detaches, and the run goes on; onbox stop {run} ends it",
}
LIVE_LINE_SECONDS = 1.0
PROGRESS_LOOK_SECONDS = 5.0  # whether it is time for a line; a look costs the new bytes of the log
BREATH_SECONDS = 0.1  # the bell waits for it: a chain of very short stages shall not wait for who watches it
LOOK_SECONDS = 0.5  # for a viewer that joined later and has no bell to wait on


def _nothing() -> None:
    """The default of `begin`."""


class JournalReader:
    """New records of a journal, from an offset on."""

    def __init__(self, path: str, offset: int) -> None:
        self.path, self.offset = path, offset

    def new(self) -> Iterator[Record]:
        with suppress(FileNotFoundError), open_plain(self.path) as file:
            file.seek(self.offset)
            text = file.read(LINE_LIMIT_BYTES)
            whole = text[: text.rfind(b"\n") + 1]
            self.offset += len(whole)
            for record in parse_events(whole.splitlines(keepends=True)):
                if not isinstance(record, Unreadable):
                    yield record


class Viewer:
    """Watches one runner. bell_fd: of the viewer that started it; None: it joined later. may_stop: whether Ctrl-C asks
    the run to stop; else it detaches, as the key `d` always does. says_progress: whether it says now and then how far
    the run is where no terminal shows it all the time.
    """

    def __init__(
        self,
        paths: RunPaths,
        runner: Identity,
        *,
        journal_offset: int,
        bell_fd: int | None,
        may_stop: bool,
        tell: Callable[[Record], str | None] = narrate,
        says_progress: bool = False,
    ) -> None:
        self.paths, self.runner, self.may_stop, self.tell = paths, runner, may_stop, tell
        self.journal = JournalReader(paths.journal, journal_offset)
        self.bell_fd = bell_fd
        self.started_it = bell_fd is not None
        self.detached = False
        self.live = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.colours = self.live and not os.environ.get("NO_COLOR")
        self.end: Record | None = None
        self.last_words = b""
        self.asked_to_stop = 0
        self._progress: ProgressNow | None = None
        self._lines = ProgressLines() if says_progress and not self.live else None

    def watch(self, begin: Callable[[], None] = _nothing) -> int:
        """To the runner's end, or until the person at the terminal has seen enough: the exit code. begin: called once
        Ctrl-C has its meaning.
        """
        with counted_interrupts() as interrupts, single_keys() as keys:
            begin()
            if keys is not None:
                ways = _WAYS[self.may_stop].format(run=os.path.basename(self.paths.root))
                print(f"onbox: {ways}", file=sys.stderr, flush=True)
            result = self._follow(interrupts, None, None, keys)
        return int(Exit.INTERNAL) if result is None else result

    def follow(self, until: Callable[[Record], bool] | None = None, limit_seconds: float | None = None) -> int | None:
        """Tell what happens until the runner ends: its exit code. None when `until` held or the limit passed first."""
        deadline = None if limit_seconds is None else monotonic() + limit_seconds
        with counted_interrupts() as interrupts:
            return self._follow(interrupts, until, deadline, None)

    def _follow(
        self,
        interrupts: Interrupts,
        until: Callable[[Record], bool] | None,
        deadline: float | None,
        keys: int | None,
    ) -> int | None:
        while True:
            ended = not is_alive(self.runner)
            reached = self._tell(until)
            if ended:
                return self._result()
            if reached or (deadline is not None and monotonic() >= deadline):
                return None
            for _ in range(interrupts.take()):
                self._answer_interrupt()
            if interrupts.ended_by is not None:
                return self._end_by(interrupts.ended_by)
            if self.detached:
                return self._detach()
            self._wait(deadline, interrupts, keys)

    def _tell(self, until: Callable[[Record], bool] | None) -> bool:
        reached = False
        for record in self.journal.new():
            if record["event"] in CHAIN_ENDS:
                self.end = record
            line = self.tell(record)
            if line is not None:
                self._clear_live_line()
                self.print_text((coloured(line) if self.colours else line) + "\n")
            reached = reached or (until is not None and until(record))
        if self.live and not reached:
            self._draw_live_line()
        if self._lines is not None and not reached and (status := self._status_now()) is not None:
            line = self._lines.due(status)
            if line is not None:
                self.print_text(line + "\n")
        return reached

    def _wait(self, deadline: float | None, interrupts: Interrupts, keys: int | None) -> None:
        poller = select.poll()
        poller.register(interrupts.fd, select.POLLIN)
        if keys is not None:
            poller.register(keys, select.POLLIN)
        pidfd = open_pidfd(self.runner)
        if pidfd is not None:
            poller.register(pidfd, select.POLLIN)
        seconds = [LIVE_LINE_SECONDS] if self.live else [PROGRESS_LOOK_SECONDS] if self._lines is not None else []
        if pidfd is None:
            seconds.append(LOOK_SECONDS if is_alive(self.runner) else 0.0)
        elif self.bell_fd is None:
            seconds.append(LOOK_SECONDS)
        if deadline is not None:
            seconds.append(max(0.0, deadline - monotonic()))
        try:
            if self.bell_fd is not None:
                if pidfd is not None and deadline is None:
                    poller.poll(BREATH_SECONDS * 1000)
                poller.register(self.bell_fd, select.POLLIN)
            for fd, _ in poller.poll(min(seconds) * 1000 if seconds else None):
                if fd == self.bell_fd:
                    self._hear(fd)
                elif fd == keys:
                    self.detached = self.detached or DETACH_KEY in read_keys(fd).lower()
        finally:
            if pidfd is not None:
                os.close(pidfd)

    def _hear(self, bell_fd: int) -> None:
        """Empty the bell: dots for records, or the runner's last words when it could not write them anywhere else."""
        rung = os.read(bell_fd, 65536)
        self.last_words += rung.replace(b".", b"", len(rung) - len(rung.lstrip(b".")))
        if not rung:
            os.close(bell_fd)
            self.bell_fd = None  # the runner closed it: it ends

    # -- a person watches

    def _draw_live_line(self) -> None:
        status = self._status_now()
        if status is not None:
            width = _terminal_width()
            bars = self.colours and is_utf8(sys.stdout.encoding, os.environ)
            now = time.strftime("%H:%M:%S", time.gmtime())
            self.print_text("\r\x1b[K" + live_line(status, now, width, bars=bars))

    def _status_now(self) -> dict[str, Any] | None:
        """The heartbeat of the runner that is watched, with what the stage's log says at this moment."""
        status = read_status(self.paths)
        if status is None or status.get("runner", {}).get("pid") != self.runner.pid:
            return None
        status = with_elapsed(status)
        log = look_at_log(str(status["log"])) if status.get("log") else None
        if log is not None:
            status["last_line"] = log.last_line
            status["progress"] = self._progress_now().look(str(status["log"]), status, moves=True)
        return status

    def _progress_now(self) -> ProgressNow:
        if self._progress is None:
            head = read_head(self.paths)
            self._progress = ProgressNow((head.data.get("progress") if head is not None else None) or {})
        return self._progress

    def print_text(self, text: str) -> None:
        """Tell it. When nobody can hear it (`| head`, a full disk) go on silently: the result still counts."""
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            self.live = False
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
            if not isinstance(error, BrokenPipeError):
                print(f"onbox: cannot write to standard output ({error.strerror}); the chain goes on", file=sys.stderr)

    def _clear_live_line(self) -> None:
        if self.live:
            self.print_text("\r\x1b[K")

    def _answer_interrupt(self) -> None:
        """Ctrl-C: asks the run to stop, in the viewer that started it; else it ends the viewer alone."""
        if not self.may_stop:
            self.detached = True
            return
        self.asked_to_stop += 1
        self._clear_live_line()
        now = self.asked_to_stop > 1
        grace = format_duration(configured_grace(self.paths))
        word = "now" if now else f"gracefully, within {grace}; Ctrl-C again: at once"
        print(f"onbox: stopping the chain {word}", file=sys.stderr, flush=True)
        ask_to_stop(self.paths, self.runner, 0.0 if now else None)

    def _detach(self) -> int:
        self._clear_live_line()
        print(self._goes_on("detached"), file=sys.stderr, flush=True)
        return int(Exit.ANOTHER_RUNNER)

    def _end_by(self, number: int) -> int:
        """Say that this is not the end of the run, then end by the signal, as whoever sent it expects."""
        self._clear_live_line()
        with suppress(OSError):  # its terminal may be gone
            print(self._goes_on(f"ended by {signal.Signals(number).name}"), file=sys.stderr, flush=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return 128 + number

    def _goes_on(self, what: str) -> str:
        run = os.path.basename(self.paths.root)  # the words alone would mean the configured run
        ways = f"watch it: onbox attach {run}; end it: onbox stop {run}"
        return f"onbox: {what}; the run goes on (runner pid {self.runner.pid}). {ways}"

    def _result(self) -> int:
        self._clear_live_line()
        while self.bell_fd is not None:
            self._hear(self.bell_fd)
        words, _, code = self.last_words.partition(CODE_MARK)
        if words:
            print(safe_text(words.decode("utf-8", "replace").strip()), file=sys.stderr)
        if code.isdigit():
            return int(code)
        end = self.end if self.started_it else self.end or self._end_before_we_came()
        return self._vanished() if end is None else int(end.get("exit_code", Exit.INTERNAL))

    def _end_before_we_came(self) -> Record | None:
        """The chain's end, if the runner recorded it before this viewer began to read."""
        end = replay(parse_events(read_lines(self.paths.journal))).last_end
        line = self.tell(end) if end is not None else None
        if line is not None:
            self.print_text(line + "\n")
        return end

    def _vanished(self) -> int:
        run = os.path.basename(self.paths.root)
        print(
            "onbox: the runner is gone and left no result (killed?); a running stage goes on.\n"
            f"onbox: look with `onbox status {run}`, go on with `onbox resume {run}`",
            file=sys.stderr,
        )
        return int(Exit.STOPPED)


def _terminal_width() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:
        return 80


def ask_to_stop(paths: RunPaths, runner: Identity, grace_seconds: float | None) -> bool:
    """Leave the wish, then wake the runner. grace_seconds None: the run's own. False: the wish could not be written (a
    full disk); the runner then ends its stage with the run's own grace and records an interruption.
    """
    if grace_seconds is None:
        grace_seconds = configured_grace(paths)
    left = True
    try:
        write_request(paths.stop_request, StopRequest(grace_seconds))
    except StateNotWritten as error:
        print(f"onbox: note: {error}: the journal will record the stop as an interruption", file=sys.stderr)
        left = False
    if is_alive(runner) and has_open(runner.pid, paths.lock):  # what stands in a file is not proof of who it is
        with suppress(ProcessLookupError):
            os.kill(runner.pid, signal.SIGTERM)
            os.kill(runner.pid, signal.SIGCONT)  # a stopped runner would hear it only when somebody continues it
    return left


def configured_grace(paths: RunPaths) -> float:
    """The grace of the frozen definition."""
    head = read_head(paths)
    return head.settings.grace_seconds if head is not None else 30.0
