"""Which sweep a command is about."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.chain.lock.run_owner import refuse_foreign_run
from onbox.commands.shared.project import load_project_to_read, none_yet, run_names
from onbox.contract.exits import Exit
from onbox.contract.runfile import DamagedRunfile
from onbox.errors import Trouble
from onbox.sweep.state.frozen_sweep import read_definition

if TYPE_CHECKING:
    from onbox.cli.command import Options
    from onbox.commands.shared.project import Project
    from onbox.contract.paths import RunPaths


def sweep_paths(args: Options, *, act: bool = False) -> RunPaths:
    """The sweep that is named; else the configured one, or the only one. act: it is going to be changed. Raises
    Trouble.
    """
    project = load_project_to_read(args.config)
    given = args.name or getattr(args, "sweep", None)
    paths = project.paths(given or project.config.sweep.name)
    if (given is None and project.broken) or not _is_sweep(paths):
        names = sweep_names(project)
        if given is not None or len(names) != 1:
            what = f"no sweep {os.path.basename(paths.root)!r} in {project.state_dir}"
            if names and given is None and project.broken:
                what = f"{project.broken.path} cannot be used, so which sweep it names is not known"
            if names:
                raise Trouble(Exit.USAGE, f"{what}; there are: {', '.join(names)}")
            raise none_yet(project, what, "onbox sweep 'seed=0..4' -- COMMAND {seed}")
        paths = project.paths(names[0])
    if act:
        refuse_foreign_run(paths)
    return paths


def sweep_names(project: Project) -> list[str]:
    return [name for name in run_names(project.state_dir) if _is_sweep(project.paths(name))]


def _is_sweep(paths: RunPaths) -> bool:
    try:
        return read_definition(paths) is not None
    except (DamagedRunfile, OSError):
        return False
