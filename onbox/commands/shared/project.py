"""The project and the run that an `onbox` command is about."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

from onbox.chain.command.environment import run_dir_assignment
from onbox.chain.lock.run_owner import refuse_foreign_run
from onbox.commands.shared.elsewhere import removed_under_it, unseen_alive
from onbox.config.parse import ConfigErrors, parse_config
from onbox.contract.exits import Exit
from onbox.contract.names import run_name_from
from onbox.contract.paths import CELLS_FOLDER, RunPaths
from onbox.errors import Trouble
from onbox.outside import safe_line, safe_text
from onbox.project import BrokenConfig, Project, find_config, read_toml
from onbox.project import load_project as load_any_project
from onbox.system.process import find_tree

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = [
    "Project",
    "existing_run",
    "find_config",
    "load_project",
    "load_project_to_read",
    "run_names",
    "run_to_act_on",
]


STILL_WORKS = "a run that was started here before goes on as frozen: onbox status, logs, stop, resume"


def load_project(config_option: str | None, *, asks: Collection[str] = (), given: Collection[str] = ()) -> Project:
    """As `onbox.project.load_project`; where its file is broken and runs lie here, with what works for them."""
    try:
        return load_any_project(config_option, asks=asks, given=given)
    except BrokenConfig as broken:
        if run_names(project_despite(broken).state_dir):
            broken.also(STILL_WORKS)
        raise


def load_project_to_read(config_option: str | None) -> Project:
    """As `load_project`, for commands that look at or end a run that exists: a broken file must not keep them from it.

    Then only the state directory is taken from the file, if it can be, and its errors are a note.
    """
    try:
        return load_any_project(config_option)
    except BrokenConfig as broken:
        project = project_despite(broken)
        frozen = "a run goes by what was frozen at its start; " if run_names(project.state_dir) else ""
        note = f"{frozen}no setting of the file is used here; all errors: onbox check"
        print(f"onbox: note: {safe_line(broken.path)}: {safe_text(broken.first)}\n  {note}", file=sys.stderr)
        return project


def project_despite(broken: BrokenConfig) -> Project:
    """What can be known of a project whose file is broken: where it is, its state directory, and its run's name."""
    folder = os.path.dirname(broken.path)
    try:
        run = read_toml(broken.path).get("run", {})
    except BrokenConfig:
        run = None
    known = run if isinstance(run, dict) else {}
    kept = {key: known[key] for key in ("name", "state_dir") if isinstance(known.get(key), str)}
    try:
        config = parse_config({"run": kept}, default_name=run_name_from(os.path.basename(folder)))
    except ConfigErrors:
        raise broken from None
    is_unknown = run is not known or ("name" in known and "name" not in kept)
    return Project(folder, None, config, broken=broken, run_unknown=is_unknown)


def existing_run(project: Project, run: str | None) -> RunPaths:
    """The run that a reading command is about: the named one, the configured one, or the only one there is."""
    return _find_run(project, run, any_name=run is None)


def _find_run(project: Project, run: str | None, *, any_name: bool) -> RunPaths:
    """any_name: where there is a single run, it is meant, whatever it is called."""
    paths = project.paths(run)
    if run is None and project.run_unknown:
        _refuse_to_guess(project)
    elif os.path.exists(paths.manifest):
        return paths
    known = run_names(project.state_dir)
    if any_name and len(known) == 1:
        return project.paths(known[0])
    if run is not None:
        _refuse_cell(project, run)
    _refuse_removed_state(paths)
    if not known:
        raise no_run_yet(project)
    name = os.path.basename(paths.root)
    raise Trouble(Exit.USAGE, f"no run {name!r} in {safe_line(project.state_dir)}; there are: {', '.join(known)}")


def cells_called(project: Project, sweep: str | None, name: str) -> dict[str, RunPaths]:
    """The cells of that name (CELL, or SWEEP/CELL), by their sweep; of one sweep, or of all."""
    names = run_names(project.state_dir)
    first, slash, rest = name.partition("/")
    if sweep is None and slash and first in names:
        sweep, name = first, rest
    folders = {one: f"{project.paths(one).root}/{CELLS_FOLDER}" for one in ([sweep] if sweep else names)}
    return {one: RunPaths(f"{folder}/{name}") for one, folder in folders.items() if name in _entries(folder)}


def _refuse_cell(project: Project, name: str) -> None:
    """A sweep's cell is looked at and continued with its sweep."""
    for sweep, cell in cells_called(project, None, name).items():
        logs = shlex.join(("onbox", "logs", os.path.basename(cell.root), "--run", sweep))
        raise Trouble(
            Exit.USAGE,
            f"{os.path.basename(cell.root)} is a cell of sweep {sweep}; for its log: {logs}; "
            f"for the sweep: onbox sweep status {sweep} (or stop, resume, retry-failed, skip)",
        )


def _entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _refuse_to_guess(project: Project) -> None:
    """Of several runs none is taken for the one that a file which cannot be read may have named."""
    known = run_names(project.state_dir)
    if project.broken is None or len(known) < 2:
        return
    why = f"{safe_line(project.broken.path)} cannot be read, so which run it names is not known"
    raise Trouble(Exit.USAGE, f"{why}; say which: {', '.join(known)}")


def no_run_yet(project: Project) -> Trouble:
    """With the command that starts a first: of the stages that onbox.toml has, or of one that is named."""
    start = "onbox chain" if project.config.stages else "onbox chain 'train=python train.py'"
    return none_yet(project, f"no run in {safe_line(project.state_dir)} yet", start)


def none_yet(project: Project, none: str, start: str) -> Trouble:
    """What is not there, and how it is started, unless it is alive out of sight; where onbox.toml is broken, that this
    comes first.
    """
    if alive := unseen_alive(project.folder, project.state_dir):
        return Trouble(Exit.ANOTHER_RUNNER, alive)
    if project.broken:
        return Trouble(Exit.CONFIG, f"{none}; to start one, correct {safe_line(project.broken.path)} first")
    return Trouble(Exit.USAGE, f"{none}; start one: {start}")


def run_to_act_on(project: Project, run: str | None) -> RunPaths:
    """As `existing_run`, for commands that continue or end it: what onbox.toml calls otherwise is acted on only by its
    name; refused where others could have written what it says.
    """
    is_named_by_file = project.config_path is not None or (project.broken is not None and not project.run_unknown)
    paths = _find_run(project, run, any_name=run is None and not is_named_by_file)
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


def run_names(state_dir: str) -> list[str]:
    """The runs below a state directory, by name. Empty if there is none."""
    return [
        name for name in sorted(_entries(state_dir)) if os.path.exists(RunPaths(os.path.join(state_dir, name)).manifest)
    ]
