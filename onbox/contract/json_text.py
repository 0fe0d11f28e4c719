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


def as_object(value: object) -> dict[str, Any]:
    """`value` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_number(value: object) -> float | None:
    """`value` where it is a number (true and false are none), else None."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def as_whole(value: object) -> int | None:
    """`value` where it is a whole number (true and false are none), else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
