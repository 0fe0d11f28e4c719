"""How many bytes wget and dd have moved, by whatever form of display. Pure."""

from __future__ import annotations

from onbox.logs.line.sights import CounterSight
from onbox.regex import lazy

_SAVED = lazy(r" saved \[(\d{1,18})/(\d{1,18})\]$")  # wget, at its end
_BAR = lazy(r"\S.{0,80}\s\d{1,3}%\[[=>+ ]{1,200}\]\s{1,12}(\d{1,6}(?:\.\d{1,3})?)([KMG]?)\s")
_DOTS = lazy(r"\s{0,8}(\d{1,12})K ((?:[.,]{1,10} ?){1,5})\s{0,60}\d{1,3}%\s")
_COPIED = lazy(r"(\d{1,18}) bytes .{0,60}copied, ")  # dd
_BINARY = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def read_bytes(text: str) -> CounterSight | None:
    """`d1   56%[=====>    ]  21.45M  9.97MB/s`, ` 100K .......... .....   1% 10.2M 1s`; None for any other line."""
    saved = _SAVED.search(text) if " saved [" in text else None
    if saved is not None:
        return CounterSight("saved", "byte", "train", int(saved[1]), int(saved[2]), False, "saved")
    bar = _BAR.match(text) if "%[" in text else None
    if bar is not None:
        return CounterSight("saved", "byte", "train", round(float(bar[1]) * _BINARY[bar[2]]), None, True, "saved")
    dots = _DOTS.match(text) if "K ." in text else None
    if dots is not None:
        fetched = (int(dots[1]) + dots[2].count(".")) * 1024
        return CounterSight("saved", "byte", "train", fetched, None, False, "dots")
    copied = _COPIED.match(text) if " copied, " in text else None
    return None if copied is None else CounterSight("copied", "byte", "train", int(copied[1]), None, False, "saved")
