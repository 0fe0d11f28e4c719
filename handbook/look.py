"""The look at every box that some commands of the handbook begin with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.errors import Trouble
from onbox.outside import safe_text
from onbox.system.files import StateNotWritten

if TYPE_CHECKING:
    from handbook.gather import HandbookPlace


def look_now(place: HandbookPlace) -> str:
    """Look at every box, as a tick does, and remember it; nothing on any box is changed. Returns why that could not be
    done (the facts are those of the last look then), or "".
    """
    from patrol.tick import Busy, TickWishes, tick  # noqa: PLC0415 - only who looks needs the half of a patrol

    wishes = TickWishes(place.settings.config.boxes, act=False)
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
