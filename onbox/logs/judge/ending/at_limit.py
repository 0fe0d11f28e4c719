"""How far a loop came that shows no counter, where its last word names the limit that it reached. Pure.

Without a bar, Lightning says no more than `Trainer.fit` stopped: `max_steps=300` reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.line.words import UNITS
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

_SO_MANY = r"max_(step|epoch|iter|iteration|update|round)s[\"'`]?\s?[=:]\s?(\d{1,12})(?![\w.])"
_REACHED = lazy(
    rf"(?i)(?<![a-z_]){_SO_MANY}\W{{0,3}}\s(?:(?:was|is|has been) )?reached\b|\breached (?:the )?\W{{0,2}}{_SO_MANY}"
)


class Limit(NamedTuple):
    """How many, and of which unit."""

    number: int
    unit: str


def reached(lines: Sequence[str]) -> Limit | None:
    """The newest such limit; None if the lines name none, or 0."""
    for line in reversed(lines):
        found = _REACHED.search(line)
        if found is not None:
            number = int(found[2] or found[4])
            return Limit(number, UNITS[(found[1] or found[3]).lower()]) if number else None
    return None
