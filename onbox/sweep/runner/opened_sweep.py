"""The sweep as its runner has it: the frozen definition, the cells, and what the journal says of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.chain.state.replay import History
from onbox.contract.events import Unreadable, parse_events
from onbox.named_tuple import NamedTuple
from onbox.sweep.runner import cell_run
from onbox.sweep.state.board import Board, read_board, read_cell
from onbox.sweep.state.frozen_sweep import read_definition
from onbox.system.journal import read_lines

if TYPE_CHECKING:
    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths
    from onbox.contract.runfile import RunHead
    from onbox.model.sweep import Cell, Frozen, SweepSettings


class OpenedSweep(NamedTuple):
    """history: of the earlier launches, and of this one's start. board: of every record up to now."""

    paths: RunPaths
    head: RunHead
    frozen: Frozen
    board: Board
    history: History

    @property
    def settings(self) -> SweepSettings:
        return self.frozen.settings

    def apply(self, record: Record) -> None:
        self.history.apply(record)
        self.board.apply(record)

    def cell(self, number: int) -> Cell:
        return read_cell(self.paths, self.board.offsets[number - 1])

    def paths_of(self, number: int) -> RunPaths:
        return cell_run.cell_paths(self.paths, self.board.name(number))

    def end_of(self, cell: Cell) -> cell_run.End:
        """How the cell ended, by its own markers."""
        paths, run_id = cell_run.cell_paths(self.paths, cell.name), cell_run.run_id_of(self.head, cell.number)
        fingerprint = cell_run.fingerprint_of(cell_run.stages_of(self.frozen.template, self.head.run, cell))
        return cell_run.end_of(paths, run_id, fingerprint)


def open_sweep(paths: RunPaths) -> OpenedSweep:
    """Read the frozen definition, the cells and the journal. Raises StateNotWritten, OSError, ValueError."""
    found = read_definition(paths)
    if found is None:
        raise ValueError(f"there is no sweep at {paths.root}")
    board = read_board(paths)
    board.sort = found.frozen.settings.sort
    sweep = OpenedSweep(paths, found.head, found.frozen, board, History())
    for record in parse_events(read_lines(paths.journal)):
        if isinstance(record, Unreadable):
            sweep.history.unreadable.append(record)
        else:
            sweep.apply(record)
    return sweep
