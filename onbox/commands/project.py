"""The project and the run that an `onbox` command is about."""

from __future__ import annotations

import os
import sys

from onbox.contract.config import ConfigErrors, parse_config
from onbox.contract.exits import Exit
from onbox.contract.names import run_name_from
from onbox.contract.paths import RunPaths
from onbox.errors import Trouble
from onbox.project import Project, add_config_option, find_config, load_project, read_toml

__all__ = [
    "Project",
    "add_config_option",
    "existing_run",
    "find_config",
    "load_project",
    "load_project_to_read",
    "run_names",
]


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
        print(
            f"onbox: note: {path} has errors (`onbox stages` names them); the run goes by its frozen definition",
            file=sys.stderr,
        )
        return _project_despite(path, trouble)


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
    paths = project.paths(run)
    if os.path.exists(paths.manifest):
        return paths
    known = run_names(project.state_dir)
    if run is None and project.config_path is None and len(known) == 1:
        return project.paths(known[0])
    if not known:
        raise Trouble(Exit.USAGE, f"no run in {project.state_dir} yet; start one: onbox chain 'train=python train.py'")
    name = os.path.basename(paths.root)
    raise Trouble(Exit.USAGE, f"no run {name!r} in {project.state_dir}; there are: {', '.join(known)}")


def run_names(state_dir: str) -> list[str]:
    """The runs below a state directory, by name. Empty if there is none."""
    try:
        entries = sorted(os.listdir(state_dir))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for name in entries if os.path.exists(RunPaths(os.path.join(state_dir, name)).manifest)]
