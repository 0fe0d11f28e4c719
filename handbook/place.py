"""Which handbook a command is about: the local side with its boxes, or this very machine as a box."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from handbook.gather import HandbookPlace
from onbox.commands.shared.elsewhere import unseen_alive
from onbox.commands.shared.project import run_names
from onbox.contract.exits import Exit
from onbox.contract.names import run_name_from
from onbox.errors import Trouble
from onbox.model.boxes import BoxSettings
from onbox.trust import not_accepted
from patrol.config.configured import load_settings
from patrol.known_projects import commands_there
from patrol.memory.store import FILE as MEMORY_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.cli.command import Options
    from patrol.config.settings import Settings


def find_place(args: Options, environ: Mapping[str, str], *, before_launch: bool = False) -> HandbookPlace:
    """The place. `--here`, or a project that has runs of its own and whose boxes nobody ever looked at from here, is
    described as the box that this machine is. before_launch: an onbox.toml is enough. Raises Trouble.
    """
    settings = load_settings(args, environ, looks=True)
    title = os.path.basename(settings.folder) or settings.config.run_name
    if args.here or _is_box(settings):
        planned = before_launch and bool(settings.config.stages)
        if not planned and not os.path.isdir(_state_dir(settings)):
            if alive := unseen_alive(settings.folder, _state_dir(settings)):
                raise Trouble(Exit.ANOTHER_RUNNER, alive)
            raise Trouble(Exit.USAGE, _nothing_here(settings))
        return HandbookPlace(_as_box(settings), title, here=True)
    if settings.withheld and not getattr(args, "from_memory", False):  # after a tick, which has said it
        print(f"handbook: {not_accepted(settings.config_path or settings.folder, settings.withheld)}", file=sys.stderr)
    return HandbookPlace(settings, title)


def _nothing_here(settings: Settings) -> str:
    """That, and where there is something."""
    said = f"{settings.folder}: no box is configured here and no run was started here"
    known = commands_there(settings, "handbook", "resume")
    if not known:
        return f"{said}; go to the directory of onbox.toml, or: patrol add HOST"
    listed = "".join(f"\n  {command}" for command in known)
    return f"{said}; add a box (patrol add HOST), or take a project that is known here:{listed}"


def home_of(place: HandbookPlace) -> str:
    """Where its files lie: beside the configuration; of a box in the state directory, because the project's own page
    (which travels with the project) is that of the local side.
    """
    return _state_dir(place.settings) if place.here else place.settings.folder


def _is_box(settings: Settings) -> bool:
    if settings.config.boxes and os.path.exists(os.path.join(settings.state, MEMORY_FILE)):
        return False
    return bool(run_names(_state_dir(settings))) or not settings.config.boxes


def _state_dir(settings: Settings) -> str:
    return os.path.join(settings.folder, os.path.expanduser(settings.config.state_dir))


def _as_box(settings: Settings) -> Settings:
    """The same project with this machine as its one box, and a memory of its own."""
    name = run_name_from(os.uname().nodename)
    box = BoxSettings(name, "localhost", project=settings.folder, backend="local")
    patrol = settings.config.patrol._replace(ping=None, textfile=None, report=None)
    config = settings.config._replace(boxes=(box,), patrol=patrol)
    return settings._replace(config=config, state=f"{settings.state}-here")
