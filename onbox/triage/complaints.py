"""What a program complains of in a paragraph rather than in a line: in a box, below a headline, over several lines.
Pure.

Only what stands behind the last sign of life counts, and only a paragraph that says of itself that it is an error, or
the last one in a frame.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.harmless import is_harmless
from onbox.triage.last_words import INFORMED, without_warnings
from onbox.triage.meaning import ENOUGH, SURE, meaning_of, row_of, without_none
from onbox.triage.reading.going_on import is_handled
from onbox.triage.reading.match import BAD_LEVELS, BY_ID, REMARK_LEVELS, VAGUE_ROWS, WORK_LEVELS, match_row
from onbox.triage.reading.paragraphs import paragraphs
from onbox.triage.reading.record import LOGGED, Fault
from onbox.triage.reading.signs import HOUSEKEEPING
from onbox.triage.reading.tracebacks import HEADER, IGNORED
from onbox.triage.rules.rows import DEATH, SUMMARY, compiled
from onbox.triage.words import CRIES, HINT

if TYPE_CHECKING:
    from onbox.triage.reading.paragraphs import Paragraph
    from onbox.triage.reading.record import LogAttempt, SeenLine
    from onbox.triage.rules.rows import RuleRow

# An error of MATLAB's where it has no screen.
_IN_BRACES = lazy(r"^\{\W{0,3}(?:error|invalid|undefined|unrecognized|unable|index|out of)\b", re.IGNORECASE)
# What a complaint begins with, or says of itself.
_HEADLINE = lazy(
    r"^\W{0,6}(?:\S{1,60} ){0,2}?(?:error|(?-i:ERR)|fatal|abort|exception)\b(?!\s?(?:rate|bar|=|:? ?\d+\.\d))"
    r"|^\W{0,6}(?:\S{1,60} ){0,8}?error\s?:(?! ?[\d.]{1,20}\b)"
    r"|^npm ERR!|^\W{0,6}(?:\S{1,60} ){0,6}?(?<!\d )failed(?= (?:after|to|with|at|in|on|due|because)\b|\W{0,4}$"
    r"|[.:!] )(?!\s?: ?\d)"
    r"|^\W{0,6}(?:\S{1,60} ){0,3}?(?:(?<!\d )failed\b(?!\s?: ?\d)|inconsistency|inconsistent|illegal|cannot|could not"
    r"|unable to)\b"
    r"|\b(?-i:[A-Z]\w{1,60}(?:Exception|Error))\b|\bNOT converged\b|^\W{0,4}(?:failed|stop)\b",
    re.IGNORECASE,
)
_REMARKS = lazy(r"^\W{0,6}(?:\S{1,40} ){0,2}(?:warn(?:ing)?|note|info|hint|tip|notice|debug)\b", re.IGNORECASE)
# Boxes in which launchers sum up, or advise.
_ADVICE = lazy(
    r"^\W{0,6}(?:for more (?:information|details)|please (?:check|see|report|consider)|see also|usage\b|primary job"
    r"|processes: gpu\b"  # the table of nvidia-smi
    r"|mpi_abort was invoked|mpirun (?:noticed|has exited)|this error may|troubleshoot|if you\b)",
    re.IGNORECASE,
)
_FAREWELL = lazy(r"^\W{0,6}(?:shutting down|exiting|saving|cleaning up|closing|good ?bye|bye)\b", re.IGNORECASE)
_POINTER = lazy(r"^[\s~-]{0,200}\^[\s^~-]{0,200}$|^\s{0,12}\|\s{0,200}(?:\^[\s^~-]{0,200}|\d(?:\s{1,80}\d)?\s{0,8})$")
_LAST, _LAST_BOXED = 2, 6  # paragraphs


def complaint(attempt: LogAttempt, tail: tuple[SeenLine, ...], *, dead: bool) -> Fault | None:
    """The complaint that stands behind the last sign of life; None if nothing there complains. dead: other evidence
    says that the process ended badly.
    """
    if attempt.success is not None:
        return None
    marks = (attempt.started, attempt.last_progress)
    after = max((mark.number for mark in marks if mark is not None), default=0)
    since = without_warnings(line for line in tail if line.number > after and not HOUSEKEEPING.search(line.text))
    found = _without_excerpts(paragraphs([line for line in since if not _is_of_trace(line, attempt)]))
    # What the line alone has been judged by; a bare death says too little for that.
    known = {fault.number for fault in attempt.faults if fault.handled or fault.row.explains > DEATH}
    faults = [
        _fault(one, attempt, at_end=sum(map(_says_more, found[at:])) <= (_LAST_BOXED if one.boxed else _LAST))
        for at, one in enumerate(found)
        if known.isdisjoint(line.number for line in one.lines)
        and (dead or one.boxed or one.level is not None or _told_since(one, tail) < INFORMED)
    ]
    return max((one for one in faults if one), key=lambda one: (one.row.explains, -one.number), default=None)


def _without_excerpts(found: list[Paragraph]) -> list[Paragraph]:
    """Without the lines of code that stand over a pointer (`    ^^^^`), and without it."""
    points = [bool(_POINTER.match(one.text)) for one in found] + [False]
    return [one for at, one in enumerate(found) if not (points[at] or points[at + 1])]


def _is_of_trace(line: SeenLine, attempt: LogAttempt) -> bool:
    """Whether it is a frame of a traceback, or its code."""
    return any(one.trace is not None and one.trace.number < line.number < one.number for one in attempt.faults)


def _told_since(said: Paragraph, tail: tuple[SeenLine, ...]) -> int:
    """How many lines of loggers tell what the program did after it."""
    since = [message(line.text) for line in tail if line.number > said.lines[-1].number]
    return sum(one.level in WORK_LEVELS and not _FAREWELL.match(one.text) for one in since)


def _says_more(said: Paragraph) -> bool:
    """Whether it is more than a farewell."""
    return not _FAREWELL.match(said.text)


def _fault(said: Paragraph, attempt: LogAttempt, *, at_end: bool) -> Fault | None:
    said = said._replace(text=without_none(said.text))
    if said.level in REMARK_LEVELS or _REMARKS.match(said.text) or _ADVICE.match(said.text):
        return None
    if HEADER.search(said.text) or IGNORED.search(said.text):
        return None  # read by its own rules
    loud = said.level in BAD_LEVELS or bool(_HEADLINE.search(said.text) or _IN_BRACES.match(said.text))
    if is_harmless(said.text, said.lines[0].text, loud=loud):
        return None
    row = _row_of(said, loud=loud, at_end=at_end)
    if row is not None and row.id == "said-error" and attempt.reached_end:
        return None
    if row is None:
        return None
    shown = _shown(said, row)
    if is_handled(shown.text):
        return None
    return Fault(row, shown.number, shown.text, LOGGED, attempt.progress)


def _row_of(said: Paragraph, *, loud: bool, at_end: bool) -> RuleRow | None:
    if not (loud or (said.boxed and at_end and HINT.search(said.text))):
        return None
    row = match_row(said.text, said.text)
    if row is not None and row.id not in (*VAGUE_ROWS, "other-languages") and row.explains > DEATH:
        return row
    found = meaning_of(said.text, enough=ENOUGH if loud else SURE)
    if found is not None:
        return row_of(found)
    if row is not None and row.explains > SUMMARY:
        return row if row.explains > DEATH else None
    boxed = said.boxed and not is_harmless(said.text, said.text, loud=True)
    cries = boxed or CRIES.search(said.text) or _IN_BRACES.match(said.text) or said.level in BAD_LEVELS
    return BY_ID["said-error"] if cries and at_end else None


def _shown(said: Paragraph, row: RuleRow) -> SeenLine:
    """The line of it that says most: the one that the rule matches, or the longest."""
    hits = [line for line in said.lines if compiled(row.pattern).search(line.text)]
    return hits[0] if hits else max(said.lines, key=lambda line: sum(map(str.isalpha, line.text)))
