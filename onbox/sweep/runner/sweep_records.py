"""What the sweep's runner puts on record: the journal, the log for people, the status; and the hold on new cells that
follows where a record could not be written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.contract.paths import SWEEP
from onbox.contract.states import RunState
from onbox.named_tuple import NamedTuple
from onbox.sweep.state.event_text import narrate
from onbox.sweep.state.progress import progress_of
from onbox.system.clock import monotonic, utc_text, wall
from onbox.system.files import StateNotWritten, append_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sized

    from onbox.chain.state.recorder import Recorder
    from onbox.contract.events import Record
    from onbox.sweep.runner.opened_sweep import OpenedSweep

SETTLE_SECONDS = 1.0  # between two flushes of the journal, and two statuses: what cells left is flushed by themselves


class Hold(NamedTuple):
    """Why no cell starts, and since when (monotonic). trouble: where the state could not be written."""

    reason: str
    since: float
    trouble: StateNotWritten | None = None


class SweepRecords:
    """Everything that is noted is taken in at once, and journaled before it is told. What could not be written is kept:
    no cell starts until it is. live: the cells that run now.
    """

    def __init__(self, sweep: OpenedSweep, recorder: Recorder, attempt: int, live: Sized) -> None:
        self._sweep, self._recorder, self._attempt, self._live = sweep, recorder, attempt, live
        self._unwritten: list[Record] = []
        self.hold: Hold | None = None
        self.look_again = False
        self._began_at = utc_text(wall())
        self._settled_at = self._shown_at = 0.0
        self._is_settled = self._is_shown = False

    @property
    def is_held(self) -> bool:
        return self.hold is not None and not self.look_again

    @property
    def has_unwritten(self) -> bool:
        return bool(self._unwritten)

    @property
    def is_safe(self) -> bool:
        """Whether everything that was noted lies on the disk."""
        return self._is_settled and not self._unwritten

    @property
    def is_up_to_date(self) -> bool:
        return self._is_settled and self._is_shown

    @property
    def shown_seconds_ago(self) -> float:
        return monotonic() - self._shown_at

    # -- what happened

    def note_cell(self, event: str, number: int, **fields: Any) -> None:
        self.note({"event": event, "n": number, "cell": self._sweep.board.name(number), **fields}, sync=False)

    def note(self, record: Record, *, sync: bool = True) -> None:
        self._sweep.board.apply(record)
        self._is_shown = False
        self._unwritten.append(record)
        self.write_down(sync=sync)

    def note_start(self, record: Record) -> None:
        """Of a cell. Raises StateNotWritten: then it does not start, so there is nothing to keep."""
        self._recorder.note(record, sync=False)
        self._is_settled = self._is_shown = False
        self._sweep.board.apply(record)

    def write_down(self, *, sync: bool = True) -> None:
        try:
            while self._unwritten:
                self._recorder.note(self._unwritten[0], sync=sync)
                self._unwritten.pop(0)
                self._is_settled = sync
            if self.hold is not None and self.hold.trouble is not None:
                self.look_again = True
        except StateNotWritten as error:
            self.hold_back(str(error), error)

    def announce(self) -> None:
        self._recorder.announce()

    def settle(self) -> None:
        """What was noted is announced at once and flushed soon: the markers of the cells are the proof, and flushed."""
        self.announce()
        if not self._is_settled and monotonic() - self._settled_at >= SETTLE_SECONDS:
            self.flush()
        if not self._is_shown and self.shown_seconds_ago >= SETTLE_SECONDS:
            self.show()

    def flush(self) -> None:
        try:
            self._recorder.settle()
            self._is_settled, self._settled_at = True, monotonic()
        except StateNotWritten as error:
            self.hold_back(str(error), error)

    # -- why no cell starts

    def hold_back(self, reason: str, trouble: StateNotWritten | None = None) -> None:
        """No cell starts until it was looked again."""
        is_new = self.hold is None
        self.hold = Hold(reason, self.hold.since if self.hold else monotonic(), trouble)
        self.look_again = False
        if is_new and trouble is None:
            self.note({"event": Event.CELLS_HELD, "reason": reason})
        self.show()

    def release(self) -> None:
        self.look_again = False
        if self.hold is not None:
            self.hold = None
            self.note({"event": Event.CELLS_RELEASED}, sync=False)

    # -- for people

    def show(self) -> None:
        self._is_shown, self._shown_at = True, monotonic()
        sweep = self._sweep
        shown = progress_of(sweep.board, len(self._live), sweep.settings, self.hold.reason if self.hold else None)
        self._recorder.show(
            state=RunState.RUNNING.value,
            stage=SWEEP,
            stage_state="running",
            attempt=self._attempt,
            position=1,
            attempt_began_at=self._began_at,
            log=sweep.paths.log(SWEEP, self._attempt),
            **shown,
        )


def log_to(path: str, listen: Callable[[Record], None] | None) -> Callable[[Record], None]:
    """Everything that was journaled goes into the sweep's log, for people, and to who else listens."""

    def hear(record: Record) -> None:
        line = narrate(record)
        if line is not None:
            append_line(path, line)
        if listen is not None:
            listen(record)

    return hear
