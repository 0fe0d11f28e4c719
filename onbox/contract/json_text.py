"""JSON that another process, an older version or a box has written. Pure."""

from __future__ import annotations

import json
from typing import Any


def parse_object(text: str | bytes | None) -> dict[str, Any] | None:
    """The JSON object that the text is; None for everything else: nothing, half of one, a list, one nested too deep."""
    try:
        data = json.loads(text or b"")
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
