"""Which folder the ticks of cron remember in, and whether a shell reads the same one. Pure.

cron knows another HOME and no variables of a shell: a patrol would have two memories, and what is acknowledged in one
would not count in the other. So the line of the crontab names the folder wherever cron would not find it by itself.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "XDG_STATE_HOME"


def default_state_home(home: str) -> str:
    return os.path.join(home, ".local", "state")


def variables_for_cron(state: str, home: str) -> dict[str, str]:
    """What cron needs to be told to find this patrol's folder. home: of the account, as cron gives it."""
    wanted = os.path.dirname(os.path.dirname(state))
    return {} if os.path.realpath(default_state_home(home)) == os.path.realpath(wanted) else {VARIABLE: wanted}


def state_of_line(line: str, name: str, home: str) -> str:
    """The folder that this crontab line's ticks remember in. name: of a patrol's folder."""
    return os.path.join(_state_home(line) or default_state_home(home), "onbox", name)


def _state_home(line: str) -> str:
    try:
        words = shlex.split(line.replace("\\%", "%"))
    except ValueError:
        return ""
    return next((word.partition("=")[2] for word in words if word.startswith(f"{VARIABLE}=")), "")


def other_memory(lines: Sequence[str], state: str, home: str) -> str:
    """The folder of the ticks by cron where it is not this one; "": it is, or there is no line."""
    for line in lines:
        if not line.lstrip().startswith("#"):
            found = state_of_line(line, os.path.basename(state), home)
            if os.path.realpath(found) != os.path.realpath(state):
                return found
    return ""
