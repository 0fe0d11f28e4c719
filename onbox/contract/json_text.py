"""JSON that another process, an older version or a box has written. Pure.

What it says is data of anybody: numbers that no field can hold, one name twice (readers differ in which they take),
depth that ends a recursion elsewhere. All of that is dealt with here, so that nothing behind it has to think of it.
"""

from __future__ import annotations

import json
import math
from typing import Any

DEPTH_LIMIT = 64
DIGITS_LIMIT = 19  # of a number that fits 64 bits
BITS_64 = 1 << 63


def parse_json(text: str | bytes) -> Any:
    """One JSON value. A number that is none (NaN, infinities, 1e999) or needs more than 64 bits is None: not told.

    Raises ValueError for what is not JSON, is not UTF-8, has a name twice in one object, or nests deeper than 64.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        data = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if text.count("[") + text.count("{") > DEPTH_LIMIT and _is_deep(data):
        raise ValueError(f"nested deeper than {DEPTH_LIMIT}")
    return data


def parse_object(text: str | bytes | None) -> dict[str, Any] | None:
    """The JSON object that the text is; None for everything else: nothing, half of one, a list, one nested too deep."""
    try:
        data = parse_json(text or b"")
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def as_object(value: object) -> dict[str, Any]:
    """`value` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_number(value: object) -> float | None:
    """`value` where it is a finite number (true and false are none), else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_whole(value: object) -> int | None:
    """`value` where it is a whole number (true and false are none), else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _whole(text: str) -> int | None:
    if len(text) > DIGITS_LIMIT + 1:
        return None
    value = int(text)
    return value if -BITS_64 <= value < BITS_64 else None


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("one object has a name twice")
    return data


def _is_deep(data: Any) -> bool:
    """Whether anything stands deeper than the limit; level by level, without recursion."""
    level = [data]
    for _ in range(DEPTH_LIMIT):
        level = [one for each in level for one in _inside(each) if isinstance(one, dict | list)]
        if not level:
            return False
    return True


def _inside(data: Any) -> Any:
    return data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()


_DECODER = json.JSONDecoder(
    parse_int=_whole, parse_float=_finite, parse_constant=lambda _: None, object_pairs_hook=_once
)
