"""Whether a log that has not grown for long says in its last lines that the work is there. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from onbox.logs.model.counts import counts_of
from onbox.logs.model.lines import message
from onbox.logs.outcome import Outcome
from onbox.regex import lazy
from onbox.triage.harmless import is_harmless
from onbox.triage.meaning import without_none
from onbox.triage.reading.outcome import outcome_of
from onbox.triage.weighing.last_lines import says_done
from onbox.triage.weighing.outputs import is_bar, same_form
from onbox.triage.wording.second_reading import form_of
from onbox.triage.wording.sentence import leaning_of
from onbox.triage.words import TROUBLE

if TYPE_CHECKING:
    from onbox.triage.reading.record import LogAttempt, Record, SeenLine

CLOSING_LINES = 5
# Log-odds for a failure: behind a loop, and else, where a start reads well, too.
READS_WELL_BY = {True: 0.0, False: -1.0}
LOOP_LINES = 3
LINES_BEFORE = 1  # a line alone belongs to nobody knows what
NEARLY = 0.9  # of what there is to do
# A step towards the work, such as `loading the index ... done`: what comes next may hang.
_A_STEP = lazy(
    r"\.\.\.? ?\[?(?:done|ok)\b\W*$|\b(?:load\w*|download\w*|fetch\w*|pull\w*|cach\w+|map|token\w+|extract\w*"
    r"|install\w*|import\w*|start-?up|start\w*|initiali[sz]\w+|init|set-?up|warm-?up|prepar\w+)\b",
    re.IGNORECASE,
)
_TOWARDS = lazy(
    r"(?i)\b(?:load(?!er\b)\w*|download\w*|fetch\w*|pull\w*|install\w*|start-?up|start\w*|initiali[sz]\w+|init"
    r"|set-?up|warm-?up)\b|\.\.\."
)
_CLOSES = lazy(r"(?i)\b(?:finished|complete[d]?|over|ok|ran)\b[^:=\d]{0,30}$")
# What it was about to do.
_BEGINS = lazy(
    r"\b(?:starting|started|beginning|begins?|initiali[sz]\w*|init|waiting|waits?|loading|downloading|launching|connecting"
    r"|resuming|listening|serving|running (?:on|at))\b|\.\.\.\W*$",
    re.IGNORECASE,
)
_AT_WORK = lazy(
    r"(?i)^\W*(?:\S{1,40}[:\]] )?(?!(?:every|any|some|no)thing\b)[a-z]{3,14}ing\b"
    r"(?! (?:is |was |has )?(?:over|done|finished|complete[d]?|ended|carried out)\b)"
)  # `compiling the step (this may take a while)`
# Each of several writers tells its own end: `[rank 1] finished`.
_EACH_ENDS = lazy(
    r"(?i)^\W{0,3}(?:rank|worker|proc(?:ess)?|node|gpu|task|\d{1,3}(?:\.\d{1,3}){3})\W{0,2}\d{0,6}\W{1,4}"
    r"(?:is |has )?(?:done|finish(?:ed)?|complete[d]?)\b"
)
_LISTENS = lazy(r"\b(?:\d{1,3}\.){3}\d{1,3}:\d{2,5}\b|\blocalhost:\d|https?://")


def line_of_the_work(record: Record, attempt: LogAttempt) -> SeenLine | None:
    """The last of the closing lines that says so. None where the log ends in a loop, which says it of each round, or in
    a step towards the work, and where a line behind it begins something or says that the work will not be there.
    """
    counted = attempt.last_progress.number if attempt.last_progress else 0
    at = attempt.last_progress
    if not record.tail or (at is not None and not _is_last_word(at, record) and _stands_short(at.text)):
        return None
    if _parts(record):
        return record.tail[-1]
    forms = Counter(_form(line) for line in record.tail)
    for line in reversed(record.tail[-CLOSING_LINES:]):
        if line.number < counted or _BEGINS.search(line.text):
            return None
        if says_done(line.text) and forms[_form(line)] == 1:
            return line
        counts = counts_of(line.text)
        told = outcome_of(line.text.strip())
        if told is Outcome.LOST or any(count.maximum is not None and not count.at_end for count in counts):
            return None
        if forms[_form(line)] > 1:
            continue
        if told is Outcome.MADE or any(count.at_end for count in counts):
            return None if is_step(line.text) else line
    return None


def _is_last_word(step: SeenLine, record: Record) -> bool:
    """Whether a line that counts is the last one, and no bar: `kept 700 of 3005` is all that came out."""
    last = record.last_line
    return last is not None and step.number == last.number and not is_bar(step.text)


def is_said_done(attempt: LogAttempt) -> bool:
    """Whether the log says that the work is done, and not of a part behind which it counted on."""
    return attempt.success is not None and attempt.progress - attempt.progress_at_success <= 1


def _parts(record: Record) -> bool:
    """Whether the last line of all is a new one that reads well, complains of nothing and begins nothing: what hangs
    ends in its loop, or with what it waits for.
    """
    last = record.last_line or record.tail[-1]
    before = [line for line in record.tail if line.number < last.number]
    if len(before) < LINES_BEFORE:
        return False
    said = message(last.text).text
    looped = _looped(before)
    if any(one.search(said) for one in (_BEGINS, _AT_WORK, _LISTENS)) or (is_step(last.text) and not looped):
        return False
    if TROUBLE.search(without_none(last.text)) and not is_harmless(said, last.text):
        return False
    if any(_stands_short(line.text) for line in before[1 - CLOSING_LINES :]):
        return False
    if _EACH_ENDS.match(last.text):
        return True
    if message(last.text).level in ("DEBUG", "WARNING") or leaning_of(last.text) >= READS_WELL_BY[looped]:
        return False
    return not any(same_form(line.text, last.text) for line in before)


def _looped(before: list[SeenLine]) -> bool:
    """Whether some line came again and again: what is told then in another form is no step towards that loop."""
    return max(Counter(map(_form, before)).values(), default=0) >= LOOP_LINES


def _stands_short(text: str) -> bool:
    """Whether the newest line of the loop shows a count that is far from its end."""
    return any(count.maximum is not None and count.value < NEARLY * count.maximum for count in counts_of(text)[:1])


def is_step(text: str) -> bool:
    """Whether a line tells of a step towards the work, not of the work. What is a step of one run (`import ok`,
    `tokens complete`) is all of another one.
    """
    towards = _TOWARDS if _CLOSES.search(message(text).text) else _A_STEP
    return towards.search(text) is not None


def _form(line: SeenLine) -> str:
    return form_of(message(line.text).text)
