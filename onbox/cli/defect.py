"""A defect of ours that a command met: one line for the user, and a report for whoever is to put it right."""

from __future__ import annotations

import os
import stat
import tempfile
import traceback
import zlib

from onbox.outside import safe_text


def reported(program: str, error: Exception) -> str:
    """One line, and one report for each place where it happened: a tick that fails every half hour leaves one file."""
    text = safe_text("".join(traceback.format_exception(error)))
    frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    place = zlib.crc32(" ".join([type(error).__name__, *frames]).encode("utf-8", "replace"))
    try:
        where = f"; details in {_keep(f'{program}-report-{os.geteuid()}-{place:08x}', text)}"
    except OSError:
        where = f"\n{text}"
    return f"a defect in {program}: {type(error).__name__}: {error}{where}"


def _keep(name: str, text: str) -> str:
    """Where it lies. One of ours that is there tells of the same defect; one of somebody else's is not touched."""
    path = os.path.join(tempfile.gettempdir(), f"{name}.txt")
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        found = os.lstat(path)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
            return path
        fd, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".txt")
    with open(fd, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return path
