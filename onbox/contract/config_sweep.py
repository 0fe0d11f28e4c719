"""[sweep]: cells, how many at once, when to give up. Pure. What the cells mean is read in `onbox/sweep/cells.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from onbox.contract import config_values as values
from onbox.contract.config_fields import Table, Unwanted
from onbox.contract.sweep import SAME_FAILURES, SweepSettings

SWEEP_KEYS = (
    "name",
    "stages",
    "grid",
    "cells",
    "jobs",
    "gpus",
    "max_failures",
    "same_failures",
    "metrics",
    "sort",
    "gate_wait",
)
METRICS_KEYS = ("regex",)
CELLS_WANTED = "the name of a file with one cell on each line, or a list such as [{ lr = 1e-3, seed = 0 }]"
SORT_WANTED = 'a metric\'s name, with "-" before it where the largest is the best: "-accuracy"'

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


def read_sweep(table: Table) -> SweepConfig:
    """Errors are reported into the table's."""
    grid = Table(table.path_of("grid"), table.values.get("grid", {}), None, table.errors)
    queue, tables = table.read("cells", _cells, (None, ()))
    if grid.values and "cells" in table:
        table.fail("grid", "a grid", "allowed beside cells: give one of them")
    return SweepConfig(
        name=table.read("name", values.run_name, "sweep"),
        stages=table.read_list("stages", values.text, 'a list of stages such as ["train", "eval"]'),
        grid=tuple((name, grid.read(name, _axis, "")) for name in grid.values),
        tables=tables,
        queue=queue,
        settings=_settings(table),
    )


def _settings(table: Table) -> SweepSettings:
    gpus = table.read("gpus", values.count_from(0), 0)
    metrics_file, metrics_regex = _metrics(table)
    return SweepSettings(
        jobs=table.read("jobs", values.count_from(1), None if gpus else 1),
        gpus=gpus,
        max_failures=table.read("max_failures", values.count_from(0), None),
        same_failures=table.read("same_failures", _times, SAME_FAILURES),
        metrics_file=metrics_file,
        metrics_regex=metrics_regex,
        sort=table.read("sort", sort_key, ""),
        gate_wait_seconds=table.read("gate_wait", values.duration, SweepSettings().gate_wait_seconds),
    )


def _metrics(table: Table) -> tuple[str | None, str | None]:
    value = table.values.get("metrics")
    if isinstance(value, Mapping):
        inner = Table(table.path_of("metrics"), value, METRICS_KEYS, table.errors)
        return None, inner.require(
            "regex", values.regex, None, "a regular expression with a named group for each metric"
        )
    return table.read("metrics", values.text, None), None


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
    raise Unwanted('a list such as [1e-3, 1e-4], or a text such as "0..4"')
