"""The command that a sweep was started with, as its frozen definition tells it."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from onbox.sweep.cells.drafts import BadCell, values_of
from onbox.sweep.state.board import read_cells
from onbox.sweep.state.frozen_sweep import read_definition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.paths import RunPaths
    from onbox.model.sweep import Cell, Frozen


def own_command(paths: RunPaths, *options: str) -> str:
    """To be typed again with these options; "" where there is no such sweep, or its cells are not those of a grid."""
    with suppress(OSError, ValueError):
        found = read_definition(paths)
        if found is None or len(found.frozen.template) != 1 or found.frozen.template[0].name != "run":
            return ""
        which = _which_cells(found.frozen, [cell for cell, _ in read_cells(paths)])
        command = found.frozen.template[0].cmd
        typed = (command,) if isinstance(command, str) else command
        words = ("onbox", "sweep", *options, *_sizes(found.frozen), *which, "--", *typed)
        return shlex.join(words) if which else ""
    return ""


def _sizes(frozen: Frozen) -> list[str]:
    jobs, gpus = frozen.settings.jobs, frozen.settings.gpus
    return [*(["-j", str(jobs)] if jobs != 1 else []), *(["--gpus", str(gpus)] if gpus else [])]


def _which_cells(frozen: Frozen, cells: Sequence[Cell]) -> list[str]:
    """As a queue file or as a grid; []: as neither."""
    if frozen.queue:
        return ["--cells", frozen.queue]
    axes: dict[str, dict[str, None]] = {}
    for cell in cells:
        for name, value in cell.values:
            axes.setdefault(name, {})[value] = None
    if prod(map(len, axes.values())) != len(cells):
        return []
    combined = {tuple(zip(axes, one, strict=True)) for one in product(*axes.values())}
    if combined != {tuple(cell.values) for cell in cells}:
        return []
    return [f"{name}={_text(tuple(values))}" for name, values in axes.items()]


def _text(values: tuple[str, ...]) -> str:
    plain = ",".join(values)
    with suppress(BadCell):
        if values_of(plain) == values:
            return plain
    return json.dumps(values, ensure_ascii=False)
