"""The exact number behind a maximum that a bar rounds, where the log's head tells it. Pure.

`building an index of 64000 vectors` first, and then `encode:  24%|##  | 15.5k/64.0k [00:03<00:08]`.
"""

from __future__ import annotations

from onbox.regex import lazy

_OF_ROUNDED = lazy(r"\d[kMG]?/(\d{1,3}(?:\.\d{1,2})?)([kMG])(?:(?: ?\[)|(?![\w.]))")  # as tqdm writes it, or a loop
_FACTORS = {"k": 10**3, "M": 10**6, "G": 10**9}


def exact_of(line: str, known: frozenset[int]) -> int | None:
    """The only one of the known numbers that is so when it is rounded; None if none or several are."""
    found = _OF_ROUNDED.search(line)
    if found is None:
        return None
    most, factor = float(found[1]), _FACTORS[found[2]]
    off = 0.5 * factor / 10 ** len(found[1].partition(".")[2])
    told = [number for number in known if abs(number - most * factor) <= off]
    return told[0] if len(told) == 1 else None
