"""A cell's end is put on record: how it ended, by its own markers, and what it left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.contract.exits import Exit
from onbox.model.units import counted
from onbox.sweep.runner import cell_run
from onbox.sweep.runner.cell_metrics import read_metrics

if TYPE_CHECKING:
    from onbox.sweep.runner.live import Gone
    from onbox.sweep.runner.opened_sweep import OpenedSweep
    from onbox.sweep.runner.sweep_records import SweepRecords

WARNINGS_KEPT, WARNING_LIMIT = 3, 200
RESTARTS = 3  # of a cell whose runner was ended by somebody else, in one launch


def note_end(sweep: OpenedSweep, records: SweepRecords, number: int, end: cell_run.End) -> None:
    """Done, or failed. How long it took is what its own marker says, whoever watched it."""
    about: dict[str, Any] = {"outcome": end.outcome}
    about |= {} if end.seconds is None else {"seconds": round(end.seconds, 3)}
    if end.outcome == "done":
        metrics = read_metrics(
            sweep.frozen, sweep.head.run, sweep.cell(number), sweep.head.project, sweep.paths_of(number)
        )
        about |= {"metrics": metrics} if metrics else {}
        about |= {"warnings": _warnings(sweep, end)} if end.warnings else {}
    else:
        told = {"failure_class": end.failure_class, "signature": end.signature, "stage_failed": end.stage}
        told |= {"reason": end.reason, "proof": end.proof, "remedy": end.remedy}
        about |= {key: value[:500] for key, value in told.items() if value}
    records.note_cell(Event.CELL_ENDED, number, **about)


def _warnings(sweep: OpenedSweep, end: cell_run.End) -> list[str]:
    """Of a cell with one stage it is needless to say which."""
    template = sweep.frozen.template
    only = f"{template[0].name}: " if len(template) == 1 else ""
    return [text.removeprefix(only)[:WARNING_LIMIT] for text in end.warnings[:WARNINGS_KEPT]]


class CellEnds:
    """What follows from the end of a cell's runner. to_skip: cells that a person took out while they ran."""

    def __init__(self, sweep: OpenedSweep, records: SweepRecords) -> None:
        self._sweep, self._records = sweep, records
        self._restarts: dict[int, int] = {}
        self.to_skip: set[int] = set()

    def take_in(self, gone: Gone, *, is_stopping: bool) -> bool:
        """Put it on record. Whether it goes on at once: its runner was ended, and a stage of it still lives."""
        records, number = self._records, gone.live.number
        end = self._sweep.end_of(self._sweep.cell(number))
        records.look_again = True
        is_skipped = number in self.to_skip
        self.to_skip.discard(number)
        if is_skipped and end.outcome != "done":
            records.note_cell(Event.CELL_SKIPPED, number)
        elif end.outcome in ("done", "failed"):
            note_end(self._sweep, records, number, end)
        elif end.outcome == "refused":
            self._interrupted(number, end.reason)
            records.hold_back(end.reason)
        elif is_stopping:
            self._interrupted(number, "the sweep was asked to stop")
        else:
            return self._unfinished(gone)
        return False

    def _unfinished(self, gone: Gone) -> bool:
        """Its runner ended without an end of its chain: it was killed, or had no room for its records."""
        number = gone.live.number
        if gone.code == Exit.STATE_NOT_WRITTEN:
            words = cell_run.last_words(gone.live.paths)
            self._interrupted(number, words)
            self._records.hold_back(words or "the state of a cell could not be written")
            return False
        tries = self._restarts[number] = self._restarts.get(number, 0) + 1
        if tries <= RESTARTS:
            self._interrupted(number, "its runner was ended; it goes on")
            return cell_run.has_live_stage(gone.live.paths)
        reason = cell_run.last_words(gone.live.paths) or f"its runner was ended {counted(tries, 'time')}"
        end = cell_run.End("failed", "unknown", "", reason=reason)
        note_end(self._sweep, self._records, number, end)
        return False

    def _interrupted(self, number: int, reason: str) -> None:
        self._records.note_cell(Event.CELL_ENDED, number, outcome="interrupted", reason=reason)
