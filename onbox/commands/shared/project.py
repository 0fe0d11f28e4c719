"""The project and the run that an `onbox` command is about."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from onbox.chain.command.environment import run_dir_assignment
from onbox.chain.lock.run_owner import refuse_foreign_run
from onbox.config.parse import ConfigErrors, parse_config
from onbox.contract.exits import Exit
from onbox.contract.names import run_name_from
from onbox.contract.paths import RunPaths
from onbox.errors import Trouble
from onbox.project import Project, find_config, load_project, read_toml
from onbox.system.process import find_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Project",
    "existing_run",
    "find_config",
    "load_project",
    "load_project_to_read",
    "removed_under_it",
    "run_names",
    "run_to_act_on",
]


SHOWN_PIDS = 20


def load_project_to_read(config_option: str | None) -> Project:
    """As `load_project`, for commands that look at or end a run that exists: a broken file must not keep them from it.

    Then only the state directory is taken from the file, if it can be, and the rest of its errors is a note.
    """
    try:
        return load_project(config_option)
    except Trouble as trouble:
        path = os.path.abspath(config_option) if config_option else find_config(os.getcwd())
        if path is None or not os.path.isfile(path):
            raise
        project = _project_despite(path, trouble)
        if run_names(project.state_dir):
            note = f"{path} has errors (`onbox stages` names them); a run goes by its frozen definition"
            print(f"onbox: note: {note}", file=sys.stderr)
        return project


def _project_despite(path: str, trouble: Trouble) -> Project:
    folder = os.path.dirname(path)
    try:
        run = read_toml(path).get("run", {})
    except Trouble:
        run = {}
    kept = {key: run[key] for key in ("name", "state_dir") if isinstance(run, dict) and isinstance(run.get(key), str)}
    try:
        config = parse_config({"run": kept}, default_name=run_name_from(os.path.basename(folder)))
    except ConfigErrors:
        raise trouble from None
    return Project(folder, None, config)


def existing_run(project: Project, run: str | None) -> RunPaths:
    """The run that a reading command is about: the named one, the configured one, or the only one there is."""
    return _find_run(project, run, any_name=run is None)


def _find_run(project: Project, run: str | None, *, any_name: bool) -> RunPaths:
    """any_name: where there is a single run, it is meant, whatever it is called."""
    paths = project.paths(run)
    if os.path.exists(paths.manifest):
        return paths
    known = run_names(project.state_dir)
    if any_name and len(known) == 1:
        return project.paths(known[0])
    _refuse_removed_state(paths)
    if not known:
        raise Trouble(Exit.USAGE, f"no run in {project.state_dir} yet; start one: {how_to_start(project)}")
    name = os.path.basename(paths.root)
    raise Trouble(Exit.USAGE, f"no run {name!r} in {project.state_dir}; there are: {', '.join(known)}")


def how_to_start(project: Project) -> str:
    """The command that starts a first run: of the stages that onbox.toml has, or of one that is named."""
    return "onbox chain" if project.config.stages else "onbox chain 'train=python train.py'"


def run_to_act_on(project: Project, run: str | None) -> RunPaths:
    """As `existing_run`, for commands that continue or end it: what onbox.toml calls otherwise is acted on only by its
    name; refused where others could have written what it says.
    """
    paths = _find_run(project, run, any_name=run is None and project.config_path is None)
    refuse_foreign_run(paths)
    return paths


def _refuse_removed_state(paths: RunPaths) -> None:
    """There is no such run on the disk. Where its processes live nobody is told to start one."""
    try:
        pids = [entry.identity.pid for entry in find_tree(None, run_dir_assignment(paths.root))]
    except OSError:  # no /proc: the box is another machine
        return
    if pids:
        raise Trouble(Exit.ANOTHER_RUNNER, removed_under_it(paths.root, pids))


def removed_under_it(root: str, pids: Sequence[int]) -> str:
    """What is said of a run whose state directory is gone, and of which processes are alive."""
    return (
        f"{root} is not there, but processes of a run in this place are alive: its state was removed under it\n"
        f"  let them end, or end them yourself: kill {' '.join(map(str, pids[:SHOWN_PIDS]))}"
    )


def run_names(state_dir: str) -> list[str]:
    """The runs below a state directory, by name. Empty if there is none."""
    try:
        entries = sorted(os.listdir(state_dir))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for name in entries if os.path.exists(RunPaths(os.path.join(state_dir, name)).manifest)]
