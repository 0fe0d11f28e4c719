"""status.json as readers see it; `recorder.py` writes what `../runner/attempt_monitor.py` and `wait_for.py` show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import parse_object
from onbox.system.clock import parse_utc, wall
from onbox.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.paths import RunPaths


def read_status(paths: RunPaths) -> dict[str, Any] | None:
    """The runner's last status; None if there is none or it is damaged."""
    return parse_object(read_file(paths.status, 1 << 20))


def heartbeat_age_seconds(status: Mapping[str, Any]) -> float | None:
    """How long ago the status was written; None where it does not tell."""
    written = parse_utc(str(status.get("at", "")))
    return None if written is None else max(0.0, wall() - written)
