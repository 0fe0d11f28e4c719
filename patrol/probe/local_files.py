"""How many files are below a directory here: the local side of a declared count. Bounded in time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.system.clock import monotonic

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe

LIMIT_SECONDS = 5.0


def count_files(folder: str, limit_seconds: float = LIMIT_SECONDS) -> tuple[Maybe[int], Maybe[int]]:
    """The regular files below `folder`, and their bytes; links are not followed. Unseen where a part cannot be read."""
    if not os.path.isdir(folder):
        absent = Absent(f"no directory {folder} here")
        return absent, absent
    deadline = monotonic() + limit_seconds
    total, total_bytes, places = 0, 0, [folder]
    while places:
        if monotonic() > deadline:
            late = Unseen(f"{folder}: counting its files takes too long")
            return late, late
        place = places.pop()
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        places.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        total += 1
                        total_bytes += entry.stat(follow_symlinks=False).st_size
        except OSError as error:
            unseen = Unseen(f"{place}: {error.strerror}")
            return unseen, unseen
    return total, total_bytes
