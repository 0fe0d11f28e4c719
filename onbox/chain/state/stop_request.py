"""The wish to stop a run: a small file beside the lock, so that it tells a stop from a signal of the system."""

from __future__ import annotations

import json

from onbox.named_tuple import NamedTuple
from onbox.system.clock import utc_text, wall
from onbox.system.files import read_file, replace_file


class StopRequest(NamedTuple):
    """Who asked is not recorded, only what for. grace_seconds: between SIGTERM and SIGKILL; 0 kills at once."""

    grace_seconds: float


def write_request(path: str, request: StopRequest) -> None:
    """Leave the wish where the runner looks for it. Raises StateNotWritten."""
    text = json.dumps({"at": utc_text(wall()), "grace_seconds": request.grace_seconds})
    replace_file(path, text.encode("ascii") + b"\n")


def read_request(path: str) -> StopRequest | None:
    """The wish to stop; None if there is none or it cannot be understood."""
    text = read_file(path, 4096)
    if text is None:
        return None
    try:
        return StopRequest(float(json.loads(text)["grace_seconds"]))
    except (ValueError, KeyError, TypeError):
        return None
