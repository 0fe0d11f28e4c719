"""Where a tick's words go: to a reader who may leave, or into a log that stays small."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from onbox.system.files import create_beside, read_tail
from patrol.report.machine_formats import document

if TYPE_CHECKING:
    from patrol.tick import Ticked

LOG = "tick.log"
LOG_LIMIT_BYTES = 1 << 20
KEPT_BYTES = 1 << 19


class Output:
    """Prints line by line. When the reader has gone (`| head`), or the log lies on a full disk, the tick goes on in
    silence: it has work to finish.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream: TextIO | None = stream

    @property
    def is_heard(self) -> bool:
        """Whether somebody reads it still, as far as is known."""
        return self._stream is not None

    def print(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            print(text, file=self._stream, flush=True)
        except OSError:
            # Keep the interpreter from flushing into it again at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            self._stream = None


def log_path(state: str) -> str:
    """Where the ticks of a timer write."""
    return os.path.join(state, LOG)


def bound_log(state: str) -> None:
    """When stdout is the patrol's log and it has grown too long: go on in a new file that begins with the old one's
    end. A disk that is full leaves the log as it is.
    """
    path = log_path(state)
    try:
        out, named = os.fstat(sys.stdout.fileno()), os.stat(path)
        if (out.st_dev, out.st_ino) != (named.st_dev, named.st_ino) or named.st_size <= LOG_LIMIT_BYTES:
            return
        tail = (read_tail(path, KEPT_BYTES) or b"").partition(b"\n")[2]
        fd, new = create_beside(path, os.O_APPEND)
    except (OSError, ValueError):
        return
    try:
        os.write(fd, tail)
        os.rename(new, path)
        sys.stdout.flush()
        os.dup2(fd, sys.stdout.fileno())
        os.dup2(fd, sys.stderr.fileno())
    except OSError:
        return
    finally:
        os.close(fd)


def tick_data(ticked: Ticked) -> dict[str, Any]:
    """A tick as JSON-ready data: what is told of each run, the line included, and of the tick itself."""
    entries = [entry for box in ticked.judged for entry in box.entries()]
    data = document(entries, ticked.now, ticked.severity)
    for told, run in zip(data["runs"], (run for box in ticked.judged for run in box.runs), strict=True):
        told["line"] = run.line
    return {**data, "notes": list(ticked.notes), "troubles": list(ticked.troubles)}
