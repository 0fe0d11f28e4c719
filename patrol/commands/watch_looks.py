"""The looks of `patrol watch` on a terminal: in a thread, so that keys are heard while boxes are asked."""

from __future__ import annotations

import os
import threading
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING

from onbox.system.clock import wall
from patrol.collect import look_at_all
from patrol.judge import Frame, judge, point_of
from patrol.memory.transfers import Register
from patrol.report.remembered import losses_of
from patrol.report.rows import RowSource
from patrol.tick import policy_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings
    from patrol.judge import Judged
    from patrol.memory.store import Memory
    from patrol.snapshot import Snapshot

LOSSES_LIMIT = 2000


class Looker(threading.Thread):
    """Looks at the boxes, again and again, beside the screen. found: what came, a box at a time; then an int, the
    number of the round that ended, or what went wrong. bell: rung with each.
    """

    def __init__(
        self, settings: Settings, boxes: Sequence[BoxSettings], memory: Memory, every: float, rounds: int | None
    ) -> None:
        super().__init__(name="patrol watch", daemon=True)
        self.settings, self.boxes, self.memory = settings, boxes, memory
        self.every, self.rounds = every, rounds
        self.found: SimpleQueue[list[RowSource] | int | Exception] = SimpleQueue()
        self.bell_fd, self._rope = os.pipe()
        self.asked = threading.Event()
        self.losses: dict[tuple[str, str], deque[float | None]] = {}
        self.looking = False

    def run(self) -> None:
        try:
            number = 0
            while self.rounds is None or number < self.rounds:
                self._look()
                number += 1
                self._tell(number)
                self.asked.wait(self.every)
                self.asked.clear()
        except Exception as error:  # noqa: BLE001 - raised where the screen is, which this thread has not
            self._tell(error)

    def _look(self) -> None:
        self.looking = True
        past, policy = self.memory.recall(), policy_of(self.settings)
        for seen in look_at_all(self.settings, self.boxes, past):
            homes = Register(self.settings.state).homes()
            frame = Frame(past, policy, self.settings.ssh_command, wall(), homes)
            judged = judge(seen.box, seen.snapshot, None, frame)
            self._tell([self._subject(run, seen.snapshot) for run in judged.runs])
        self.looking = False

    def _subject(self, run: Judged, snapshot: Snapshot) -> RowSource:
        """With the losses that are remembered, and those of the looks that this screen made."""
        key = (run.verdict.box, run.verdict.run)
        if key not in self.losses:
            self.losses[key] = deque(losses_of(self.memory, *key), LOSSES_LIMIT)
        point = point_of(run.look, snapshot)
        if point is not None:
            self.losses[key].append(point.loss)
        return RowSource(run.verdict, run.look, snapshot, tuple(self.losses[key]), snapshot.at)

    def _tell(self, what: list[RowSource] | int | Exception) -> None:
        self.found.put(what)
        os.write(self._rope, b".")
