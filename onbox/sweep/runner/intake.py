"""New cells from the queue file while the sweep runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onbox.model.sweep import cell_to_dict
from onbox.sweep.cells.drafts import numbered
from onbox.sweep.cells.outputs import Outputs
from onbox.sweep.cells.queue_file import PROBLEMS_KEPT, Queue, read_queue, stamp_of
from onbox.sweep.cells.template import wanted_by
from onbox.sweep.state.board import cells_file, read_cells
from onbox.system.files import StateNotWritten
from onbox.system.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import RunHead
    from onbox.model.sweep import Cell, Frozen
    from onbox.sweep.state.board import Board


def add_cells(paths: RunPaths, cells: Iterable[Cell], board: Board) -> int:
    """Write cells down, durably, and put them on the board; how many. Raises StateNotWritten."""
    found = list(cells)
    if not found:
        return 0
    lines = [json.dumps(cell_to_dict(cell)).encode("ascii") + b"\n" for cell in found]
    journal = Journal(cells_file(paths))
    try:
        offset = journal.size
        journal.append(b"".join(lines))
    finally:
        journal.close()
    for cell, line in zip(found, lines, strict=True):
        board.add(cell, offset)
        offset += len(line)
    return len(found)


class Intake:
    """problems: what keeps the list of cells from being known whole, as sentences; as the file is now. is_growing: its
    last line may not be whole yet.
    """

    def __init__(self, paths: RunPaths, head: RunHead, frozen: Frozen, board: Board) -> None:
        self._paths, self._head, self._frozen, self._board = paths, head, frozen, board
        self._wanted = wanted_by(frozen.template)
        self._stamp: tuple[int, int, int] | None = None
        self._outputs: Outputs | None = None
        self.problems: list[str] = []
        self.is_growing = False

    def look(self) -> int:
        """Take in what is new in the queue file; how many cells."""
        path = self._frozen.queue
        if path is None:
            return 0
        try:
            if not self.is_growing and stamp_of(path) == self._stamp:
                return 0
            queue = read_queue(path, self._wanted)
            added = self._take(queue)
        except OSError as error:
            self.problems, self._stamp = [f"{path} cannot be read ({error.strerror})"], None
            return 0
        except StateNotWritten as error:
            self.problems, self._stamp = [str(error)], None
            self._outputs = None  # it knows cells that were not written down: the next look would refuse them
            return 0
        self._stamp, self.is_growing = queue.stamp, queue.is_growing
        return added

    def _take(self, queue: Queue) -> int:
        self.problems = list(queue.problems[:PROBLEMS_KEPT])
        new = list(numbered(queue.drafts, self._board.number_of, len(self._board) + 1))
        return add_cells(self._paths, self._apart(new), self._board) if new else 0

    def _apart(self, cells: Iterable[Cell]) -> Iterator[Cell]:
        """Those that write no path that another cell writes, with numbers without a gap."""
        number = len(self._board) + 1
        outputs = self._known_outputs()
        for cell in cells:
            shared = outputs.take(cell)
            if shared is not None:
                self.problems.append(f"{cell.origin}: {shared}")
                continue
            yield cell._replace(number=number)
            number += 1

    def _known_outputs(self) -> Outputs:
        if self._outputs is None:
            self._outputs = Outputs(self._frozen, self._head.run, self._head.project)
            for cell, _ in read_cells(self._paths):
                self._outputs.take(cell)
        return self._outputs
