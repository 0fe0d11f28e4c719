"""Tables with bars between their columns, as evaluations show what came out. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

_RULE = lazy(r"\|(?:[ :]{0,2}-{2,40}[ :]{0,2}\|){2,40}$")
_ROW = lazy(r"\|(?:[^|]{0,80}\|){2,40}$")


def is_rule(text: str) -> bool:
    """Whether it is the line below the head of a table: `|-----|---:|`."""
    return _RULE.match(text) is not None


def is_row(text: str) -> bool:
    """Whether it is a row of a table of at least two columns: `| lr1 | FAILED | 1 |`."""
    return _ROW.match(text.strip()) is not None


def ends_in_table(texts: Sequence[str]) -> bool:
    """Whether the last of these lines is a row of a table, with a figure in it, and the table's head among them."""
    if not texts or not _ROW.match(texts[-1]) or is_rule(texts[-1]):
        return False
    return any(map(str.isdigit, texts[-1])) and any(map(is_rule, texts[:-1]))
