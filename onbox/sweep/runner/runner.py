"""The sweep's runner: one small detached process that starts cells until none is open. Started by `launch.py`.

1. It holds the sweep's lock. 2. It folds the journal over the list of cells and asks the kernel which of them live.
3. Again and again: take in what ended, ask the plan (`plan.py`), do what it says, wait for an event. 4. Whatever
happens is journaled before it is told. A cell's own markers decide how it ended; this journal says when it was seen.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import onbox.collectors.oom
import onbox.collectors.snapshot  # noqa: F401 - a cell's runner is a fork of this process: loaded once for all
from onbox import __version__
from onbox.chain.lock.lock_owner import Holder
from onbox.chain.runner.handbook_hook import Renewal
from onbox.chain.runner.runner import courier_of
from onbox.chain.runner.signals import Signals
from onbox.chain.state.recorder import Recorder
from onbox.chain.state.replay import History
from onbox.chain.state.slots import land_marker, reserve_slot
from onbox.chain.state.stop_request import read_request
from onbox.contract.events import Event, Unreadable, parse_events
from onbox.contract.exits import Exit
from onbox.contract.paths import CHAIN, SWEEP
from onbox.contract.states import RunState
from onbox.model.manifest import folder_of
from onbox.named_tuple import NamedTuple
from onbox.sweep.cells.template import stage_of_cell
from onbox.sweep.runner import cell_run, restart
from onbox.sweep.runner.cell_metrics import read_metrics
from onbox.sweep.runner.intake import Intake
from onbox.sweep.runner.live import Gone, LiveCell, LiveCells, stop_cell
from onbox.sweep.runner.plan import CellAction, CellEvidence, plan_next
from onbox.sweep.runner.room import Cards, RoomRefused, check_room, find_cards, hold, release
from onbox.sweep.state import orders
from onbox.sweep.state.board import Board, SweepStanding, cells_folder, read_board, read_cell, summary
from onbox.sweep.state.event_text import narrate
from onbox.sweep.state.frozen_sweep import read_definition
from onbox.sweep.state.progress import progress_of
from onbox.system.clock import monotonic, utc_text, wall
from onbox.system.files import StateNotWritten, append_line, link_newest, remove_file
from onbox.system.journal import Journal, read_lines
from onbox.system.lock import is_locked
from onbox.system.process import Identity, boot_id, look_up, open_pidfd

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths
    from onbox.model.sweep import Cell

HOLD_LOOK_SECONDS = 10.0
QUEUE_LOOK_SECONDS = 2.0  # no event tells that a line was added; asked only while a slot is free
LOOK_SECONDS = 1.0  # for what lives without pidfd
SETTLE_SECONDS = 1.0  # between two flushes of the journal, and two statuses: what cells left is flushed by themselves
RESTARTS = 3  # of a cell whose runner was ended by somebody else, in one launch
LISTED_BYTES = 1500
MANY = 1 << 30

_ENDS: dict[CellAction, tuple[Exit, str, RunState]] = {
    CellAction.END_DONE: (Exit.DONE, Event.CHAIN_DONE, RunState.DONE),
    CellAction.END_FAILED: (Exit.FAILED, Event.CHAIN_FAILED, RunState.FAILED),
    CellAction.END_TOO_MANY: (Exit.FAILED, Event.CHAIN_FAILED, RunState.FAILED),
    CellAction.END_SAME: (Exit.FAILED, Event.CHAIN_FAILED, RunState.FAILED),
    CellAction.END_REFUSED: (Exit.GATE_REFUSED, Event.GATE_REFUSED, RunState.FAILED),
}


class Hold(NamedTuple):
    """Why no cell starts, and since when (monotonic). trouble: where the state could not be written."""

    reason: str
    since: float
    trouble: StateNotWritten | None = None


class SweepRunner:
    """One sweep, from here to its end. Needs its lock held by this process, and the main thread."""

    def __init__(
        self, paths: RunPaths, *, listen: Callable[[Record], None] | None = None, bell_fd: int | None = None
    ) -> None:
        """Read the frozen definition, the cells and the journal. Raises StateNotWritten, OSError, ValueError."""
        found = read_definition(paths)
        if found is None:
            raise ValueError(f"there is no sweep at {paths.root}")
        self.paths, self.head, self.frozen = paths, found.head, found.frozen
        self.settings = found.frozen.settings
        self.board = read_board(paths)
        self.board.sort = self.settings.sort
        self.history = History()
        self._recall()
        self.boot = boot_id()
        entry = look_up(os.getpid())
        self.me = entry.identity if entry else Identity(os.getpid(), 0)
        self.live = LiveCells()
        self.signals = Signals()
        signal.signal(signal.SIGUSR1, lambda *_: None)  # wakes it up: an order lies there
        self.attempt = self.history.of(SWEEP).attempts + 1
        self._listen = listen
        environ = dict(os.environ)
        courier = courier_of(paths, self.head, environ)
        me = {**self.me._asdict(), "boot_id": self.boot, "host": os.uname().nodename}
        self.recorder = Recorder(
            paths,
            Journal(paths.journal),
            {"run": self.head.run, "run_id": self.head.run_id, "stages_total": 1, "runner": me},
            listen=self._hear,
            bell_fd=bell_fd,
            courier=courier,
            renewal=Renewal(self.head.project, paths.root, environ),
        )
        self.courier = courier
        self.intake = Intake(paths, self.head, self.frozen, self.board)
        self._unwritten: list[Record] = []
        self._hold: Hold | None = None
        self._look_again = False
        self._told_stops = 0
        self._failed_before = self.board.counts[SweepStanding.FAILED]
        self._restarts: dict[int, int] = {}
        self._to_skip: set[int] = set()
        self._began, self._began_at = monotonic(), utc_text(wall())
        self._slots: list[int] = []
        self._settled_at = self._shown_at = 0.0
        self._is_settled = self._is_shown = False

    def _recall(self) -> None:
        for record in parse_events(read_lines(self.paths.journal)):
            if isinstance(record, Unreadable):
                self.history.unreadable.append(record)
            else:
                self.history.apply(record)
                self.board.apply(record)

    def holder(self) -> Holder:
        """Who holds the lock, for those who find it taken."""
        me, head = self.me, self.head
        return Holder(me.pid, me.start_ticks, self.boot, os.uname().nodename, head.run_id, head.chain_fingerprint)

    def run(self) -> Exit:
        """The sweep, to its end. Raises StateNotWritten when there was no room for its records for too long."""
        self._open()
        self._take_stock()
        cell_run.preload()
        gc.freeze()  # what is there now is shared with the cells' runners; the collector would touch all of it
        while True:
            self._take_in()
            action = plan_next(self._evidence()).action
            if action in _ENDS or action is CellAction.END_STOPPED:
                return self._close(action)
            if action is CellAction.START:
                self._start_next()
            elif action is CellAction.STOP_CELLS:
                self._stop_cells()
            else:
                self._wait(action)

    # -- what is

    def _evidence(self) -> CellEvidence:
        board, settings = self.board, self.settings
        hold = self._hold
        return CellEvidence(
            stops=self.signals.stops,
            cells_told_to_stop=self._told_stops >= self.signals.stops,
            open=board.counts[SweepStanding.OPEN],
            running=len(self.live),
            failed=board.counts[SweepStanding.FAILED],
            new_failed=board.counts[SweepStanding.FAILED] - self._failed_before,
            slots=settings.jobs or MANY,
            max_failures=settings.max_failures,
            same_failures=settings.same_failures,
            streak=board.streak,
            is_held=hold is not None and not self._look_again,
            held_too_long=hold is not None and monotonic() - hold.since > settings.gate_wait_seconds,
            is_growing=self.intake.is_growing or bool(self._unwritten),
            unread=len(self.intake.problems),
        )

    def _take_in(self) -> None:
        """Ends of cells, a person's orders, new lines of the queue, and records that could not be written before."""
        for gone in self.live.gone():
            self._ended(gone)
        self._take_in_orders()
        added = self.intake.look() if self._may_look_at_queue() else None
        if added:
            self._note(
                {"event": Event.CELLS_ADDED, "count": added, "origin": os.path.basename(self.frozen.queue or "")}
            )
        if self._unwritten:
            self._write_down()

    def _may_look_at_queue(self) -> bool:
        return self.frozen.queue is not None and len(self.live) < (self.settings.jobs or MANY)

    # -- beginning

    def _open(self) -> None:
        paths, head = self.paths, self.head
        launch = self.history.launches + 1
        for path in (paths.done(CHAIN), paths.failed(CHAIN), paths.done(SWEEP), paths.failed(SWEEP)):
            remove_file(path)
        os.close(reserve_slot(paths, head.run_id, CHAIN, launch))
        self._slots.append(reserve_slot(paths, head.run_id, SWEEP, self.attempt))  # its lock: this process lives
        counts = self.board.counts
        chain = {
            "event": Event.CHAIN_STARTED,
            "launch": launch,
            "run_id": head.run_id,
            "stages": 1,
            "cells": len(self.board),
            "open": counts[SweepStanding.OPEN] + counts[SweepStanding.RUNNING],
            "fingerprint": head.chain_fingerprint,
            "pid": os.getpid(),
            "boot_id": self.boot,
            "host": os.uname().nodename,
            "onbox": __version__,
            "git": head.data.get("git"),
            "notify": [target.name for target in self.courier.targets] if self.courier else [],
        }
        stage = {
            "event": Event.ATTEMPT_STARTED,
            "stage": SWEEP,
            "attempt": self.attempt,
            "fingerprint": head.chain_fingerprint,
            "resume": self.attempt > 1,
            "boot_id": self.boot,
            "log": f"logs/{SWEEP}.{self.attempt}.log",
        }
        self.recorder.note(chain, stage)
        with suppress(StateNotWritten):  # a convenience for `onbox logs`
            link_newest(os.path.basename(self.paths.log(SWEEP, self.attempt)), self.paths.newest_log(SWEEP))
        for record in (chain, stage):
            self.history.apply(record)
            self.board.apply(record)

    def _take_stock(self) -> None:
        """What became of the cells while no runner of the sweep lived."""
        for number in list(self.board.all(SweepStanding.DONE)):
            if not os.path.exists(cell_run.cell_paths(self.paths, self.board.name(number)).done(CHAIN)):
                self._reopen(number, "its marker is gone")
        for number in self._begun():
            self._find_again(number)
        self._show()

    def _begun(self) -> list[int]:
        """Cells that are not over by the journal and have a directory."""
        try:
            names = os.listdir(cells_folder(self.paths))
        except FileNotFoundError:
            names = []
        known = self.board.number_of
        begun = {known[name] for name in names if name in known}
        begun = {one for one in begun if self.board.standing(one) in (SweepStanding.OPEN, SweepStanding.RUNNING)}
        return sorted(begun | set(self.board.all(SweepStanding.RUNNING)))

    def _find_again(self, number: int) -> None:
        """A cell that was begun: it lives, or has ended, or was cut off."""
        cell = self._cell(number)
        paths = cell_run.cell_paths(self.paths, cell.name)
        was_running = self.board.standing(number) is SweepStanding.RUNNING
        if is_locked(paths.lock) or cell_run.has_live_stage(paths):
            self._start(cell, Cards(tuple(self.board.cards.get(number, ()))))
            return
        end = self._end_of(cell)
        if end.outcome in ("done", "failed"):
            self._tell_end(number, end, None)
        elif was_running:
            self._note_cell(Event.CELL_ENDED, number, outcome="interrupted", reason="cut off; it goes on from there")

    def _cell(self, number: int) -> Cell:
        return read_cell(self.paths, self.board.offsets[number - 1])

    def _end_of(self, cell: Cell) -> cell_run.End:
        paths, run_id = cell_run.cell_paths(self.paths, cell.name), cell_run.run_id_of(self.head, cell.number)
        fingerprint = cell_run.fingerprint_of(cell_run.stages_of(self.frozen.template, self.head.run, cell))
        return cell_run.end_of(paths, run_id, fingerprint)

    # -- the next cell

    def _start_next(self) -> None:
        number = self.board.next_open()
        assert number is not None
        cell = self._cell(number)
        refused = self._refuse(cell)
        cards = refused or self._cards()
        if isinstance(cards, RoomRefused):
            self._hold_back(cards.reason)
            return
        try:
            self._start(cell, cards)
        finally:
            release(cards)

    def _refuse(self, cell: Cell) -> RoomRefused | None:
        stage = stage_of_cell(self.frozen.template[0], self.head.run, cell)
        return check_room(stage, self.paths.root, folder_of(self.head.project, stage))

    def _cards(self) -> Cards | RoomRefused:
        if not self.settings.gpus:
            return Cards()
        gate = self.frozen.template[0].gates.gpu
        most_mib, taken = gate.max_used_mib if gate else None, set(self.live.cards)
        while True:
            found = find_cards(self.settings.gpus, taken, os.environ, most_mib)
            held = found if isinstance(found, RoomRefused) else hold(found, os.environ)
            if not isinstance(held, int):
                return held
            taken.add(held)

    def _start(self, cell: Cell, cards: Cards) -> None:
        number = cell.number
        if not os.path.exists(self.paths.manifest):  # a new one must not be begun in the place of what was removed
            raise StateNotWritten(self.paths.manifest, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
        if self._unwritten:
            self._hold_back("what happened could not be written down yet")
            return
        try:
            ready = cell_run.make_ready(self.paths, self.head, self.frozen.template, cell)
        except StateNotWritten as error:
            self._hold_back(str(error), error)
            return
        if isinstance(ready, cell_run.CellBusy):
            self._adopt(number, ready, cards)
            return
        end = self._end_of(cell)
        if end.outcome in ("done", "failed"):  # its runner ended between the look at it and the lock
            os.close(ready.lock_fd)
            self._tell_end(number, end, None)
            return
        record = {"event": Event.CELL_STARTED, "n": number, "cell": cell.name}
        record |= {"gpus": list(cards.numbers)} if cards.numbers else {}
        try:
            self.recorder.note(record, sync=False)
            self._is_settled = self._is_shown = False
            self.board.apply(record)
            pid = cell_run.begin(
                ready,
                {**cards.environ, restart.CELL_VARIABLE: cell.name, restart.SWEEP_VARIABLE: self.paths.root},
                restart.words_of_cell(ready.paths.root),
                self._call_back,
                cards.locks,
            )
            who = cell_run.identity_of(pid)
            self.live.add(LiveCell(number, ready.paths, who, True, None, monotonic(), cards.numbers))
            self._release()
        except StateNotWritten as error:
            self._hold_back(str(error), error)
        except OSError as error:
            self._note_cell(Event.CELL_ENDED, number, outcome="interrupted", reason="it could not be started")
            self._hold_back(f"no process could be started: {error.strerror}")
        finally:
            os.close(ready.lock_fd)
        self.recorder.announce()

    def _call_back(self) -> None:
        """In the cell's runner, after its end: the sweep goes on though its runner was killed meanwhile."""
        if os.getppid() != self.me.pid:
            restart.revive(self.paths)

    def _adopt(self, number: int, busy: cell_run.CellBusy, cards: Cards) -> None:
        pidfd = open_pidfd(busy.who) if busy.who is not None else None
        self.live.add(LiveCell(number, busy.paths, busy.who, False, pidfd, monotonic(), cards.numbers))
        gpus = {"gpus": list(cards.numbers)} if cards.numbers else {}
        self._note_cell(Event.CELL_ADOPTED, number, **gpus)

    def _hold_back(self, reason: str, trouble: StateNotWritten | None = None) -> None:
        """No cell starts until it was looked again."""
        is_new = self._hold is None
        self._hold = Hold(reason, self._hold.since if self._hold else monotonic(), trouble)
        self._look_again = False
        if is_new and trouble is None:
            self._note({"event": Event.CELLS_HELD, "reason": reason})
        self._show()

    def _release(self) -> None:
        self._look_again = False
        if self._hold is not None:
            self._hold = None
            self._note({"event": Event.CELLS_RELEASED}, sync=False)

    # -- a cell's end

    def _ended(self, gone: Gone) -> None:
        live = gone.live
        cell = self._cell(live.number)
        end = self._end_of(cell)
        self._look_again = True
        is_skipped = live.number in self._to_skip
        self._to_skip.discard(live.number)
        if is_skipped and end.outcome != "done":
            self._note_cell(Event.CELL_SKIPPED, live.number)
        elif end.outcome in ("done", "failed"):
            self._tell_end(live.number, end, monotonic() - live.began)
        elif end.outcome == "refused":
            self._note_cell(Event.CELL_ENDED, live.number, outcome="interrupted", reason=end.reason)
            self._hold_back(end.reason)
        else:
            self._unfinished(gone, cell)

    def _unfinished(self, gone: Gone, cell: Cell) -> None:
        """Its runner ended without an end of its chain: it was stopped, killed, or had no room for its records."""
        number = cell.number
        if self.signals.stops:
            self._note_cell(Event.CELL_ENDED, number, outcome="interrupted", reason="the sweep was asked to stop")
            return
        if gone.code == Exit.STATE_NOT_WRITTEN:
            words = cell_run.last_words(gone.live.paths)
            self._note_cell(Event.CELL_ENDED, number, outcome="interrupted", reason=words)
            self._hold_back(words or "the state of a cell could not be written")
            return
        tries = self._restarts.get(number, 0) + 1
        self._restarts[number] = tries
        if tries <= RESTARTS:
            self._note_cell(Event.CELL_ENDED, number, outcome="interrupted", reason="its runner was ended; it goes on")
            if cell_run.has_live_stage(gone.live.paths):
                self._start(cell, Cards(gone.live.cards))
            return
        reason = cell_run.last_words(gone.live.paths) or f"its runner was ended {tries} times"
        self._tell_end(number, cell_run.End("failed", "unknown", "", reason=reason), monotonic() - gone.live.began)

    def _tell_end(self, number: int, end: cell_run.End, seconds: float | None) -> None:
        """seconds: how long it ran; None: nobody watched, so its own marker tells."""
        seconds = end.seconds if seconds is None else seconds
        about: dict[str, Any] = {"outcome": end.outcome}
        about |= {} if seconds is None else {"seconds": round(seconds, 3)}
        if end.outcome == "done":
            cell = self._cell(number)
            paths = cell_run.cell_paths(self.paths, cell.name)
            metrics = read_metrics(self.frozen, self.head.run, cell, self.head.project, paths)
            about |= {"metrics": metrics} if metrics else {}
        else:
            told = {"failure_class": end.failure_class, "signature": end.signature, "stage_failed": end.stage}
            told |= {"reason": end.reason, "proof": end.proof, "remedy": end.remedy}
            about |= {key: value[:500] for key, value in told.items() if value}
        self._note_cell(Event.CELL_ENDED, number, **about)

    # -- a person's word

    def _take_in_orders(self) -> None:
        for order in orders.waiting(self.paths):
            for number in order.cells:
                if 1 <= number <= len(self.board):
                    self._carry_out(order.what, number)
            self._flush()
            if self._unwritten or not self._is_settled:
                return
            orders.done_with(order)

    def _carry_out(self, what: str, number: int) -> None:
        standing = self.board.standing(number)
        if what == orders.SKIP and number in self.live:
            self._to_skip.add(number)
            live = next(one for one in self.live if one.number == number)
            stop_cell(live, self.head.settings.grace_seconds)
        elif what == orders.SKIP and standing is not SweepStanding.DONE:
            self._note_cell(Event.CELL_SKIPPED, number)
        elif what == orders.REOPEN and standing in (SweepStanding.FAILED, SweepStanding.SKIPPED):
            self._failed_before -= standing is SweepStanding.FAILED
            self._reopen(number, "by a person's word")

    def _reopen(self, number: int, reason: str) -> None:
        remove_file(cell_run.cell_paths(self.paths, self.board.name(number)).failed(CHAIN))
        self._note_cell(Event.CELL_REOPENED, number, reason=reason)

    def _stop_cells(self) -> None:
        request = read_request(self.paths.stop_request)
        grace = None if request is None else request.grace_seconds
        self._told_stops = self.signals.stops
        self.live.ask_to_stop(grace if self.signals.stops < 2 or grace is None else 0.0)

    # -- records

    def _note_cell(self, event: str, number: int, **fields: Any) -> None:
        self._note({"event": event, "n": number, "cell": self.board.name(number), **fields}, sync=False)

    def _note(self, record: Record, *, sync: bool = True) -> None:
        """Take it in and write it down. Where there is no room it is kept: no cell starts until it is written."""
        self.board.apply(record)
        self._is_shown = False
        self._unwritten.append(record)
        self._write_down(sync=sync)

    def _write_down(self, *, sync: bool = True) -> None:
        try:
            while self._unwritten:
                self.recorder.note(self._unwritten[0], sync=sync)
                self._unwritten.pop(0)
                self._is_settled = sync
            if self._hold is not None and self._hold.trouble is not None:
                self._look_again = True
        except StateNotWritten as error:
            self._hold_back(str(error), error)

    def _settle(self) -> None:
        """What was noted is announced at once and flushed soon: the markers of the cells are the proof, and flushed."""
        self.recorder.announce()
        if not self._is_settled and monotonic() - self._settled_at >= SETTLE_SECONDS:
            self._flush()
        if not self._is_shown and monotonic() - self._shown_at >= SETTLE_SECONDS:
            self._show()

    def _flush(self) -> None:
        try:
            self.recorder.settle()
            self._is_settled, self._settled_at = True, monotonic()
        except StateNotWritten as error:
            self._hold_back(str(error), error)

    def _hear(self, record: Record) -> None:
        """Everything that was journaled goes into the sweep's log, for people."""
        line = narrate(record)
        if line is not None:
            append_line(self.paths.log(SWEEP, self.attempt), line)
        if self._listen is not None:
            self._listen(record)

    def _show(self) -> None:
        self._is_shown, self._shown_at = True, monotonic()
        shown = progress_of(self.board, len(self.live), self.settings, self._hold.reason if self._hold else None)
        self.recorder.show(
            state=RunState.RUNNING.value,
            stage=SWEEP,
            stage_state="running",
            attempt=self.attempt,
            position=1,
            attempt_began_at=self._began_at,
            log=self.paths.log(SWEEP, self.attempt),
            **shown,
        )

    # -- waiting, and the end

    def _wait(self, action: CellAction) -> None:
        self._settle()
        seconds = [self.head.settings.sample_every_seconds]
        if action is CellAction.HOLD:
            seconds.append(HOLD_LOOK_SECONDS)
        if self._may_look_at_queue() or self.intake.is_growing:
            seconds.append(QUEUE_LOOK_SECONDS)
        if self.live.needs_looks:
            seconds.append(LOOK_SECONDS)
        if not (self._is_settled and self._is_shown):
            seconds.append(SETTLE_SECONDS)
        elif monotonic() - self._shown_at >= seconds[0]:
            self._show()
        self.signals.wait(monotonic() + min(seconds), self.live.fds)
        self.signals.urged()
        if action is CellAction.HOLD:
            self._look_again = True

    def _close(self, action: CellAction) -> Exit:
        if action is CellAction.END_REFUSED and self._hold is not None and self._hold.trouble is not None:
            raise self._hold.trouble
        if action is CellAction.END_STOPPED:
            return self._close_stopped()
        code, event, state = _ENDS[action]
        data = self._end_data(action, code)
        is_done = event == Event.CHAIN_DONE
        stage = {**data, "event": Event.STAGE_DONE if is_done else Event.STAGE_FAILED, "stage": SWEEP}
        chain = {**data, "event": event, "stage": CHAIN, "attempt": self.history.launches}
        chain |= {} if is_done else {"outcome": event, "stopped_at": SWEEP}
        self.recorder.note({**stage, "attempt": self.attempt}, chain)
        for name, told in ((SWEEP, {**stage, "attempt": self.attempt}), (CHAIN, chain)):
            marker = self.paths.done(name) if is_done else self.paths.failed(name)
            land_marker(self.paths.slot(name), marker, {key: value for key, value in told.items() if key != "event"})
        self._finish(state, event, data["reason"])
        return code

    def _close_stopped(self) -> Exit:
        asked = read_request(self.paths.stop_request) is not None
        why = "stopped on request" if asked else "the runner was asked to end by a signal (shutdown, reclaim, kill)"
        data = self._end_data(CellAction.END_STOPPED, Exit.STOPPED)
        data["reason"] = f"{why}; {summary(self.board)}"
        stage = {"event": Event.STAGE_INTERRUPTED, "stage": SWEEP, "attempt": self.attempt, "reason": why}
        event, state = Event.CHAIN_STOPPED, RunState.STOPPED
        if not asked:
            event, state = Event.CHAIN_INTERRUPTED, RunState.INTERRUPTED
        chain = {**data, "event": event, "stage": CHAIN, "attempt": self.history.launches, "stopped_at": SWEEP}
        self.recorder.note(stage, chain)
        self._finish(state, event, data["reason"])
        return Exit.STOPPED

    def _finish(self, state: RunState, event: str, reason: str) -> None:
        shown = progress_of(self.board, 0, self.settings, None)
        self.recorder.show(state=state.value, stage=SWEEP, reason=reason, outcome=event, **shown)
        remove_file(self.paths.stop_request)

    def _end_data(self, action: CellAction, code: Exit) -> dict[str, Any]:
        board = self.board
        words = [summary(board)]
        if action in (CellAction.END_TOO_MANY, CellAction.END_SAME):
            words.append(f"ended before the rest: {self._why_ended(action)}")
        if action is CellAction.END_REFUSED and self._hold is not None:
            words.append(f"{action.value}: {self._hold.reason}")
        words += self.intake.problems[:5]
        data: dict[str, Any] = {
            "run_id": self.head.run_id,
            "fingerprint": self.head.chain_fingerprint,
            "stages": 1,
            "ended_at": utc_text(wall()),
            "duration_seconds": round(monotonic() - self._began, 3),
            "exit_code": int(code),
            "reason": "; ".join(words),
            "cells": {name.name.lower(): board.counts[name] for name in SweepStanding},
        }
        return {**data, **(_failure_data(board) if board.failures else {})}

    def _why_ended(self, action: CellAction) -> str:
        if action is CellAction.END_TOO_MANY:
            return f"more than max_failures = {self.settings.max_failures} cells failed"
        streak = self.board.streak
        return f"{streak.times} cells in a row failed in the same way ({streak.signature})"


def _failure_data(board: Board) -> dict[str, Any]:
    """The most frequent failure, and which cells failed, as many as there is room for."""
    kinds = Counter((one.failure_class, one.signature) for one in board.failures.values())
    kind = kinds.most_common(1)[0][0]
    most = next(one for one in board.failures.values() if (one.failure_class, one.signature) == kind)
    names: list[str] = []
    for number in sorted(board.failures):
        names.append(board.name(number))
        if sum(map(len, names)) > LISTED_BYTES:
            names[-1] = f"… and {len(board.failures) - len(names) + 1} more"
            break
    # Not as a signature: that the sweep as a whole ends so again says nothing of a cause.
    return {"failure_class": most.failure_class, "proof": most.proof or most.signature, "failed_cells": names}
