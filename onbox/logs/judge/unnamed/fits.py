"""How many fits of scikit-learn's search have ended, where the log still shows all of them. Pure.

`[CV 2/3] END C=1, score=0.9` numbers the fold only, and several processes write in any order: they can only be counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST = 2  # one alone may be of anything
_ENDED = lazy(r"\[CV(?: \d{1,4}/\d{1,4})?\] END ")


def fits_ended(lines: Sequence[str], most: int | None) -> int | None:
    """How many of `most` fits; None where no such lines stand there, or more than there are to be."""
    if most is None:
        return None
    ended = sum(1 for line in lines if line.startswith("[CV") and _ENDED.match(line))
    return ended if FEWEST <= ended <= most else None
