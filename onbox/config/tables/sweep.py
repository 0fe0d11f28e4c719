"""[sweep]: cells, how many at once, when to give up. Pure. What the cells mean is read in `onbox/sweep/cells/drafts.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Table, Unwanted
from onbox.config.keys import Key, Keys, ListKey, OwnKey
from onbox.model.sweep import SAME_FAILURES, SweepSettings
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

CELLS_WANTED = "the name of a file with one cell on each line, or a list such as [{ lr = 1e-3, seed = 0 }]"
SORT_WANTED = 'a metric\'s name, with "-" before it where the largest is the best: "-accuracy"'
AXIS_WANTED = 'a list such as [1e-3, 1e-4], or a text such as "0..4"'

Plain = Mapping[str, object]


class SweepConfig(NamedTuple):
    """stages: their names; (): all of the file. grid: parameter and what its values were written as. tables: cells one
    by one. queue: the file of cells, as written.
    """

    name: str = "sweep"
    stages: tuple[str, ...] = ()
    grid: tuple[tuple[str, object], ...] = ()
    tables: tuple[Plain, ...] = ()
    queue: str | None = None
    settings: SweepSettings = SweepSettings()


def _times(value: object) -> int:
    return 0 if value is False else values.count_from(1)(value)


def sort_key(value: object) -> str:
    """Raises Unwanted."""
    name = value.strip() if isinstance(value, str) else ""
    if not name.lstrip("-+"):
        raise Unwanted(SORT_WANTED)
    return name


def _cells(value: object) -> tuple[str | None, tuple[Plain, ...]]:
    if isinstance(value, str):
        return values.text(value), ()
    if not isinstance(value, list | tuple) or not value or not all(isinstance(one, Mapping) for one in value):
        raise Unwanted(CELLS_WANTED)
    return None, tuple(value)


def _axis(value: object) -> object:
    """A list of values, or a text such as "0..4" or "1e-3,1e-4"."""
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(one, str | int | float) for one in value):
        return tuple(value)
    raise Unwanted(AXIS_WANTED)


_NO_CELLS: tuple[str | None, tuple[Plain, ...]] = (None, ())


class SweepKeys(Keys):
    """[sweep]."""

    HEADER = "[sweep]"
    HELP = "`onbox sweep`: the stages for each cell, with {lr}, {seed} and {cell} in their commands and paths."
    name = Key(values.run_name, "sweep", "The sweep's name.", '"night"', usual='"sweep"')
    stages = ListKey(values.text, "Which stages each cell runs.", '["train"]', usual="all")
    cells = Key(
        _cells,
        _NO_CELLS,
        "The cells: a file with one of them on each line (`lr=1e-3 seed=0`; lines may be added while the sweep runs), or a "
        "list of tables.",
        '"queue.txt"',
    )
    grid = OwnKey(
        "Instead of or in addition to `cells`: every combination of these is a cell.",
        '{ lr = ["1e-3", "1e-4"], seed = "0..4" }',
    )
    jobs = Key(values.count_from(1), None, "How many cells run at once.", "2", usual="one; with gpus as many as fit")
    gpus = Key(values.count_from(0), 0, "How many free GPUs each cell gets for itself.", "1", usual="none of its own")
    max_failures = Key(values.count_from(0), None, "The sweep ends when more cells have failed.", "20", usual="never")
    same_failures = Key(
        _times, SAME_FAILURES, "It ends when this many in a row failed in the same way; false: never.", "10", usual="10"
    )
    metrics = OwnKey(
        'The numbers of a cell: its JSON file, such as "runs/{cell}/metrics.json", or a line of its log.',
        '{ regex = "accuracy (?P<accuracy>[0-9.]+)" }',
    )
    sort = Key(
        sort_key,
        "",
        'The metric that orders `onbox sweep table` and names the best: "-accuracy" has the largest first.',
        '"-accuracy"',
        usual="as the cells come",
    )
    gate_wait = Key(
        values.duration,
        SweepSettings().gate_wait_seconds,
        "How long a cell waits for disk space, memory or a GPU before the sweep ends.",
        '"7d"',
        usual='"7d"',
    )


class SweepMetricsKeys(Keys):
    """[sweep] metrics, as a table."""

    regex = Key(
        values.regex,
        None,
        "Matched against the last stage's log; each named group of the last matching line is a metric.",
        '"accuracy (?P<accuracy>[0-9.]+)"',
        wanted="a regular expression with a named group for each metric",
    )


def read_sweep(table: Table) -> SweepConfig:
    """Errors are reported into the table's."""
    queue, tables = table.get(SweepKeys.cells)
    return SweepConfig(
        name=table.get(SweepKeys.name),
        stages=table.get_list(SweepKeys.stages),
        grid=tuple(_grid(table)),
        tables=tables,
        queue=queue,
        settings=_settings(table),
    )


def _grid(table: Table) -> Sequence[tuple[str, object]]:
    grid = Table(table.path_of("grid"), table.values.get("grid", {}), None, table.errors)
    return [(name, grid.read(name, _axis, "")) for name in grid.values]


def _settings(table: Table) -> SweepSettings:
    gpus = table.get(SweepKeys.gpus)
    metrics_file, metrics_regex = _metrics(table)
    return SweepSettings(
        jobs=table.get(SweepKeys.jobs) or (None if gpus else 1),
        gpus=gpus,
        max_failures=table.get(SweepKeys.max_failures),
        same_failures=table.get(SweepKeys.same_failures),
        metrics_file=metrics_file,
        metrics_regex=metrics_regex,
        sort=table.get(SweepKeys.sort),
        gate_wait_seconds=table.get(SweepKeys.gate_wait),
    )


def _metrics(table: Table) -> tuple[str | None, str | None]:
    if isinstance(table.values.get("metrics"), Mapping):
        return None, table.inner("metrics", SweepMetricsKeys).get(SweepMetricsKeys.regex)
    return table.read("metrics", values.text, None), None
