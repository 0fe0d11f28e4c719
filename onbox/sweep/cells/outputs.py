"""What the cells write: two of them with one path would each earn its DONE by the other's file. Pure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.model.manifest import folder_of
from onbox.named_tuple import NamedTuple
from onbox.sweep.cells.template import fill, stage_of_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onbox.model.manifest import Stage
    from onbox.model.sweep import Cell, Frozen


class CellOutput(NamedTuple):
    """An artifact of a cell: a path or pattern below the project, and the stage that writes it."""

    path: str
    stage: str


class SharedOutput(NamedTuple):
    """Two cells that write one path."""

    output: CellOutput
    first: str
    second: str

    def __str__(self) -> str:
        return (
            f"cells {self.first} and {self.second} both write {self.output.path} (stage {self.output.stage}); "
            "put {cell} or a parameter into the path"
        )


class Outputs:
    """Who writes what. Cells are taken in one by one."""

    def __init__(self, frozen: Frozen, sweep: str, project: str) -> None:
        self._frozen, self._sweep, self._project = frozen, sweep, project
        self._writer: dict[str, int] = {}
        self._names: list[str] = []
        self._varies = any(stage.artifacts for stage in frozen.template) or bool(frozen.settings.metrics_file)

    def take(self, cell: Cell) -> SharedOutput | None:
        """Take the cell in; the first path that another one writes: then it is not taken in."""
        if not self._varies:
            return None
        found = list(outputs_of(self._frozen, self._sweep, cell, self._project))
        for output in found:
            if output.path in self._writer:
                return SharedOutput(output, self._names[self._writer[output.path]], cell.name)
        self._writer.update((output.path, len(self._names)) for output in found)
        self._names.append(cell.name)
        return None


def outputs_of(frozen: Frozen, sweep: str, cell: Cell, project: str) -> Iterator[CellOutput]:
    """What the cell's stages write, and its metrics."""
    stages = [stage_of_cell(stage, sweep, cell) for stage in frozen.template]
    paths = list(_artifacts(stages, project))
    yield from paths
    metrics = frozen.settings.metrics_file
    if metrics is not None:
        path = os.path.join(folder_of(project, stages[-1]), fill(metrics, values_for(sweep, cell)))
        output = CellOutput(os.path.normpath(path), stages[-1].name)
        if output.path not in {one.path for one in paths}:
            yield output


def values_for(sweep: str, cell: Cell) -> dict[str, str]:
    return {**dict(cell.values), "cell": cell.name, "sweep": sweep}


def _artifacts(stages: Iterable[Stage], project: str) -> Iterator[CellOutput]:
    for stage in stages:
        folder = folder_of(project, stage)
        for artifact in stage.artifacts:
            yield CellOutput(os.path.normpath(os.path.join(folder, artifact.pattern)), stage.name)
