"""A line of the journal with the colour of what happened, for a terminal. Pure."""

from __future__ import annotations

import re

# the word behind time and stage, as `event_text.py` writes it
_WORD = re.compile(r"(\d\d:\d\d:\d\d \S{1,200} {1,12})([A-Za-z]{1,12})\b")
_COLOURS = {
    "FAILED": "1;31",
    "STALLED": "1;31",
    "REFUSED": "1;31",
    "DRIFT": "1;33",
    "interrupted": "33",
    "stopped": "33",
    "retry": "33",
    "done": "32",
}


def coloured(line: str) -> str:
    """The same letters; lines of other words as they are."""
    found = _WORD.match(line)
    colour = _COLOURS.get(found[2]) if found else None
    if found is None or colour is None:
        return line
    return f"{found[1]}\x1b[{colour}m{found[2]}\x1b[0m{line[found.end() :]}"
