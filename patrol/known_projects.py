"""The projects that somebody looked after from this account: for who types a command in another directory."""

from __future__ import annotations

import os
import shlex
from functools import wraps
from typing import TYPE_CHECKING

from onbox.commands.shared.elsewhere import removed_and_alive
from onbox.contract.exits import Exit
from onbox.contract.paths import CONFIG_FILE, DEFAULT_STATE_DIR
from onbox.errors import Trouble
from onbox.outside import safe_line
from onbox.project import find_config
from patrol.config.settings import state_folder
from patrol.decide.remote_command import Untypeable, here
from patrol.timer.heartbeat import read_heartbeat
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onbox.cli.command import Options
    from patrol.config.settings import Settings

SHOWN = 5


def known_configs(settings: Settings) -> list[str]:
    """Configurations of patrols of this account that are still there, the one that was looked after last first."""
    return [path for path in _configs_below(os.path.dirname(settings.state)) if path != settings.config_path]


def _configs_below(above: str) -> list[str]:
    try:
        ids = os.listdir(above)
    except OSError:
        return []
    beats = [beat for id_ in ids if (beat := read_heartbeat(os.path.join(above, id_))) is not None and beat.config]
    paths = dict.fromkeys(beat.config for beat in sorted(beats, key=lambda beat: -beat.began_at))
    return [path for path in paths if os.path.isfile(path)]


def projects_elsewhere(args: Options, environ: Mapping[str, str]) -> list[str]:
    """Where nothing is named and the working directory is in no project: the configurations that are known."""
    folder = os.getcwd()
    named = args.config or getattr(args, "folder", None) or getattr(args, "here", False)
    if named or find_config(folder) is not None:
        return []
    state_dir = os.path.join(folder, DEFAULT_STATE_DIR)
    if os.path.isdir(state_dir) or removed_and_alive(state_dir):
        return []
    return _configs_below(os.path.dirname(state_folder(folder, environ)))


def take_project(args: Options, environ: Mapping[str, str], *, several: bool = False) -> None:
    """Let a command that is typed outside of every project mean the one that is known. several: it can speak of more
    than one; else raises Trouble where they are.
    """
    known = projects_elsewhere(args, environ)
    if len(known) == 1:
        args.config = known[0]
    elif known and not several:
        listed = "".join(f"\n  -c {shlex.quote(path)}" for path in known[:SHOWN])
        raise Trouble(Exit.USAGE, f"{os.getcwd()} is in no project, and several are known; say which:{listed}")


def in_each_project(function: Callable[[Options], int]) -> Callable[[Options], int]:
    """Typed outside of every project, a command speaks of each that is known; the exit code is that of the worst."""

    @wraps(function)
    def run(args: Options) -> int:
        known = projects_elsewhere(args, os.environ)
        if len(known) < 2 or getattr(args, "json", False):
            return function(args)
        codes = []
        for path in known:
            print(f"== {safe_line(os.path.dirname(path))}", flush=True)
            args.config = path
            codes.append(Severity(function(args)))
        return int(max(codes, key=lambda code: code.rank))

    run.of_each_project = True  # type: ignore[attr-defined]
    return run


def commands_there(settings: Settings, *words: str) -> list[str]:
    """The same command in each of these projects, complete; at most so many as one wants to read."""
    return list(_commands(known_configs(settings), words))[:SHOWN]


def _commands(paths: list[str], words: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        folder, name = os.path.split(path)
        try:
            there = here("cd", folder) + " && " + here(*words) if name == CONFIG_FILE else here(*words, "-c", path)
        except Untypeable:
            continue
        yield there
