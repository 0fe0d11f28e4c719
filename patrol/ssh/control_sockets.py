"""Where the sockets of master connections lie that are kept between ticks."""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# sun_path holds 104 bytes on macOS and the BSDs (108 on Linux) with its NUL; ssh binds PATH plus a dot and 16 letters.
PATH_BYTES = 104 - 1 - 17


def control_path(box: str, host: str, ssh_command: Sequence[str], folder: str | None = None) -> str | None:
    """Where the master's socket of a box lies: one per box, host and client words, in a folder that is ours alone.

    folder: None: below the system's folder for temporary files. None is returned where there is no safe folder or its
    path is too long; then there is no master.
    """
    places = (folder,) if folder is not None else (os.environ.get("TMPDIR") or "/tmp", "/tmp")
    name = hashlib.sha256("\0".join((box, host, *ssh_command)).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    for place in places:
        own = os.path.join(place, f"onbox-{os.getuid()}")
        path = os.path.join(own, name)
        if len(os.fsencode(path)) <= PATH_BYTES and _is_private(own):
            return path
    return None


def _is_private(folder: str) -> bool:
    """Make it if need be. Whoever can write there could put a socket of his own in the way."""
    try:
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
