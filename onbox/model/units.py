"""Durations and sizes as people write them, to seconds and bytes and back. Pure."""

from __future__ import annotations

import re

_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_BYTES = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgtp", start=1):
    _BYTES[f"{_letter}b"] = 1000**_power
    _BYTES[_letter] = 1000**_power
    _BYTES[f"{_letter}ib"] = 1024**_power
    _BYTES[f"{_letter}i"] = 1024**_power

_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,18})?"
_PART = rf"({_NUMBER})\s*([a-z]*)"
_DURATION = rf"\s*(?=\S)(?:{_NUMBER}\s*[a-z]+\s*)*(?:{_NUMBER}\s*)?"
_SIZE = rf"\s*({_NUMBER})\s*([a-z]*)\s*"


def parse_duration(text: str | float) -> float:
    """`"90"`, `"30s"`, `"1h30m"`, `"250ms"` or a number: seconds. Raises ValueError with what is wanted."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        seconds = float(min(text, 1e10))
    else:
        lower = str(text).lower()
        parts = re.findall(_PART, lower)
        if not re.fullmatch(_DURATION, lower) or any(unit not in _SECONDS for _, unit in parts):
            raise ValueError('a duration such as "90s", "30m", "12h" or "1h30m"')
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not 0 <= seconds < 1e10:
        raise ValueError("a duration between 0 and 300 years")
    return seconds


def parse_size(text: str | int) -> int:
    """`"5GB"` (10^9), `"5GiB"` (2^30), `"512"` or an int: bytes. Raises ValueError with what is wanted."""
    if isinstance(text, int) and not isinstance(text, bool) and text >= 0:
        return text
    match = re.fullmatch(_SIZE, str(text).lower())
    if not match or match[2] not in _BYTES:
        raise ValueError('a size such as "5GB", "512MiB" or a number of bytes')
    return round(float(match[1]) * _BYTES[match[2]])


def format_duration(seconds: float) -> str:
    """Short and readable: `0.42s`, `12.3s`, `4m05s`, `1h12m`, `3d04h`."""
    if seconds < 1:
        return f"{seconds:.2f}s"
    if seconds < 60:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // 86400}d{whole % 86400 // 3600:02d}h"


def format_size(count: int) -> str:
    """Bytes in decimal units with one digit: `512 B`, `45.1 kB`, `5.0 GB`."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB", "TB", "PB"):
        value /= 1000
        if value < 999.95 or unit == "PB":
            break
    return f"{value:.1f} {unit}"


def counted(number: int, noun: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
