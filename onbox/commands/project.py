"""Find and read the configuration, and find the run that a command is about."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.contract.config import Config, ConfigErrors, parse_config, run_name_from
from onbox.contract.exits import Exit
from onbox.contract.paths import CONFIG_FILE, DEFAULT_STATE_DIR, RunPaths
from onbox.errors import Trouble
from onbox.system.files import read_file
from onbox.triage.classes import CLASSES

if TYPE_CHECKING:
    import argparse

RETRYABLE_CLASSES = frozenset(row.key for row in CLASSES if row.retryable)


class Project(NamedTuple):
    """Where commands work. `config_path` is None when there is no onbox.toml: then `config` holds the defaults."""

    folder: str
    config_path: str | None
    config: Config

    @property
    def state_dir(self) -> str:
        return os.path.join(self.folder, os.path.expanduser(self.config.state_dir or DEFAULT_STATE_DIR))

    def paths(self, run: str | None) -> RunPaths:
        """The run directory of `run`; None means the configured (or default) name."""
        return RunPaths(os.path.abspath(os.path.join(self.state_dir, run or self.config.run_name)))


def add_config_option(parser: argparse.ArgumentParser) -> None:
    """`-c FILE`, which every command has."""
    parser.add_argument("-c", "--config", metavar="FILE", help=f"configuration (default: the nearest {CONFIG_FILE})")


def find_config(folder: str) -> str | None:
    """The nearest onbox.toml in `folder` or above it; None if there is none."""
    while True:
        path = os.path.join(folder, CONFIG_FILE)
        if os.path.isfile(path):
            return path
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def load_project(config_option: str | None) -> Project:
    """The project that the working directory (or `-c`) belongs to. Raises Trouble with every error of its file."""
    path = os.path.abspath(config_option) if config_option else find_config(os.getcwd())
    if path is None:
        folder = os.getcwd()
        return Project(folder, None, parse_config({}, default_name=run_name_from(os.path.basename(folder))))
    folder = os.path.dirname(path)
    try:
        config = parse_config(
            read_toml(path),
            default_name=run_name_from(os.path.basename(folder)),
            known_classes=RETRYABLE_CLASSES,
        )
    except ConfigErrors as errors:
        lines = "\n".join(f"  {error}" for error in errors.errors)
        count = len(errors.errors)
        heading = f"{path}: {count} error{'' if count == 1 else 's'}; nothing was started"
        raise Trouble(Exit.CONFIG, f"{heading}\n{lines}") from errors
    return Project(folder, path, config)


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


def read_toml(path: str) -> dict[str, Any]:
    """A TOML file as plain data. Raises Trouble: no file, unreadable, not UTF-8, not TOML (with line and column)."""
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - 10 ms that commands without a file save
    else:
        import tomli as tomllib  # noqa: PLC0415
    try:
        text = read_file(path)
        if text is None:
            raise Trouble(Exit.CONFIG, f"{path}: there is no such file; `onbox init` writes one")
        return tomllib.loads(text.decode("utf-8"))
    except OSError as error:
        raise Trouble(Exit.CONFIG, f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise Trouble(Exit.CONFIG, f"{path}: is not UTF-8 (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise Trouble(Exit.CONFIG, f"{path}: is not TOML: {error}") from error


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
