"""The numbers that a cell leaves: a JSON file, or what a regular expression finds in its last stage's log."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import as_number, parse_object
from onbox.model.manifest import folder_of
from onbox.sweep.cells.outputs import values_for
from onbox.sweep.cells.template import fill, stage_of_cell
from onbox.system.files import read_file, read_tail
from onbox.system.time_limit import TooLong, time_limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onbox.contract.paths import RunPaths
    from onbox.model.sweep import Cell, Frozen

FILE_LIMIT_BYTES = 1 << 18
LOG_LIMIT_BYTES = 1 << 18
KEPT = 30
LINE_LIMIT = 10_000
REGEX_SECONDS = 1.0  # a user's pattern that takes longer for one log would hold all cells back
NAME_LIMIT = 60


def read_metrics(frozen: Frozen, sweep: str, cell: Cell, project: str, paths: RunPaths) -> dict[str, float]:
    """The cell's metrics; {} where it left none that can be read: that fails no cell. paths: of the cell."""
    settings = frozen.settings
    try:
        if settings.metrics_file is not None:
            folder = folder_of(project, stage_of_cell(frozen.template[-1], sweep, cell))
            path = os.path.join(folder, fill(settings.metrics_file, values_for(sweep, cell)))
            return from_json(read_file(path, FILE_LIMIT_BYTES))
        if settings.metrics_regex is not None:
            return from_log(
                settings.metrics_regex, read_tail(paths.newest_log(frozen.template[-1].name), LOG_LIMIT_BYTES)
            )
    except OSError:
        return {}
    return {}


def from_json(text: bytes | None) -> dict[str, float]:
    """Every number in the object; those of an object inside it as `outer.inner`."""
    return dict(_first(_numbers(parse_object(text) or {})))


def _numbers(data: Mapping[str, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    for key, value in data.items():
        name = f"{before}{key}"[:NAME_LIMIT]
        if isinstance(value, dict) and depth < 2:
            yield from _numbers(value, f"{name}.", depth + 1)
        elif (number := as_number(value)) is not None:
            yield name, number


def _first(pairs: Iterator[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    for count, pair in enumerate(pairs):
        if count >= KEPT:
            return
        yield pair


def from_log(regex: str, text: bytes | None) -> dict[str, float]:
    """The named groups of the last line that matches; a group without a name is `value`."""
    try:
        with time_limit(REGEX_SECONDS):
            return _last_match(regex, (text or b"").decode("utf-8", "replace").splitlines())
    except TooLong:
        return {}


def _last_match(regex: str, lines: list[str]) -> dict[str, float]:
    for line in reversed(lines):
        found = re.search(regex, line[:LINE_LIMIT])
        if found is not None:
            groups = found.groupdict() or ({"value": found[1]} if found.groups() else {})
            numbers = ((name, _number(text)) for name, text in groups.items())
            return {name: number for name, number in numbers if number is not None}
    return {}


def _number(text: str | None) -> float | None:
    try:
        return as_number(float(text or ""))
    except ValueError:
        return None
