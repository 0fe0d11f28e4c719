"""How many bytes wget has fetched so far, by its bar. Pure."""

from __future__ import annotations

from onbox.regex import lazy

_BAR = lazy(r"\S.{0,80}\s\d{1,3}%\[[=>+ ]{1,200}\]\s{1,12}(\d{1,6}(?:\.\d{1,3})?)([KMG]?)\s")
_BINARY = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def read_fetched(text: str) -> int | None:
    """`d1   56%[=====>    ]  21.45M  9.97MB/s`; None for any other line."""
    bar = _BAR.match(text) if "%[" in text else None
    return None if bar is None else round(float(bar[1]) * _BINARY[bar[2]])
