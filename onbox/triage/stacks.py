"""The stack that a log ends with, of whatever language: a headline, and below it frames. Pure.

Python's own tracebacks are read elsewhere; here only the shape of the others is known, so that a program that died in a
language of which no rule knows the words is not called alive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.harmless import is_harmless
from onbox.triage.meaning import ROWS, meaning_of
from onbox.triage.reading.match import BAD_LEVELS, BY_ID, match_row
from onbox.triage.reading.record import LOGGED, Fault
from onbox.triage.reading.signs import is_of_another
from onbox.triage.rules.rows import DEATH

if TYPE_CHECKING:
    from onbox.triage.reading.record import LogAttempt, SeenLine
    from onbox.triage.rules.rows import RuleRow

BEHIND = 4  # lines that may stand behind the last frame
FRAME = lazy(
    r"^\s+at \S+|^\s+from \S{1,200}:\d+:in |^stack traceback:|^\s+\[C\]: in |^\s+\S{1,200}:\d+: in (?:main chunk"
    r"|function|method"
    r"|upvalue|local|field)|^\s+while (?:executing|compiling)|^\s+invoked from within|^\s+\((?:file|procedure) \""
    r"|^Raised (?:at|by) |^Called from |^CallStack \(from|^\s+\(\w[\w ]{0,40}[\d.]{1,12}\) \S{1,200}:\d+:"
    r"|^Stacktrace:|^Stack trace:|^Backtrace\b|^goroutine \d+ \[|^#\d{1,4} {1,8}\S|^error: called from"
    r"|^\s+\S{1,200}\.exs?:\d+:|^\s+@\s+0x[0-9a-f]{4,20} "
)


def last_stack(attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> Fault | None:
    """The headline of the stack at the log's end; None if it does not end with one."""
    if attempt.success is not None:
        return None
    life = max((mark.number for mark in (attempt.started, attempt.last_progress) if mark), default=0)
    lines = [line for line in tail if line.number > life]
    frames = [at for at, line in enumerate(lines) if FRAME.search(line.text)]
    if not frames or len(lines) - frames[-1] - 1 > BEHIND:
        return None
    first = frames[-1]
    while first - 1 in frames:
        first -= 1
    above = [line for line in reversed(lines[:first]) if len(line.text.split()) > 1]
    if not above:
        return None
    head = above[0]
    if len(above) > 1 and message(head.text).level is None and is_shown_by(above[1].text):
        return None
    said = message(head.text)
    if said.level not in (None, *BAD_LEVELS) or is_harmless(said.text, head.text, loud=True):
        return None
    return Fault(_row_of(said.text, head.text), *head, LOGGED, attempt.progress)


def is_shown_by(above: str) -> bool:
    """Whether the line above a headline is a logger's warning, or tells of one request to a server."""
    return message(above).level == "WARNING" or is_of_another(above)


def _row_of(said: str, text: str) -> RuleRow:
    row = match_row(said.strip(), text)
    if row is not None and row.explains > DEATH and row.id != "error-line":
        return row
    found = meaning_of(said)
    return ROWS[found.failure_class] if found is not None and not found.rivals else BY_ID["exception"]
