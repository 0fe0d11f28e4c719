"""How many files are below a directory here: the local side of a declared count. Bounded in time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.system.clock import monotonic

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe

LIMIT_SECONDS = 5.0


def count_files(folder: str, limit_seconds: float = LIMIT_SECONDS) -> Maybe[int]:
    """The regular files below `folder`; links are not followed. Unseen where a part cannot be read."""
    if not os.path.isdir(folder):
        return Absent(f"no directory {folder} here")
    deadline = monotonic() + limit_seconds
    total, places = 0, [folder]
    while places:
        if monotonic() > deadline:
            return Unseen(f"{folder}: counting its files takes too long")
        place = places.pop()
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        places.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        total += 1
        except OSError as error:
            return Unseen(f"{place}: {error.strerror}")
    return total
