"""The cells that run now: who runs them, and how their ends are noticed."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from onbox.chain.lock.lock_owner import read_holder
from onbox.chain.state.stop_request import StopRequest, write_request
from onbox.named_tuple import NamedTuple
from onbox.system.files import StateNotWritten
from onbox.system.lock import is_locked
from onbox.system.process import has_open, is_alive, open_pidfd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.contract.paths import RunPaths
    from onbox.system.process import Identity


class LiveCell(NamedTuple):
    """A cell whose runner lives. who: None where an adopted one has not said yet who it is. pidfd: becomes readable
    when it ends; None: of a child of ours (SIGCHLD tells), or where the kernel has none. cards: its own, by their
    numbers.
    """

    number: int
    paths: RunPaths
    who: Identity | None
    is_child: bool
    pidfd: int | None
    cards: tuple[int, ...] = ()


class Gone(NamedTuple):
    """A cell whose runner has ended. code: its exit code, -N for a signal; None: it was not a child of ours."""

    live: LiveCell
    code: int | None


class LiveCells:
    """By number."""

    def __init__(self) -> None:
        self._cells: dict[int, LiveCell] = {}

    def __len__(self) -> int:
        return len(self._cells)

    def __contains__(self, number: int) -> bool:
        return number in self._cells

    def __iter__(self) -> Iterator[LiveCell]:
        return iter(list(self._cells.values()))

    def add(self, live: LiveCell) -> None:
        self._cells[live.number] = live

    @property
    def cards(self) -> set[int]:
        return {card for live in self._cells.values() for card in live.cards}

    @property
    def fds(self) -> list[int]:
        return [live.pidfd for live in self._cells.values() if live.pidfd is not None]

    @property
    def needs_looks(self) -> bool:
        """Whether the end of one of them is told by no event."""
        return any(not live.is_child and live.pidfd is None for live in self._cells.values())

    def gone(self) -> Iterator[Gone]:
        """Those whose runner has ended since the last call."""
        for live in self:
            gone = self._look(live)
            if gone is not None:
                del self._cells[live.number]
                if live.pidfd is not None:
                    os.close(live.pidfd)
                yield gone

    def _look(self, live: LiveCell) -> Gone | None:
        if live.is_child:
            assert live.who is not None
            pid, status = _reap(live.who.pid)
            return None if pid == 0 else Gone(live, None if status is None else os.waitstatus_to_exitcode(status))
        if live.who is None:
            holder = read_holder(live.paths.lock)
            if holder is not None:
                self._cells[live.number] = live._replace(who=holder.identity, pidfd=open_pidfd(holder.identity))
                return None
            return None if is_locked(live.paths.lock) else Gone(live, None)
        return None if is_alive(live.who) else Gone(live, None)

    def ask_to_stop(self, grace_seconds: float | None) -> None:
        """Each of them, gracefully. None: no person asked for it, so that it is an interruption."""
        for live in self:
            stop_cell(live, grace_seconds)


def stop_cell(live: LiveCell, grace_seconds: float | None) -> None:
    """Leave the wish, then wake its runner. A wish that cannot be written makes an interruption of the stop."""
    if grace_seconds is not None:
        with suppress(StateNotWritten):
            write_request(live.paths.stop_request, StopRequest(grace_seconds))
    if live.who is not None and is_alive(live.who) and (live.is_child or has_open(live.who.pid, live.paths.lock)):
        with suppress(ProcessLookupError):
            os.kill(live.who.pid, signal.SIGTERM)
            os.kill(live.who.pid, signal.SIGCONT)


def _reap(pid: int) -> tuple[int, int | None]:
    """(0, None) while it runs; else (pid, status), status None where somebody else has reaped it."""
    try:
        found, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return pid, None
    return (0, None) if found == 0 else (found, status)
