"""Which run, or cell of a sweep, and which log of it a command reads that looks at one stage."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.run_status import look_at_run
from onbox.chain.state.frozen_run import read_stages
from onbox.commands.shared.project import cells_called, existing_run
from onbox.contract.exits import Exit
from onbox.contract.paths import SWEEP
from onbox.errors import Trouble
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line

if TYPE_CHECKING:
    from onbox.commands.shared.project import Project
    from onbox.contract.paths import RunPaths


class RunLog(NamedTuple):
    """A log of one attempt of a stage. paths: of its run, or of its cell."""

    paths: RunPaths
    stage: str
    path: str


def find_log(
    project: Project, run: str | None, word: str | None = None, *, stage: str | None = None, attempt: int | None = None
) -> RunLog:
    """word: a stage, or a cell of a sweep; with neither it is the stage at work, or the last one. Raises Trouble."""
    cell = find_cell(project, run, word) if word else None
    if word and stage and cell is None:
        raise Trouble(Exit.USAGE, f"no cell {word!r} of a sweep in {safe_line(project.state_dir)} has begun")
    paths = cell or run_or_cell(project, run)
    name = stage or (word if cell is None else None) or _default_stage(paths)
    return RunLog(paths, name, _log_path(paths, name, attempt))


def run_or_cell(project: Project, name: str | None) -> RunPaths:
    """The run that is only looked at, as `existing_run`, or the cell of that name. Raises Trouble."""
    return (find_cell(project, None, name) if name else None) or existing_run(project, name)


def find_cell(project: Project, sweep: str | None, name: str) -> RunPaths | None:
    """The cell that tables call so, or SWEEP/CELL: of this sweep, or of the only one that has it. Raises Trouble:
    several have it.
    """
    found = cells_called(project, sweep, name)
    configured = "" if project.broken else project.config.sweep.name
    if len(found) > 1 and configured not in found:
        raise Trouble(Exit.USAGE, f"several sweeps have a cell {name}: {', '.join(found)}; say which: --run NAME")
    for one in (configured, *found):
        if one in found:
            return found[one]
    return None


def _default_stage(paths: RunPaths) -> str:
    view = look_at_run(paths)
    stages = view.stages if view else ()
    logged = [item.name for item in stages if os.path.exists(paths.newest_log(item.name))]
    if view is not None and view.current in logged:
        return str(view.current)
    if not logged:
        raise Trouble(Exit.USAGE, f"no stage of {safe_line(paths.root)} has a log yet; look: onbox status")
    return logged[-1]


def _log_path(paths: RunPaths, stage: str, attempt: int | None) -> str:
    names = [frozen.stage.name for frozen in read_stages(paths)]
    if stage not in names:
        raise Trouble(Exit.USAGE, _no_stage(paths, stage, names))
    path = os.path.realpath(paths.newest_log(stage)) if attempt is None else paths.log(stage, attempt)
    if not os.path.isfile(path):
        raise Trouble(Exit.USAGE, f"no log {safe_line(path)}; stage {stage} has not got so far")
    return path


def _no_stage(paths: RunPaths, stage: str, names: list[str]) -> str:
    if names == [SWEEP]:
        sweep = os.path.basename(paths.root)
        return f"no cell {stage!r} of sweep {sweep} has begun; its cells: onbox sweep table {sweep}"
    return f"no stage {stage!r} in this run; there are: {', '.join(names[:20])}"
