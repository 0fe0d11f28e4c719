"""From cells and commands to a live runner of the sweep: what may be started, and what stands in its way.

The caller holds the sweep's lock. Steps: 1. refuse what would be a wrong skip or one file for two cells; 2. write down
the cells that are new; 3. freeze the definition; 4. start the detached runner, which inherits the lock.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.chain.lock.claims import one_start_at_a_time, refuse_claimed
from onbox.chain.lock.run_lock import StillAlive
from onbox.chain.state.slots import read_marker
from onbox.contract.differences import Side, find_differences
from onbox.contract.events import Event, Unreadable, parse_events, render_event
from onbox.contract.markers import Marker
from onbox.contract.paths import CHAIN
from onbox.named_tuple import NamedTuple
from onbox.runs.journal import JournalFacts
from onbox.sweep.cells.drafts import numbered
from onbox.sweep.cells.outputs import Outputs
from onbox.sweep.cells.template import stage_of_cell
from onbox.sweep.runner import cell_run
from onbox.sweep.runner.intake import add_cells
from onbox.sweep.runner.restart import SWEEP_VARIABLE, start_runner
from onbox.sweep.state import orders
from onbox.sweep.state.board import Board, SweepStanding, cells_folder, read_board, read_cells
from onbox.sweep.state.frozen_sweep import read_definition, write_definition
from onbox.system.clock import utc_text, wall
from onbox.system.files import remove_file
from onbox.system.journal import Journal, read_lines
from onbox.system.process import find_tree, high, high_pipe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onbox.contract.differences import Difference
    from onbox.contract.events import Record
    from onbox.contract.paths import RunPaths
    from onbox.model.manifest import Stage
    from onbox.model.sweep import Cell, Frozen
    from onbox.sweep.cells.drafts import Draft
    from onbox.sweep.state.frozen_sweep import SweepDefinition

SHARED_SHOWN = 5


class WantedSweep(NamedTuple):
    """What a person asked for. head: of run.json, without the fields that only the launch knows. drafts: the cells,
    those that are known already among them.
    """

    paths: RunPaths
    head: Mapping[str, Any]
    frozen: Frozen
    drafts: Sequence[Draft]


class SweepLaunched(NamedTuple):
    """A runner was started: its pid, and a pipe that tells when it journaled something and when it ended."""

    pid: int
    bell_fd: int


class NothingToDo(NamedTuple):
    """No cell is open and the end is on record. data: of the marker."""

    board: Board
    data: Mapping[str, Any]


class OtherCommands(Exception):
    """Cells have begun with other commands."""

    def __init__(self, begun: int, differences: Sequence[Difference]) -> None:
        self.begun, self.differences = begun, differences
        super().__init__(f"{begun} cells")


class SharedPaths(Exception):
    """Cells would write one path."""

    def __init__(self, found: Sequence[str]) -> None:
        self.found = found
        super().__init__("; ".join(found))


class KnownSweep(NamedTuple):
    """The board with the journal folded in, and the facts of the journal."""

    board: Board
    facts: JournalFacts


def read_known(paths: RunPaths, sort: str = "") -> KnownSweep:
    """Raises OSError, ValueError."""
    board, facts = read_board(paths), JournalFacts()
    board.sort = sort
    for record in parse_events(read_lines(paths.journal)):
        if not isinstance(record, Unreadable):
            facts.apply(record)
            board.apply(record)
    return KnownSweep(board, facts)


class PreparedSweep(NamedTuple):
    """Everything is frozen; only the runner is missing. added: how many cells are new."""

    board: Board
    added: int


def prepare(wanted: WantedSweep, *, again: bool = False) -> PreparedSweep | NothingToDo:
    """Write down what is asked for. again: every cell anew. Raises OtherCommands, SharedPaths, Claimed,
    StillAlive, StateNotWritten, OSError, ValueError.
    """
    paths = wanted.paths
    before = read_definition(paths)
    if before is None:
        _refuse_removed(paths)
    known = read_known(paths, wanted.frozen.settings.sort)
    if again:
        known = _forget(paths, known)
    elif before is not None:
        _refuse_other_commands(wanted, before, known.board)
    new = list(numbered(wanted.drafts, known.board.number_of, len(known.board) + 1))
    cells = [*(cell for cell, _ in read_cells(paths)), *new]
    _refuse_shared_paths(wanted, cells)
    with one_start_at_a_time(paths):
        _refuse_claimed(wanted, known.board, cells)
        if not new and not again and before is not None and (end := _end_on_record(paths, before, known)) is not None:
            return NothingToDo(known.board, end)
        added = add_cells(paths, new, known.board)
        write_definition(paths, {**wanted.head, "stage_count": 1}, wanted.frozen)
        return PreparedSweep(known.board, added)


def find_end(paths: RunPaths, definition: SweepDefinition) -> NothingToDo | None:
    """How a sweep ended that has no cell to run; None: there is something to do. Raises OSError, ValueError."""
    known = read_known(paths, definition.frozen.settings.sort)
    end = _end_on_record(paths, definition, known)
    return None if end is None else NothingToDo(known.board, end)


def start(paths: RunPaths, lock_fd: int) -> SweepLaunched:
    """Start a runner for what is frozen there. Raises OSError."""
    listening, bell = high_pipe()
    handed = high(lock_fd)
    try:
        pid = start_runner(paths.root, handed, bell)
    finally:
        os.close(handed)
        os.close(bell)
    return SweepLaunched(pid, listening)


# -- what is in the way


def _refuse_removed(paths: RunPaths) -> None:
    """Raises StillAlive where cells of a sweep in this very place run: its state was removed under them."""
    mark = f"{SWEEP_VARIABLE}={paths.root}"
    survivors = [entry.identity.pid for entry in find_tree(None, os.fsencode(mark))]
    if survivors:
        raise StillAlive(survivors)


def _refuse_other_commands(wanted: WantedSweep, before: SweepDefinition, board: Board) -> None:
    if before.head.chain_fingerprint == wanted.head["chain_fingerprint"]:
        return
    begun = _begun(wanted.paths, board)
    if begun:
        then, now = Side({}, before.frozen.template), Side({}, wanted.frozen.template)
        raise OtherCommands(begun, find_differences(then, now))


def _begun(paths: RunPaths, board: Board) -> int:
    """How many cells have a result or something that a next attempt would go on from."""
    try:
        names = os.listdir(cells_folder(paths))
    except FileNotFoundError:
        return 0
    return sum(1 for name in names if name in board.number_of)


def _refuse_shared_paths(wanted: WantedSweep, cells: Iterable[Cell]) -> None:
    outputs = Outputs(wanted.frozen, str(wanted.head["run"]), str(wanted.head["project"]))
    found = []
    for cell in cells:
        shared = outputs.take(cell)
        if shared is not None:
            found.append(str(shared))
            if len(found) >= SHARED_SHOWN:
                break
    if found:
        raise SharedPaths(found)


def _refuse_claimed(wanted: WantedSweep, board: Board, cells: Iterable[Cell]) -> None:
    """Raises Claimed where a live run beside this one writes what an open cell is to write."""
    if any(stage.artifacts for stage in wanted.frozen.template):
        refuse_claimed(wanted.paths, str(wanted.head["project"]), _stages_to_run(wanted, board, cells))


def _stages_to_run(wanted: WantedSweep, board: Board, cells: Iterable[Cell]) -> Iterator[Stage]:
    for cell in cells:
        if cell.number > len(board) or board.standing(cell.number) in (SweepStanding.OPEN, SweepStanding.RUNNING):
            for stage in wanted.frozen.template:
                yield stage_of_cell(stage, str(wanted.head["run"]), cell)


def _end_on_record(paths: RunPaths, definition: SweepDefinition, known: KnownSweep) -> Mapping[str, Any] | None:
    """The marker's data, where the sweep has ended by its own word and no cell is open. The markers of its cells are
    looked at: one that is gone is a cell to run.
    """
    board = known.board
    if (
        known.facts.is_open
        or board.counts[SweepStanding.OPEN]
        or board.counts[SweepStanding.RUNNING]
        or definition.frozen.queue
        or any(orders.waiting(paths))
    ):
        return None
    if not all(
        os.path.exists(cell_run.cell_paths(paths, board.name(one)).done(CHAIN)) for one in board.all(SweepStanding.DONE)
    ):
        return None
    marker = read_marker(paths.failed(CHAIN) if board.failures else paths.done(CHAIN))
    same = isinstance(marker, Marker) and marker.fingerprint == definition.head.chain_fingerprint
    return marker.data if same and isinstance(marker, Marker) else None


def _forget(paths: RunPaths, known: KnownSweep) -> KnownSweep:
    """Every cell anew: what earlier ones left is moved aside, and nothing is deleted."""
    folder = cells_folder(paths)
    if os.path.isdir(folder):
        place = next(number for number in range(1, 1 << 30) if not os.path.lexists(f"{folder}.{number}"))
        os.rename(folder, f"{folder}.{place}")
    board = known.board
    reopened = [number for number in range(1, len(board) + 1) if board.standing(number) is not SweepStanding.OPEN]
    reopen(paths, board, reopened, "run everything again")
    return read_known(paths, board.sort)


def reopen(paths: RunPaths, board: Board, numbers: Sequence[int], reason: str) -> None:
    """These cells are to be run again; no runner lives, and the caller holds the lock. Raises StateNotWritten."""
    for number in numbers:  # first: a FAILED marker of an open cell would be taken for an end that was not recorded
        remove_file(cell_run.cell_paths(paths, board.name(number)).failed(CHAIN))
    event = Event.CELL_REOPENED
    journal_now(paths, [{"event": event, "n": one, "cell": board.name(one), "reason": reason} for one in numbers])


def skip(paths: RunPaths, board: Board, numbers: Sequence[int]) -> None:
    """These cells are not to be run, by a person's word; as above. Each record tells how many failed ones are left, for
    those who read the journal without the cells.
    """
    left = len(board.failures.keys() - set(numbers))
    about = {"event": Event.CELL_SKIPPED, "failed_left": left}
    journal_now(paths, [{**about, "n": one, "cell": board.name(one)} for one in numbers])


def journal_now(paths: RunPaths, records: Sequence[Record]) -> None:
    """Write records where no runner lives; the caller holds the lock. Raises StateNotWritten."""
    if not records:
        return
    at = utc_text(wall())
    journal = Journal(paths.journal)
    try:
        journal.append(b"".join(render_event({"at": at, **record}) for record in records))
    finally:
        journal.close()
