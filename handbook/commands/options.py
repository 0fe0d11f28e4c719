"""Options that every command of the handbook has, and the look that some of them begin with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from onbox.errors import Trouble
from onbox.outside import safe_text
from onbox.system.files import StateNotWritten
from patrol.commands.options import project_options

if TYPE_CHECKING:
    from handbook.gather import Place


def place_options(function: Any) -> Any:
    """Of which project: `-c FILE`, `--folder DIR` and `--here`."""
    text = "describe this very machine as a box, not boxes from outside"
    return project_options(click.option("--here", is_flag=True, help=text)(function))


def common_options(function: Any) -> Any:
    """Of which project, and `--json`."""
    return place_options(click.option("--json", is_flag=True, help="JSON for programs")(function))


def run_option(function: Any) -> Any:
    """`--run RUN`."""
    text = "of which run: RUN or BOX/RUN (default: the only one there is)"
    return click.option("--run", metavar="RUN", help=text)(function)


def look_now(place: Place) -> str:
    """Look at every box, as a tick does, and remember it; nothing on any box is changed. Returns why that could not be
    done (the facts are those of the last look then), or "".
    """
    from patrol.tick import Busy, Wishes, tick  # noqa: PLC0415 - only who looks needs the half of a patrol

    wishes = Wishes(place.settings.config.boxes, act=False)
    if not wishes.boxes:
        return "no box is configured: patrol add HOST"
    try:
        ticked = tick(place.settings, wishes, os.environ, _silent)
    except Busy:
        return "a tick of the patrol is at work just now; these are the facts of the one before"
    except (Trouble, StateNotWritten) as error:
        return safe_text(error)
    return "; ".join(ticked.troubles)


def _silent(_: Any) -> None:
    """The tick's own lines are not shown: the handbook says it in its own words."""
