"""The next cell begins: with room and cards of its own, or not at all until there are; one that lives is taken over."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from onbox.contract.events import Event
from onbox.model.manifest import folder_of
from onbox.sweep.cells.template import stage_of_cell
from onbox.sweep.runner import cell_run, restart
from onbox.sweep.runner.end_of_cell import note_end
from onbox.sweep.runner.live import LiveCell
from onbox.sweep.runner.room import Cards, RoomRefused, check_room, find_cards, hold, release
from onbox.system.clock import utc_text, wall
from onbox.system.files import StateNotWritten
from onbox.system.process import open_pidfd

if TYPE_CHECKING:
    from onbox.model.sweep import Cell
    from onbox.sweep.runner.live import LiveCells
    from onbox.sweep.runner.opened_sweep import OpenedSweep
    from onbox.sweep.runner.sweep_records import SweepRecords


class CellStarter:
    """me: the pid of the sweep's runner, which forks the cells' runners."""

    def __init__(self, sweep: OpenedSweep, records: SweepRecords, live: LiveCells, me: int) -> None:
        self._sweep, self._records, self._live, self._me = sweep, records, live, me

    def start_next(self) -> None:
        number = self._sweep.board.next_open()
        assert number is not None
        cell = self._sweep.cell(number)
        cards = self._refuse(cell) or self._cards()
        if isinstance(cards, RoomRefused):
            self._records.hold_back(cards.reason)
            return
        try:
            self.start(cell, cards)
        finally:
            release(cards)

    def _refuse(self, cell: Cell) -> RoomRefused | None:
        sweep = self._sweep
        stage = stage_of_cell(sweep.frozen.template[0], sweep.head.run, cell)
        return check_room(stage, sweep.paths.root, folder_of(sweep.head.project, stage))

    def _cards(self) -> Cards | RoomRefused:
        wanted = self._sweep.settings.gpus
        if not wanted:
            return Cards()
        gate = self._sweep.frozen.template[0].gates.gpu
        most_mib, taken = gate.max_used_mib if gate else None, set(self._live.cards)
        while True:
            found = find_cards(wanted, taken, os.environ, most_mib)
            held = found if isinstance(found, RoomRefused) else hold(found, os.environ)
            if not isinstance(held, int):
                return held
            taken.add(held)

    def start(self, cell: Cell, cards: Cards) -> None:
        """Start it, or take it over if a runner of it lives. Raises StateNotWritten if the sweep was removed."""
        sweep, records = self._sweep, self._records
        if not os.path.exists(sweep.paths.manifest):  # a new one must not be begun in the place of what was removed
            raise StateNotWritten(sweep.paths.manifest, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
        if records.has_unwritten:
            records.hold_back("what happened could not be written down yet")
            return
        try:
            ready = cell_run.make_ready(sweep.paths, sweep.head, sweep.frozen.template, cell)
        except StateNotWritten as error:
            records.hold_back(str(error), error)
            return
        if isinstance(ready, cell_run.CellBusy):
            self._adopt(cell.number, ready, cards)
            return
        end = sweep.end_of(cell)
        if end.outcome in ("done", "failed"):  # its runner ended between the look at it and the lock
            os.close(ready.lock_fd)
            note_end(sweep, records, cell.number, end)
            return
        self._begin(cell, ready, cards)

    def _begin(self, cell: Cell, ready: cell_run.Ready, cards: Cards) -> None:
        number, records = cell.number, self._records
        try:
            about = {"at": utc_text(wall()), "event": Event.CELL_STARTED, "n": number, "cell": cell.name}
            records.note_start({**about, **_gpus_of(cards)})
            pid = cell_run.begin(
                ready,
                {**cards.environ, restart.CELL_VARIABLE: cell.name, restart.SWEEP_VARIABLE: self._sweep.paths.root},
                restart.words_of_cell(ready.paths.root),
                self._call_back,
                cards.locks,
            )
            who = cell_run.identity_of(pid)
            self._live.add(LiveCell(number, ready.paths, who, True, None, cards.numbers))
            records.release()
        except StateNotWritten as error:
            records.hold_back(str(error), error)
        except OSError as error:
            records.note_cell(Event.CELL_ENDED, number, outcome="interrupted", reason="it could not be started")
            records.hold_back(f"no process could be started: {error.strerror}")
        finally:
            os.close(ready.lock_fd)
        records.announce()

    def _call_back(self) -> None:
        """In the cell's runner, after its end: the sweep goes on though its runner was killed meanwhile."""
        if os.getppid() != self._me:
            restart.revive(self._sweep.paths)

    def _adopt(self, number: int, busy: cell_run.CellBusy, cards: Cards) -> None:
        pidfd = open_pidfd(busy.who) if busy.who is not None else None
        self._live.add(LiveCell(number, busy.paths, busy.who, False, pidfd, cards.numbers))
        self._records.note_cell(Event.CELL_ADOPTED, number, **_gpus_of(cards))


def _gpus_of(cards: Cards) -> dict[str, list[int]]:
    return {"gpus": list(cards.numbers)} if cards.numbers else {}
