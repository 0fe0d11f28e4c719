"""Find and read onbox.toml: for the commands of every package."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.contract.config import Config, ConfigErrors, parse_config, run_name_from
from onbox.contract.config_trust import without
from onbox.contract.exits import Exit
from onbox.contract.paths import CONFIG_FILE, DEFAULT_STATE_DIR, RunPaths
from onbox.errors import Trouble
from onbox.system.files import read_file
from onbox.triage.classes import NEVER

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterator, Mapping

    from onbox.contract.config_trust import Delicate


class Project(NamedTuple):
    """Where commands work. `config_path` is None when there is no onbox.toml: then `config` holds the defaults.
    withheld: keys of the file that nobody accepted (onbox/trust.py): `config` is as if they did not stand there.
    """

    folder: str
    config_path: str | None
    config: Config
    withheld: tuple[Delicate, ...] = ()

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


def load_project(config_option: str | None, *, asks: Collection[str] = (), given: Collection[str] = ()) -> Project:
    """The project that the working directory (or `-c`) belongs to. asks: the uses of delicate keys that this command
    has: at a terminal it is asked for them. given: uses that the user's own words stand for, so that nobody is asked.
    Raises Trouble with every error of its file.
    """
    path = os.path.abspath(config_option) if config_option else find_config(os.getcwd())
    if path is None:
        folder = os.getcwd()
        return Project(folder, None, parse_config({}, default_name=run_name_from(os.path.basename(folder))))
    data = read_toml(path)
    config = _parse(path, data)
    from onbox.trust import ask, stand_of  # noqa: PLC0415 - 5 ms that commands without a file save

    stand = stand_of(path, data, os.environ)
    if stand.open:
        stand = ask(stand, asks, os.environ)
    withheld = tuple(one for one in stand.open if one.use not in given)
    if withheld:
        config = _parse(path, without(data, withheld))
    return Project(os.path.dirname(path), path, config, withheld)


def _parse(path: str, data: Mapping[str, Any]) -> Config:
    try:
        default_name = run_name_from(os.path.basename(os.path.dirname(path)))
        return parse_config(data, default_name=default_name, known_classes=NEVER)
    except ConfigErrors as errors:
        lines = "\n".join(error_lines(path, errors))
        count = len(errors.errors)
        heading = f"{path}: {count} error{'' if count == 1 else 's'}; nothing was started"
        raise Trouble(Exit.CONFIG, f"{heading}\n{lines}") from errors


def error_lines(path: str, errors: ConfigErrors) -> Iterator[str]:
    """Each error of a file that has been read, with its line where that can be told."""
    from onbox.contract.config_place import line_of  # noqa: PLC0415 - only a wrong file needs it

    text = (read_file(path) or b"").decode("utf-8", "replace")
    for error in errors.errors:
        line = line_of(text, error.path)
        yield f"  {error}" if line is None else f"  line {line}: {error}"


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
