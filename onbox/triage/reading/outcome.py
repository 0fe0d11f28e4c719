"""What the last line of a log says of the work, weighed by what else it speaks of. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.logs.outcome import Outcome, outcome_in
from onbox.regex import lazy
from onbox.triage.meaning import without_none
from onbox.triage.reading.match import LISTED_WARNING
from onbox.triage.reading.signs import MIDWAY, SAVED
from onbox.triage.reading.tracebacks import EXCEPTION
from onbox.triage.words import HINT, TROUBLE

if TYPE_CHECKING:
    from onbox.triage.reading.record import Record

_IN_A_FILE = lazy(
    r"[a-z] (?:in|into|to|as|at|under) (?:\S{0,200}/)?[\w.-]{1,100}\.[A-Za-z][A-Za-z0-9]{1,8}$", re.IGNORECASE
)


def closing_outcome(record: Record) -> Outcome | None:
    """What the last line of a log says of the work; None where it says nothing of it."""
    return outcome_of(record.last_line.text) if record.last_line is not None else None


@lru_cache(64)  # each fault of a log is weighed by the same last line
def outcome_of(text: str) -> Outcome | None:
    """As `outcome_in`, but that nothing is made where the line speaks of a trouble, or of what is saved on the way."""
    said = message(text).text
    if EXCEPTION.match(said) or LISTED_WARNING.match(text):
        return None
    if _IN_A_FILE.search(said) and not HINT.search(said) and not text[:1].isspace():
        return Outcome.MADE
    found = outcome_in(without_none(text))
    if found is Outcome.MADE and (TROUBLE.search(said) or (SAVED.search(said) and MIDWAY.search(said))):
        return None
    return found
