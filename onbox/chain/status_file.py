"""status.json as readers see it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from onbox.system.files import read_file

if TYPE_CHECKING:
    from onbox.contract.paths import RunPaths


def read_status(paths: RunPaths) -> dict[str, Any] | None:
    """The runner's last status; None if there is none or it is damaged."""
    text = read_file(paths.status, 1 << 20)
    try:
        data = json.loads(text) if text else None
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
