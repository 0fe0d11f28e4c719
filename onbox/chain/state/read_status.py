"""status.json as readers see it; `recorder.py` writes what `../runner/attempt_monitor.py` and `wait_for.py` show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_object
from onbox.system.files import read_file

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths


def read_status(paths: RunPaths) -> dict[str, Any] | None:
    """The runner's last status; None if there is none or it is damaged."""
    return parse_object(read_file(paths.status, 1 << 20))
