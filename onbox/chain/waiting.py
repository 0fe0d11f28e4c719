"""What a stage waits for before it starts: a file, or a line in a log that another program writes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.logs.tail import find_in_log

if TYPE_CHECKING:
    from onbox.contract.manifest import WaitFor

OVERLAP_BYTES = 65536


class Awaited:
    """One thing that is waited for. `is_there` is asked again and again: it may appear on another machine's disk."""

    def __init__(self, wait: WaitFor, folder: str) -> None:
        self.regex = wait.regex
        self.path = os.path.join(folder, wait.file or wait.log or "")
        self.searched_bytes = 0

    def __str__(self) -> str:
        return f"the file {self.path}" if self.regex is None else f"/{self.regex}/ in {self.path}"

    def is_there(self) -> bool:
        """Whether it has appeared. Of a log only the new bytes are read (and 64 KiB before them, for cut matches)."""
        if self.regex is None:
            return os.path.exists(self.path)
        try:
            size = os.path.getsize(self.path)
        except OSError:
            return False
        if size < self.searched_bytes:
            self.searched_bytes = 0  # rotated or cut: a new file
        if size == self.searched_bytes:
            return False
        try:
            if find_in_log(self.path, self.regex, max(0, self.searched_bytes - OVERLAP_BYTES)) is not None:
                return True
        except OSError:  # a folder, or not ours to read: that may still change
            return False
        self.searched_bytes = size
        return False
