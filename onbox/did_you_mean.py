"""Which known word was probably meant by one that is not known. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

WORD_LIMIT = 80


def meant(word: str, known: Collection[str], *, most: int = 2) -> str:
    """`did you mean "stats" or "status"?`; "" where no known word is near. Case does not matter."""
    if len(word) > WORD_LIMIT:
        return ""  # it is near nothing, and to find that out takes the longer the longer it is

    import difflib  # noqa: PLC0415 - at every start, for a word that is wrong

    by_lower = {one.lower(): one for one in sorted(known)}
    near = [by_lower[one] for one in difflib.get_close_matches(word.lower(), by_lower, n=most)]
    return f"did you mean {' or '.join(map(json.dumps, near))}?" if near else ""


def did_you_mean(word: str, known: Collection[str]) -> str:
    """The end of a message: `; did you mean "…"?`, or all known words where none is near."""
    return f"; {meant(word, known, most=1) or 'known here: ' + ', '.join(sorted(known))}"
