"""What a rule of the triage is, and how much each kind of finding explains. Pure."""

from __future__ import annotations

import re
from functools import cache

from onbox.named_tuple import NamedTuple

# How much a finding explains. The one that explains most is the cause; between equals, the first in the log.
REASON = 90  # a scheduler, a kernel or a cloud states why it ended the run: the traceback its signal provokes is noise
CAUSE = 80  # names a physical or outer reason: memory, disk, card, credentials, address, file
DIVERGED = 75  # numerically lost: explains the assertion that trips over it
CONFIG = 72  # a setting is wrong: says more than the bare exception beside it
BUG = 70  # an exception that names a defect: KeyError, TypeError, a shape mismatch
VAGUE = 60  # an exception that only says that something failed: RuntimeError, an error class of the program's own
ASKED = 50  # somebody asked the process to end: SIGINT, SIGTERM, a cancel without a stated reason
PEER = 42  # a rank or a worker lost another one
DEATH = 30  # a process is gone, and how: a bare "Killed", an exit by a signal
SUMMARY = 10  # a launcher counts its dead: never a cause while there is another


class RuleRow(NamedTuple):
    """A rule.

    id: unique, shown in the verdict. explains: one of the numbers above. need: small-letter literals without digits,
    separated by `|`, one of which every matching line holds (lines without any are never looked at closely, so a
    missing literal loses matches). pattern: regular expression, searched in one line without regard to case. source:
    who words it so. example: a line that this row, and none before it, matches. fatal: the line is proof of a death
    wherever it stands, whatever its log level. rivals: the classes between which the line does not decide; the
    row's own class is the likeliest, or `unknown` where none is.
    """

    id: str
    failure_class: str
    explains: int
    need: str
    pattern: str
    source: str
    example: str
    fatal: bool = False
    rivals: tuple[str, ...] = ()


class UserRow(NamedTuple):
    """A row of the user's own [[triage]]; it comes before all others. remedy: None keeps the class's own."""

    regex: str
    failure_class: str
    remedy: str | None = None
    retry: bool = False


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compiled at the first use: most logs need few of the rows."""
    return re.compile(pattern, re.IGNORECASE)
