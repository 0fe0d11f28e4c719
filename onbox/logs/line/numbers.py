"""Counts and times as progress displays write them. Pure."""

from __future__ import annotations

import re

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

# A count: `1200`, `1,200`, `12.5`, `5.16k`, `1.61kit`. Anything with a letter for thousands is rounded.
# What a letter behind a blank is set to makes it a name: `20000 T=0.02`, `500 B 0.1`; or it begins one: `40 K-means`.
COUNT = (
    r"(?:\d{1,3}(?:[,_']\d{3}){1,6}(?![\d.])|\d{1,18}(?:\.\d{1,18})?)"
    r"(?:(?:(?!\s[A-Z]\s{0,4}[=:]|\s[A-Z]\s{1,4}-?\d)\s)?[kKMGTB](?:i?[bB]|it)?(?![A-Za-z0-9(]|-[A-Za-z]))?"
)
_COUNT_PARTS = lazy(r"([\d,_'.]+)\s?([kKMGTB]?)")
_SEPARATORS = dict.fromkeys(map(ord, ",_'"))  # of thousands
_FACTORS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12}

_CLOCK = lazy(r"(?:(\d{1,9})\s{0,3}(?:days?|d|-)[,\s]{0,3})?(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9}(?:\.\d{1,18})?)$")
_WORDED = lazy(r"(\d{1,18}(?:\.\d{1,18})?)\s{0,3}([a-zμµ]{1,16})[\s,]{0,4}")
_SECONDS = (
    ("us", 1e-6), ("μs", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("mon", 30 * 86400.0), ("mi", 60.0), ("m", 60.0),
    ("s", 1.0), ("h", 3600.0), ("d", 86400.0), ("w", 604800.0), ("y", 365 * 86400.0),
)  # fmt: skip


class ShownCount(NamedTuple):
    """A displayed count. rounded: the display rounded it, so it is no exact number."""

    value: int | float
    rounded: bool


def parse_count(text: str) -> ShownCount:
    """`1,200` -> 1200 exactly; `5.16k` -> 5160, rounded. `text` must match COUNT."""
    parts = _COUNT_PARTS.match(text)
    assert parts is not None
    digits = parts[1].translate(_SEPARATORS).rstrip(".")
    factor = _FACTORS[parts[2]]
    value = round(float(digits) * factor, 6) if "." in digits else int(digits) * factor
    return ShownCount(
        int(value) if float(value).is_integer() and ("." not in digits or factor > 1) else value, factor > 1
    )


def parse_clock(text: str) -> float | None:
    """`1:02:03`, `3:05`, `2 days, 19:51:08`, `3h8m`, `1725.0s`, `2.3 min`: seconds. None if it is no time."""
    text = text.strip().lower()
    found = _CLOCK.match(text)
    if found:
        days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
        return days * 86400 + hours * 3600 + minutes * 60 + seconds
    total, at = 0.0, 0
    for part in _WORDED.finditer(text):
        factor = next((factor for name, factor in _SECONDS if part[2].startswith(name)), None)
        if part.start() != at or factor is None:
            break
        total, at = total + float(part[1]) * factor, part.end()
    return total if at else None


_ABOUT = lazy(
    r"(?i)(?:[~\u2248]|(?<![a-z])(?:about|approx\w*\.?|roughly|around|circa|ca\.?|almost|nearly|some|over|at least"
    r"|more than|less than|fewer than|estimated|est\.?))\W{0,3}$"
)
_OR_MORE = lazy(r"\+|\s?(?:thousand|million|billion|mio|mrd|tsd)(?![a-z])|(?:\.\d+)?e\+?\d", re.IGNORECASE)


def is_exact(text: str, start: int, end: int) -> bool:
    """Whether the number that stands there is told as an exact one: `~5000`, `about 5000`, `5000+` are not."""
    return not _ABOUT.search(text[max(0, start - 16) : start]) and not _OR_MORE.match(text, end)
