"""Whether a log's last lines tell that something is left to do, whatever else they say. Pure.

`Completed 1.5 GiB/1.9 GiB with 1 file(s) remaining`. rsync shows `100%` of each file:
`30,000 100%  0.00kB/s  0:00:00 (xfr#20, to-chk=20/41)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.ending.closing_line import closes
from onbox.logs.line.states import read_states
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEFT = lazy(
    r"(?i)(?<![\w-])(?:to|ir)-che?c?k=(?P<unchecked>\d{1,12})/\d{1,12}(?!\d)"
    r"|(?<![\w.,/-])(?P<left>\d{1,12}) (?:files?|items?|objects?|jobs?|tasks?|shards?|chunks?|pages?|rows?)(?:\(s\))?"
    r" (?:are |is |still )?(?:remaining|left|to go|pending)(?![a-z])"
)


def leaves_some(lines: Sequence[str]) -> bool:
    """Whether the newest line that tells how many are left tells of any, and nothing closes behind it; or the newest
    states of a scheduler's tasks do, whatever stands below them.
    """
    states = next(filter(None, map(read_states, reversed(lines))), None)
    if states is not None:
        return states.left > 0
    for line in reversed(lines):
        found = _LEFT.search(line)
        if found is not None:
            return int(found["unchecked"] or found["left"]) > 0
        if closes(line):
            return False
    return False
