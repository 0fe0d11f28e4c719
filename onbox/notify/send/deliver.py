"""The deliverer: a short-lived process that sends what lies in the outbox. One per run, by a lock.

1. Take the lock, or leave it to who has it. 2. Without a live runner put in what the journal tells and the outbox
lacks. 3. One process per target that has something waiting. 4. Stay a little for what comes next. 5. Let go of the
lock, look again: what came in between found the lock taken and left it to us. What is not due within its life is left
to the next one: the runner's, `onbox notify flush`, or a patrol's.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.contract.notify_targets import Notify, notify_from_dict
from onbox.contract.paths import RunPaths
from onbox.contract.runfile import parse_head
from onbox.named_tuple import NamedTuple
from onbox.notify.queue.coalesce import hold_seconds
from onbox.notify.queue.delivery_lock import Wish, nobody_asks, take_turn
from onbox.notify.queue.enqueue import Courier
from onbox.notify.queue.outbox import Message, Name, Outbox
from onbox.notify.send.worker import Left, Worker, WorkerTerms
from onbox.notify.targets import read_standing, write_next_due
from onbox.system.clock import pause, wall
from onbox.system.files import LINE_LIMIT_BYTES, StateNotWritten, open_plain
from onbox.system.lock import LockUnsupported, is_locked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onbox.contract.notify_targets import NotifyTarget
    from onbox.contract.runfile import RunHead

LIFE_SECONDS = 900.0
LINGER_SECONDS = 2.0
NICENESS = 10  # the training goes first
LOOK_SECONDS = 0.1
PARKED_SECONDS = 600.0  # what cannot be delivered from here is looked at again so much later
LOG_LIMIT_BYTES = 65536


class Life(NamedTuple):
    """How long a deliverer works and lingers, in seconds. at_once: back-offs are cut short. patience_seconds: how long
    it waits for another one to make way; 0: it leaves the work to that one.
    """

    seconds: float = LIFE_SECONDS
    linger_seconds: float = LINGER_SECONDS
    at_once: bool = False
    patience_seconds: float = 0.0


def main(argv: Sequence[str]) -> int:
    """The deliverer's main. Its output is the outbox's `.log`: only what went wrong, never a secret."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.nice(NICENESS)
    paths = RunPaths(argv[0])
    wish = Wish()
    wish.heed()
    try:
        _shorten_log()
        deliver(paths, os.environ, Life(), asked_to_end=wish)
    except (OSError, StateNotWritten, LockUnsupported, ValueError) as error:
        print(f"onbox deliverer: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _shorten_log() -> None:
    with suppress(OSError):
        if os.fstat(2).st_size > LOG_LIMIT_BYTES:
            os.ftruncate(2, 0)


def deliver(
    paths: RunPaths,
    environ: Mapping[str, str],
    life: Life,
    *,
    asked_to_end: Callable[[], bool] = nobody_asks,
    dead: Sequence[Name] = (),
) -> bool:
    """Deliver what is due. False: another deliverer is at work. Raises OSError, StateNotWritten, LockUnsupported.

    dead: to be tried once more. They are put back once nobody else is at work: a deliverer that ends may still know the
    URL that refused them.
    """
    end = wall() + life.seconds
    outbox = Outbox(paths)
    outbox.make()
    to_revive = list(dead)
    left: set[Name] | None = None
    while left is None or (wall() < end and not asked_to_end() and not left.issuperset(outbox.pending())):
        lock_fd = take_turn(paths, patience_seconds=life.patience_seconds)
        if lock_fd is None:
            return left is not None
        try:
            while to_revive:
                outbox.revive(to_revive.pop())
            left = _Round(paths, environ, end, life, asked_to_end).run()
        finally:
            os.close(lock_fd)
    return True


class _Round:
    """From taking the lock to letting it go."""

    def __init__(
        self, paths: RunPaths, environ: Mapping[str, str], end: float, life: Life, asked_to_end: Callable[[], bool]
    ) -> None:
        self.paths, self.environ, self.end, self.life = paths, environ, end, life
        self.asked_to_end = asked_to_end
        self.outbox = Outbox(paths)
        self.head = _read_head(paths)
        self.notify = notify_from_dict(self.head.data.get("notify")) if self.head else Notify()
        self.workers: dict[int, str] = {}
        self.parked: set[str] = set()

    def run(self) -> set[Name]:
        """What is left, and is not for this deliverer."""
        self._catch_up()
        self.outbox.trim()
        idle_since = wall()
        while True:
            self._reap()
            started = not self.asked_to_end() and self._start_workers()
            now = wall()
            if self.workers or started:
                idle_since = now
            elif now - idle_since >= self.life.linger_seconds or now >= self.end or self.asked_to_end():
                break
            pause(LOOK_SECONDS)
        left = self.outbox.pending()
        write_next_due(self.paths, self._next_due({name.target for name in left}))
        return set(left)

    def _catch_up(self) -> None:
        if self.head is not None and os.path.exists(self.paths.journal) and not is_locked(self.paths.lock):
            Courier(self.paths, self.head, self.environ).catch_up()

    def _start_workers(self) -> bool:
        waiting = {name.target: name for name in reversed(self.outbox.pending())}
        busy = {*self.workers.values(), *self.parked}
        due = [target for target in waiting if target not in busy and wall() < self.end]
        for target in due:
            self._start(target)
        return bool(due)

    def _start(self, name: str) -> None:
        target = self._target(name)
        if target is None:
            self.parked.add(name)
            return
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            code = Left.PARKED
            try:
                code = self._work(target)
            finally:
                os._exit(code)
        self.workers[pid] = name

    def _target(self, name: str) -> NotifyTarget | None:
        """As the run's definition says now; else as it was when the message was put in."""
        for target in self.notify.targets:
            if target.name == name:
                return target
        for waiting in self.outbox.pending(name):
            message = self.outbox.read(waiting)
            if isinstance(message, Message):
                return message.target
            self.outbox.set_aside(waiting, self.paths.dead)
        return None

    def _work(self, target: NotifyTarget) -> Left:
        folder = self.head.project if self.head else self.paths.root
        life = self.life
        terms = WorkerTerms(self.notify.pace, self.environ, folder, self.end, life.at_once, self.asked_to_end)
        worker = Worker(self.paths, target, terms)
        try:
            return worker.run()
        except Exception as error:  # noqa: BLE001 - one sick target must not stop the rest; texts may hold secrets
            print(f"onbox deliverer: target {target.name}: {_where(error)}", file=sys.stderr, flush=True)
            return Left.PARKED

    def _reap(self) -> None:
        for pid in list(self.workers):
            gone, status = os.waitpid(pid, os.WNOHANG)
            if gone:
                name = self.workers.pop(pid)
                if status != 0:
                    self.parked.add(name)

    def _next_due(self, waiting: set[str]) -> float:
        """When it is worth starting a deliverer again."""
        due = [wall() + PARKED_SECONDS]
        for name in waiting:
            standing = read_standing(self.paths, name)
            due += [standing.not_before] if standing.tries else []
            due += [standing.last_sent + hold_seconds(standing.repeats)] if standing.last_key else []
        return max(wall(), min(due))


def _read_head(paths: RunPaths) -> RunHead | None:
    try:
        with open_plain(paths.manifest) as file:
            return parse_head(file.readline(LINE_LIMIT_BYTES))
    except FileNotFoundError:
        return None


def _where(error: Exception) -> str:
    """The type and place of a defect, without its text."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {os.path.basename(last.filename)}:{last.lineno}"
