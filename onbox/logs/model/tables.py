"""Tables with bars between their columns, as evaluations show what came out. Pure."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

_RULE = lazy(r"\|(?:[ :]{0,2}-{2,40}[ :]{0,2}\|){2,40}$")
FRAME_COLUMNS = 2
_FRAME_ROW = lazy(r"\d{1,9}(?: {1,30}(?:-?\d{1,15}(?:\.\d{1,15})?(?:e[-+]\d{1,3})?|NaN)){2,40}$")
_ROW = lazy(r"\|(?:[^|]{0,80}\|){2,40}$")


def is_rule(text: str) -> bool:
    """Whether it is the line below the head of a table: `|-----|---:|`."""
    return _RULE.match(text) is not None


def is_row(text: str) -> bool:
    """Whether it is a row of a table of at least two columns: `| lr1 | FAILED | 1 |`."""
    return _ROW.match(text.strip()) is not None


def frame_at_end(texts: Sequence[str]) -> str | None:
    """The head of the data frame that ends these lines, as pandas and R show one: names, then rows of numbers behind an
    index; None where none does.
    """
    rows = list(takewhile(_FRAME_ROW.match, reversed(texts)))
    head = texts[-len(rows) - 1] if rows and len(rows) < len(texts) else ""
    names = head.split()
    if not head[:1].isspace() or len(names) < FRAME_COLUMNS or any(name[0].isdigit() for name in names):
        return None
    return head if all(len(row.split()) == len(names) + 1 for row in rows) else None


def ends_in_table(texts: Sequence[str]) -> bool:
    """Whether the last of these lines is a row of a table, with a figure in it, and the table's head among them."""
    if not texts or not _ROW.match(texts[-1]) or is_rule(texts[-1]):
        return False
    return any(map(str.isdigit, texts[-1])) and any(map(is_rule, texts[:-1]))
