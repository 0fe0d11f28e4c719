"""A run is carried on only where nobody else could have written what it says: its commands would run as this user."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.outside import safe_line
from onbox.system.ownership import WhyNotOurs, why_not_ours

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths

PATH_LIMIT = 4096


def refuse_foreign_run(paths: RunPaths) -> None:
    """Before a run is started, continued or ended. What is not there yet says nothing. Raises Trouble, OSError.

    Folders first: in one that nobody else can write nobody can exchange what was looked at.
    """
    state_dir = os.path.dirname(paths.root)
    for path in (state_dir, paths.root, paths.markers, paths.logs, paths.outbox, paths.manifest, paths.journal):
        try:
            why = why_not_ours(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        if why is not None:
            raise Trouble(Exit.CONFIG, _refusal(path, state_dir, why))


def _refusal(path: str, state_dir: str, why: WhyNotOurs) -> str:
    shown, folder = safe_line(shlex.quote(path), PATH_LIMIT), safe_line(shlex.quote(state_dir), PATH_LIMIT)
    cure = f"chmod -R go-w {folder}" if why.by_mode else f"chown -hR {os.geteuid()} {folder}"
    return (
        f"{shown} {why.says}: it says what would be run, so nothing was started or ended; if you know what is in it:"
        f" {cure}; else work as its owner, or set another state_dir"
    )
