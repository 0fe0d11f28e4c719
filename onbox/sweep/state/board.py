"""What is known of every cell of a sweep: the list of cells, and the fold of the sweep's journal over it.

Small on purpose: of ten thousand queued cells the runner keeps a name and a few numbers each; a cell's values are read
again when its turn comes.
"""

from __future__ import annotations

import heapq
import os
import sys
from array import array
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event
from onbox.contract.json_text import as_number, as_whole, parse_object
from onbox.contract.paths import CELLS_FOLDER
from onbox.model.sweep import Cell, cell_from_dict
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.files import LINE_LIMIT_BYTES, lines_of, open_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths

CELLS_FILE = "cells.jsonl"
UNKNOWN = "unknown"
TOP = 10
PROOF_LIMIT = 200
WARNINGS_KEPT, WARNINGS_SHOWN, CELLS_NAMED = 3, 5, 3


class SweepStanding(IntEnum):
    """How a cell stands. RUNNING is what the journal says; whether it lives is the kernel's word."""

    OPEN = 0
    RUNNING = 1
    DONE = 2
    FAILED = 3
    SKIPPED = 4


class CellFailure(NamedTuple):
    """How a cell failed. signature: what stays the same when the same failure happens again; "": not known. proof: the
    line that shows it.
    """

    failure_class: str
    signature: str
    proof: str = ""


class Streak(NamedTuple):
    """How many failures of one signature came one after the other, with no success between them."""

    signature: str = ""
    times: int = 0

    def after(self, failure: CellFailure | None) -> Streak:
        """failure None: a cell is done."""
        if failure is None:
            return Streak()
        same = failure.signature and failure.signature == self.signature
        return Streak(failure.signature, self.times + 1 if same else 1)


def cells_file(paths: RunPaths) -> str:
    return f"{paths.root}/{CELLS_FILE}"


def cells_folder(paths: RunPaths) -> str:
    return f"{paths.root}/{CELLS_FOLDER}"


class Board:
    """The cells of one sweep, numbered from 1. streak: of this launch. cards: those that running cells were given.
    sort: the metric that orders the table, as in the settings. warned: what spoke against cells that are done.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.number_of: dict[str, int] = {}
        self.standings = bytearray()
        self.priorities = array("q")
        self.offsets = array("q")
        self.failures: dict[int, CellFailure] = {}
        self.warned: dict[int, tuple[str, ...]] = {}
        self.counts = [0] * len(SweepStanding)
        self.streak = Streak()
        self.cards: dict[int, tuple[int, ...]] = {}
        self.sort = ""
        self._values: dict[int, float] = {}  # of the cells that are done: the metric that orders the table
        self._top: list[tuple[float, int]] | None = []  # None: to be looked up in the values again
        self.seconds_total = 0.0
        self.ended_count = 0
        self._open: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self.names)

    def add(self, cell: Cell, offset: int) -> None:
        """One more cell; its line in the file of cells begins at `offset`."""
        self.names.append(cell.name)
        self.number_of[cell.name] = cell.number
        self.standings.append(SweepStanding.OPEN)
        self.priorities.append(cell.priority)
        self.offsets.append(offset)
        self.counts[SweepStanding.OPEN] += 1
        heapq.heappush(self._open, (-cell.priority, cell.number))

    def standing(self, number: int) -> SweepStanding:
        return SweepStanding(self.standings[number - 1])

    def name(self, number: int) -> str:
        return self.names[number - 1]

    def set(self, number: int, standing: SweepStanding) -> None:
        before = self.standing(number)
        self.standings[number - 1] = standing
        self.counts[before] -= 1
        self.counts[standing] += 1
        if standing is not SweepStanding.FAILED:
            self.failures.pop(number, None)
        if standing is not SweepStanding.DONE:
            self.warned.pop(number, None)
        if standing is not SweepStanding.DONE and self._values.pop(number, None) is not None:
            self._top = None
        if standing is not SweepStanding.RUNNING:
            self.cards.pop(number, None)
        if standing is SweepStanding.OPEN and before is not SweepStanding.OPEN:
            heapq.heappush(self._open, (-self.priorities[number - 1], number))

    def next_open(self) -> int | None:
        """The open cell of the highest priority, of several the first one; None: none is open."""
        while self._open:
            number = self._open[0][1]
            if self.standing(number) is SweepStanding.OPEN:
                return number
            heapq.heappop(self._open)
        return None

    def all(self, standing: SweepStanding) -> Iterator[int]:
        return (number for number in range(1, len(self) + 1) if self.standings[number - 1] == standing)

    def weigh(self, number: int, metrics: dict[str, float]) -> None:
        """Take the metrics of a cell that is done into account."""
        value = metrics.get(self.sort.lstrip("-+"))
        if value is None:
            return
        self._values[number] = value
        if self._top is not None:
            others = [one for one in self._top if one[1] != number]
            self._top = sorted([*others, (self._sign * value, number)])[:TOP]

    @property
    def _sign(self) -> float:
        return -1.0 if self.sort.startswith("-") else 1.0

    @property
    def top(self) -> list[tuple[float, int]]:
        """The best cells by the metric that orders the table, the best one first: (value, number)."""
        if self._top is None:
            self._top = heapq.nsmallest(TOP, ((self._sign * value, number) for number, value in self._values.items()))
        return [(self._sign * value, number) for value, number in self._top]

    @property
    def best(self) -> tuple[float, int] | None:
        return next(iter(self.top), None)

    def fail(self, number: int, failure: CellFailure) -> None:
        self.set(number, SweepStanding.FAILED)
        self.failures[number] = failure

    # -- the journal

    def apply(self, record: Record) -> None:
        """Take in one record of the sweep's journal; those of other events and of cells that are not known are passed
        over.
        """
        step = _STEPS.get(record["event"])
        if step is None:
            return
        number = as_whole(record.get("n"))
        if number is None or not 1 <= number <= len(self):
            number = None
        step(self, number, record)


def _launched(board: Board, _: int | None, __: Record) -> None:
    board.streak = Streak()


def _started(board: Board, number: int | None, record: Record) -> None:
    if number is None:
        return
    board.set(number, SweepStanding.RUNNING)
    gpus = record.get("gpus")
    if isinstance(gpus, list) and gpus:
        board.cards[number] = tuple(one for one in gpus if isinstance(one, int))


def _ended(board: Board, number: int | None, record: Record) -> None:
    if number is None:
        return
    outcome = record.get("outcome")
    if outcome == "done":
        board.set(number, SweepStanding.DONE)
        board.streak = board.streak.after(None)
        board.seconds_total += as_number(record.get("seconds")) or 0.0
        board.ended_count += 1
        board.weigh(number, known_metrics(record.get("metrics")))
        if warnings := _known_warnings(record.get("warnings")):
            board.warned[number] = warnings
    elif outcome == "failed":
        words = [str(record.get(key) or "") for key in ("failure_class", "signature", "proof")]
        failure = CellFailure(words[0][:80] or UNKNOWN, sys.intern(words[1][:300]), words[2][:PROOF_LIMIT])
        board.fail(number, failure)
        board.streak = board.streak.after(failure)
    else:
        board.set(number, SweepStanding.OPEN)


def _known_warnings(data: Any) -> tuple[str, ...]:
    """The same texts come of many cells: each is kept once."""
    told = [one for one in data if isinstance(one, str)] if isinstance(data, list) else []
    return tuple(sys.intern(safe_line(one, PROOF_LIMIT)) for one in told[:WARNINGS_KEPT])


def _skipped(board: Board, number: int | None, _: Record) -> None:
    if number is not None:
        board.set(number, SweepStanding.SKIPPED)


def _reopened(board: Board, number: int | None, _: Record) -> None:
    if number is not None:
        board.set(number, SweepStanding.OPEN)


_STEPS: dict[str, Callable[[Board, int | None, Record], None]] = {
    Event.CHAIN_STARTED: _launched,
    Event.CELL_STARTED: _started,
    Event.CELL_ADOPTED: _started,
    Event.CELL_ENDED: _ended,
    Event.CELL_SKIPPED: _skipped,
    Event.CELL_REOPENED: _reopened,
}


# -- the file of cells


def read_cells(paths: RunPaths) -> Iterator[tuple[Cell, int]]:
    """The cells, each with the place of its line. A torn last line never happened. Raises OSError, ValueError."""
    try:
        file = open_plain(cells_file(paths))
    except FileNotFoundError:
        return
    with file:
        offset = 0
        for line in lines_of(file):
            if line.endswith(b"\n"):
                yield _cell_of(line, offset), offset
            offset += len(line)


def _cell_of(line: bytes, offset: int) -> Cell:
    data = parse_object(line)
    if data is None:
        raise ValueError(f"{CELLS_FILE}: its line at byte {offset} is damaged")
    try:
        return cell_from_dict(data)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{CELLS_FILE}: its line at byte {offset} is damaged ({error})") from error


def read_cell(paths: RunPaths, offset: int) -> Cell:
    """The cell whose line begins there. Raises OSError, ValueError."""
    with open_plain(cells_file(paths)) as file:
        file.seek(offset, os.SEEK_SET)
        return _cell_of(file.readline(LINE_LIMIT_BYTES), offset)


def read_board(paths: RunPaths) -> Board:
    """The cells, all open: the journal is not folded in yet. Raises OSError, ValueError."""
    board = Board()
    for cell, offset in read_cells(paths):
        board.add(cell, offset)
    return board


# -- told


def counts_of(board: Board) -> dict[str, int]:
    """How many cells stand how, and how many there are."""
    return {standing.name.lower(): board.counts[standing] for standing in SweepStanding} | {"total": len(board)}


def classes_of(board: Board) -> dict[str, int]:
    """How many cells failed with each class, the most frequent first."""
    found: dict[str, int] = {}
    for failure in board.failures.values():
        found[failure.failure_class] = found.get(failure.failure_class, 0) + 1
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def warnings_of(board: Board) -> list[str]:
    """What speaks against cells that are done, each text once: `2 cells: the last loss in its log is nan (a, b)`."""
    cells: dict[str, list[int]] = {}
    for number in sorted(board.warned):
        for text in board.warned[number]:
            cells.setdefault(text, []).append(number)
    return [_warning_words(board, text, numbers) for text, numbers in list(cells.items())[:WARNINGS_SHOWN]]


def _warning_words(board: Board, text: str, numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"cell {board.name(numbers[0])}: {text}"
    names = [board.name(one) for one in numbers[:CELLS_NAMED]]
    return f"{len(numbers)} cells: {text} ({'; '.join([*names, *(['…'] if len(numbers) > CELLS_NAMED else [])])})"


def summary(board: Board) -> str:
    """`17 of 20 done, 3 failed: cuda_oom 2, code_error 1`."""
    done, failed, skipped = (
        board.counts[one] for one in (SweepStanding.DONE, SweepStanding.FAILED, SweepStanding.SKIPPED)
    )
    left = board.counts[SweepStanding.OPEN] + board.counts[SweepStanding.RUNNING]
    words = [f"{done} of {len(board)} done"]
    words += [f"{skipped} skipped"] if skipped else []
    words += [f"{left} not run"] if left else []
    classes = ", ".join(f"{name} {count}" for name, count in classes_of(board).items())
    words += [f"{failed} failed: {classes}"] if failed else []
    return ", ".join(words)


def known_metrics(data: Any) -> dict[str, float]:
    """The numbers of a record's `metrics`."""
    if not isinstance(data, dict):
        return {}
    return {str(key): number for key, value in data.items() if (number := as_number(value)) is not None}
