"""The sweep's runner: one small detached process that starts cells until none is open. Started by `../launch.py`.

1. It holds the sweep's lock. 2. It folds the journal over the list of cells and asks the kernel which of them live.
3. Again and again: take in what ended, ask the plan (`plan.py`), do what it says, wait for an event. 4. Whatever
happens is journaled before it is told. A cell's own markers decide how it ended; this journal says when it was seen.
"""

from __future__ import annotations

import gc
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import onbox.collectors.oom
import onbox.collectors.snapshot  # noqa: F401 - a cell's runner is a fork of this process: loaded once for all
from onbox.chain.lock.lock_owner import Holder
from onbox.chain.runner.handbook_hook import Renewal
from onbox.chain.runner.runner import courier_of, launch_facts
from onbox.chain.runner.signals import Signals
from onbox.chain.state.recorder import Recorder
from onbox.chain.state.slots import reserve_slot
from onbox.chain.state.stop_request import read_request
from onbox.contract.events import Event
from onbox.contract.paths import CHAIN, SWEEP
from onbox.sweep.runner import cell_run
from onbox.sweep.runner.cell_starter import CellStarter
from onbox.sweep.runner.end_of_cell import CellEnds, note_end
from onbox.sweep.runner.end_of_sweep import CLOSING, SweepEnd
from onbox.sweep.runner.intake import Intake
from onbox.sweep.runner.live import LiveCells, stop_cell
from onbox.sweep.runner.opened_sweep import open_sweep
from onbox.sweep.runner.plan import CellAction, CellEvidence, plan_next
from onbox.sweep.runner.room import Cards
from onbox.sweep.runner.sweep_records import SETTLE_SECONDS, SweepRecords, log_to
from onbox.sweep.state import orders
from onbox.sweep.state.board import SweepStanding, cells_folder
from onbox.system.clock import monotonic, utc_text, wall
from onbox.system.files import StateNotWritten, link_newest, remove_file
from onbox.system.journal import Journal
from onbox.system.lock import is_locked
from onbox.system.process import Identity, boot_id, look_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.events import Record
    from onbox.contract.exits import Exit
    from onbox.contract.paths import RunPaths

HOLD_LOOK_SECONDS = 10.0
QUEUE_LOOK_SECONDS = 2.0  # no event tells that a line was added; asked only while a slot is free
LOOK_SECONDS = 1.0  # for what lives without pidfd
MANY = 1 << 30


class SweepRunner:
    """One sweep, from here to its end. Needs its lock held by this process, and the main thread."""

    def __init__(
        self, paths: RunPaths, *, listen: Callable[[Record], None] | None = None, bell_fd: int | None = None
    ) -> None:
        """Raises StateNotWritten, OSError, ValueError."""
        self.paths, self.sweep = paths, open_sweep(paths)
        self.board, self.settings, head = self.sweep.board, self.sweep.settings, self.sweep.head
        self.boot = boot_id()
        entry = look_up(os.getpid())
        self.me = entry.identity if entry else Identity(os.getpid(), 0)
        self.signals = Signals()
        signal.signal(signal.SIGUSR1, lambda *_: None)  # wakes it up: an order lies there
        self.attempt = self.sweep.history.of(SWEEP).attempts + 1
        environ = dict(os.environ)
        self.courier = courier_of(paths, head, environ)
        me = {**self.me._asdict(), "boot_id": self.boot, "host": os.uname().nodename}
        self.recorder = Recorder(
            paths,
            Journal(paths.journal),
            {"run": head.run, "run_id": head.run_id, "stages_total": 1, "runner": me},
            listen=log_to(paths.log(SWEEP, self.attempt), listen),
            bell_fd=bell_fd,
            courier=self.courier,
            renewal=Renewal(head.project, paths.root, environ),
        )
        self.live = LiveCells()
        self.records = SweepRecords(self.sweep, self.recorder, self.attempt, self.live)
        self.starter = CellStarter(self.sweep, self.records, self.live, self.me.pid)
        self.ends = CellEnds(self.sweep, self.records)
        self.intake = Intake(paths, head, self.sweep.frozen, self.board)
        self._told_stops = 0
        self._failed_before = self.board.counts[SweepStanding.FAILED]
        self._began = monotonic()
        self._slots: list[int] = []

    def holder(self) -> Holder:
        """Who holds the lock, for those who find it taken."""
        me, head = self.me, self.sweep.head
        return Holder(me.pid, me.start_ticks, self.boot, os.uname().nodename, head.run_id, head.chain_fingerprint)

    def run(self) -> Exit:
        """The sweep, to its end. Raises StateNotWritten when there was no room for its records for too long."""
        self._begin()
        self._take_stock()
        cell_run.preload()
        gc.freeze()  # what is there now is shared with the cells' runners; the collector would touch all of it
        while True:
            self._take_in()
            action = plan_next(self._evidence()).action
            if action in CLOSING:
                return self._close(action)
            if action is CellAction.START:
                self.starter.start_next()
            elif action is CellAction.STOP_CELLS:
                self._stop_cells()
            else:
                self._wait(action)

    # -- what is

    def _evidence(self) -> CellEvidence:
        board, settings, records = self.board, self.settings, self.records
        hold = records.hold
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
            is_held=records.is_held,
            held_too_long=hold is not None and monotonic() - hold.since > settings.gate_wait_seconds,
            is_growing=self.intake.is_growing or records.has_unwritten,
            unread=len(self.intake.problems),
        )

    def _take_in(self) -> None:
        """Ends of cells, a person's orders, new lines of the queue, and records that could not be written before."""
        for gone in self.live.gone():
            if self.ends.take_in(gone, is_stopping=bool(self.signals.stops)):
                self.starter.start(self.sweep.cell(gone.live.number), Cards(gone.live.cards))
        self._take_in_orders()
        added = self.intake.look() if self._may_look_at_queue() else None
        if added:
            origin = os.path.basename(self.sweep.frozen.queue or "")
            self.records.note({"event": Event.CELLS_ADDED, "count": added, "origin": origin})
        if self.records.has_unwritten:
            self.records.write_down()

    def _may_look_at_queue(self) -> bool:
        return self.sweep.frozen.queue is not None and len(self.live) < (self.settings.jobs or MANY)

    # -- beginning

    def _begin(self) -> None:
        paths, sweep = self.paths, self.sweep
        launch = sweep.history.launches + 1
        for path in (paths.done(CHAIN), paths.failed(CHAIN), paths.done(SWEEP), paths.failed(SWEEP)):
            remove_file(path)
        os.close(reserve_slot(paths, sweep.head.run_id, CHAIN, launch))
        self._slots.append(reserve_slot(paths, sweep.head.run_id, SWEEP, self.attempt))  # its lock: this process lives
        chain, stage = self._chain_started(launch), self._attempt_started()
        self.recorder.note(chain, stage)
        with suppress(StateNotWritten):  # a convenience for `onbox logs`
            link_newest(os.path.basename(paths.log(SWEEP, self.attempt)), paths.newest_log(SWEEP))
        sweep.apply(chain)
        sweep.apply(stage)

    def _chain_started(self, launch: int) -> Record:
        head, counts = self.sweep.head, self.board.counts
        return {
            "at": utc_text(wall()),
            "event": Event.CHAIN_STARTED,
            "launch": launch,
            "run_id": head.run_id,
            "stages": 1,
            "cells": len(self.board),
            "open": counts[SweepStanding.OPEN] + counts[SweepStanding.RUNNING],
            **launch_facts(head, self.boot),
            "notify": [target.name for target in self.courier.targets] if self.courier else [],
        }

    def _attempt_started(self) -> Record:
        return {
            "event": Event.ATTEMPT_STARTED,
            "stage": SWEEP,
            "attempt": self.attempt,
            "fingerprint": self.sweep.head.chain_fingerprint,
            "resume": self.attempt > 1,
            "boot_id": self.boot,
            "log": f"logs/{SWEEP}.{self.attempt}.log",
        }

    def _take_stock(self) -> None:
        """What became of the cells while no runner of the sweep lived."""
        for number in list(self.board.all(SweepStanding.DONE)):
            if not os.path.exists(self.sweep.paths_of(number).done(CHAIN)):
                self._reopen(number, "its marker is gone")
        for number in self._begun():
            self._find_again(number)
        self.records.show()

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
        cell, paths = self.sweep.cell(number), self.sweep.paths_of(number)
        was_running = self.board.standing(number) is SweepStanding.RUNNING
        if is_locked(paths.lock) or cell_run.has_live_stage(paths):
            self.starter.start(cell, Cards(tuple(self.board.cards.get(number, ()))))
            return
        end = self.sweep.end_of(cell)
        if end.outcome in ("done", "failed"):
            note_end(self.sweep, self.records, number, end)
        elif was_running:
            reason = "cut off; it goes on from there"
            self.records.note_cell(Event.CELL_ENDED, number, outcome="interrupted", reason=reason)

    # -- a person's word

    def _take_in_orders(self) -> None:
        for order in orders.waiting(self.paths):
            for number in order.cells:
                if 1 <= number <= len(self.board):
                    self._carry_out(order.what, number)
            self.records.flush()
            if not self.records.is_safe:
                return
            orders.done_with(order)

    def _carry_out(self, what: str, number: int) -> None:
        standing = self.board.standing(number)
        if what == orders.SKIP and number in self.live:
            self.ends.to_skip.add(number)
            live = next(one for one in self.live if one.number == number)
            stop_cell(live, self.sweep.head.settings.grace_seconds)
        elif what == orders.SKIP and standing is not SweepStanding.DONE:
            self.records.note_cell(Event.CELL_SKIPPED, number)
        elif what == orders.REOPEN and standing in (SweepStanding.FAILED, SweepStanding.SKIPPED):
            self._failed_before -= standing is SweepStanding.FAILED
            self._reopen(number, "by a person's word")

    def _reopen(self, number: int, reason: str) -> None:
        remove_file(self.sweep.paths_of(number).failed(CHAIN))
        self.records.note_cell(Event.CELL_REOPENED, number, reason=reason)

    def _stop_cells(self) -> None:
        request = read_request(self.paths.stop_request)
        grace = None if request is None else request.grace_seconds
        self._told_stops = self.signals.stops
        self.live.ask_to_stop(grace if self.signals.stops < 2 or grace is None else 0.0)

    # -- waiting, and the end

    def _wait(self, action: CellAction) -> None:
        records = self.records
        records.settle()
        seconds = [self.sweep.head.settings.sample_every_seconds]
        if action is CellAction.HOLD:
            seconds.append(HOLD_LOOK_SECONDS)
        if self._may_look_at_queue() or self.intake.is_growing:
            seconds.append(QUEUE_LOOK_SECONDS)
        if self.live.needs_looks:
            seconds.append(LOOK_SECONDS)
        if not records.is_up_to_date:
            seconds.append(SETTLE_SECONDS)
        elif records.shown_seconds_ago >= seconds[0]:
            records.show()
        self.signals.wait(monotonic() + min(seconds), self.live.fds)
        self.signals.urged()
        if action is CellAction.HOLD:
            records.look_again = True

    def _close(self, action: CellAction) -> Exit:
        hold = self.records.hold
        if action is CellAction.END_REFUSED and hold is not None and hold.trouble is not None:
            raise hold.trouble
        end = SweepEnd(self.sweep, self.recorder, self.attempt, self._began)
        return end.close(action, held=hold.reason if hold else "", problems=self.intake.problems)
