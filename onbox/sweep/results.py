"""The results of a sweep: one row for each cell, its parameters and the metrics that it left."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from onbox.contract.events import Event, Unreadable, parse_events
from onbox.contract.json_text import as_number, as_whole
from onbox.named_tuple import NamedTuple
from onbox.sweep.launch import read_known
from onbox.sweep.state.board import SweepStanding, known_metrics, read_cells
from onbox.system.journal import read_lines

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths

METRICS_LIMIT = 30
_NO_END: tuple[None, dict[str, float]] = (None, {})


class CellResult(NamedTuple):
    """Of one cell. seconds, metrics and warnings: of its last end; none where it is to be run, or runs, once more."""

    cell: str
    values: dict[str, str]
    state: str
    failure_class: str
    seconds: float | None
    metrics: dict[str, float]
    warnings: tuple[str, ...] = ()


class ResultsTable(NamedTuple):
    """columns: state, the parameters, the metrics, seconds, cell. rows: in the order that was asked for."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    results: list[CellResult]

    def has(self, sort: str) -> bool:
        """Whether a cell has a value to be sorted by."""
        return any(_value(one, sort.lstrip("-+")) is not None for one in self.results)

    def as_data(self) -> list[dict[str, Any]]:
        return [one._asdict() for one in self.results]


def read_table(paths: RunPaths, sort: str = "") -> ResultsTable:
    """sort: a metric's or parameter's name, "-" before it for the largest first; "": in the order of the cells. Raises
    OSError, ValueError.
    """
    return table_of(_results(paths), sort)


def _results(paths: RunPaths) -> list[CellResult]:
    board = read_known(paths).board
    ends: dict[int, tuple[float | None, dict[str, float]]] = {}
    for record in parse_events(read_lines(paths.journal)):
        if isinstance(record, Unreadable) or record["event"] != Event.CELL_ENDED:
            continue
        number = as_whole(record.get("n"))
        if number is not None:
            ends[number] = (as_number(record.get("seconds")), known_metrics(record.get("metrics")))
    found = []
    for cell, _ in read_cells(paths):
        standing = board.standing(cell.number)
        failure = board.failures.get(cell.number)
        has_ended = standing not in (SweepStanding.OPEN, SweepStanding.RUNNING)
        seconds, metrics = ends.get(cell.number, _NO_END) if has_ended else _NO_END
        failure_class = failure.failure_class if failure else ""
        warnings = board.warned.get(cell.number, ())
        state = standing.name.lower()
        found.append(CellResult(cell.name, dict(cell.values), state, failure_class, seconds, metrics, warnings))
    return found


def table_of(results: list[CellResult], sort: str) -> ResultsTable:
    """Pure."""
    parameters = list(dict.fromkeys(name for one in results for name in one.values))
    metrics = list(dict.fromkeys(name for one in results for name in one.metrics))[:METRICS_LIMIT]
    ordered = _sorted(results, sort)
    rows = [
        (
            _state_of(one),
            *(one.values.get(name, "") for name in parameters),
            *(one.metrics.get(name) for name in metrics),
            one.seconds,
            one.cell,
        )
        for one in ordered
    ]
    return ResultsTable(("state", *parameters, *metrics, "seconds", "cell"), rows, ordered)


def _state_of(one: CellResult) -> str:
    if one.failure_class:
        return f"failed: {one.failure_class}"
    return f"{one.state}: {one.warnings[0]}" if one.warnings else one.state


def _sorted(results: list[CellResult], sort: str) -> list[CellResult]:
    """Cells without the value come last, in their own order."""
    name, sign = sort.lstrip("-+"), -1 if sort.startswith("-") else 1
    if not name:
        return results

    def key(one: CellResult) -> float:
        value = _value(one, name)
        return math.inf if value is None else sign * value

    return sorted(results, key=key)


def _value(one: CellResult, name: str) -> float | None:
    value = one.metrics.get(name)
    if value is None:
        value = one.seconds if name == "seconds" else _number(one.values.get(name))
    return value


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else as_number(float(text))
    except ValueError:
        return None
