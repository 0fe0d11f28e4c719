"""Shell scripts with Windows line ends: `bad interpreter` and `$'\\r': command not found`, told before the start."""

from __future__ import annotations

import os
import shlex
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.model.manifest import Stage

LOOK_BYTES = 65536


def find_crlf_scripts(stage: Stage, folder: str) -> Iterator[str]:
    """The files named in a stage's command that are shell scripts (by `.sh` or by `#!`) and have CRLF line ends.

    What cannot be split into words or read is passed over: this is a warning before the start, not the gate.
    """
    try:
        words = list(stage.cmd) if isinstance(stage.cmd, tuple) else shlex.split(stage.cmd)
    except ValueError:
        return
    for word in dict.fromkeys(words):
        path = os.path.join(folder, word)
        beginning = _beginning(path)
        is_script = word.endswith((".sh", ".bash")) or beginning.startswith(b"#!")
        if is_script and b"\r\n" in beginning:
            yield path


@cache
def _beginning(path: str) -> bytes:
    if not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(LOOK_BYTES)
    except OSError:
        return b""
