"""The lines around a complaint that says little, and what they tell of its reason. Pure.

A bare death, an exception that points elsewhere, a word of giving up: each says that it is over. What it was stands in
the lines before, or in those that the message goes on with.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.harmless import is_harmless
from onbox.triage.last_words import LOOKED_AT, MESSAGE_LINES, fault_of
from onbox.triage.meaning import CLEAR, ENOUGH, ROWS, SURE, meaning_of, row_of
from onbox.triage.reading import signs
from onbox.triage.reading.match import BY_ID, REMARK_LEVELS, progress_of
from onbox.triage.reading.record import LOGGED, WEAK, Fault
from onbox.triage.reading.tracebacks import HEADER
from onbox.triage.rules.demands import MEANT, asks_for_setting
from onbox.triage.rules.rows import BUG, CAUSE, DEATH
from onbox.triage.words import HINT, STOPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.triage.reading.record import LogAttempt, SeenLine

_POINTS_ELSEWHERE = lazy(
    r"\bsee (?:the )?(?:previous|above|root cause|stack trace|log)|root cause above", re.IGNORECASE
)
# It was tried again, and nothing says what.
ONLY_GIVES_UP = lazy(
    r"^\W*(?:[\w.-]{1,30}\W{1,3})?(?:giving|gave|given) up"
    r"(?: after (?:\w+ )?\d{1,6} (?:\w+ )?(?:tries|attempts|retries|restarts|times))?\W*$",
    re.IGNORECASE,
)
_HINTS = lazy(
    r"\W{0,4}(?:hint|note|tip|for more information|to see the (?:full|whole)|re-?run \w{1,20} (?:with|using))\b",
    re.IGNORECASE,
)
_DOES_NOTHING = lazy(r"(?i)\bnothing (?:new )?to (?:do|be done)\b|\bnothing (?:new|changed)\b")
GIVES_UP = lazy(r"\b(?:giving|gave|given) up\b", re.IGNORECASE)
_SUMS_UP = lazy(r"\b(?:overall|total) (?:\w{1,20} )?(?:speed|time|throughput|duration)\b", re.IGNORECASE)
_ATTEMPT = lazy(r"\b(?:attempt|try|retry)\W{0,3}\d{1,6} ?/ ?\d", re.IGNORECASE)


def reason_before(death: Fault, attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> Fault | None:
    """The reason in the lines right before a bare death, which says only that the process is gone, or around an
    exception that points to another one.
    """
    tried = _tried_in_vain(death)
    points = tried or bool(_POINTS_ELSEWHERE.search(death.text))
    if not points and (death.row.explains > DEATH or death.trace is not None):
        return None
    if points and death.trace is None:
        earlier = (one for one in reversed(attempt.faults) if one.number < death.number and one.row.explains >= BUG)
        told = next((one for one in earlier if one.severity > WEAK and not one.handled), None)
        if told is not None:
            return told
    near = [line for line in reversed(tail) if line.number < death.number or (points and not tried)]
    for line in [line for line in near if line.number != death.number][:LOOKED_AT]:
        said = message(line.text)
        if signs.HOUSEKEEPING.search(line.text):
            continue
        known = _known_at(line, attempt) or _setting_asked_for(line, death, attempt)
        if known is not None:
            return known
        if _SUMS_UP.search(said.text):
            continue
        if progress_of(line.text, said) and not _ATTEMPT.search(said.text):
            return None
        found = _meant(line, points=points, tried=tried)
        if found is not None:
            return fault_of(ROWS[found], line, attempt)
    return None


def _tried_in_vain(death: Fault) -> bool:
    """Whether a complaint says only that what was tried again has been given up."""
    if ONLY_GIVES_UP.search(message(death.text).text):
        return True
    return death.row.id == ROWS["network_blip"].id and GIVES_UP.search(death.text) is not None


def _known_at(line: SeenLine, attempt: LogAttempt) -> Fault | None:
    """The fault that a rule knows a line by, where it names a cause."""
    known = next((one for one in attempt.faults if one.number == line.number and one.severity > WEAK), None)
    return known if known is not None and known.row.explains >= CAUSE and not known.handled else None


def _setting_asked_for(line: SeenLine, death: Fault, attempt: LogAttempt) -> Fault | None:
    """The line right before a death that asks for a setting; of who was killed for memory, it explains nothing."""
    said = message(line.text)
    if death.row.failure_class == "host_oom" or line.number != death.number - 1 or said.level in REMARK_LEVELS:
        return None
    if is_harmless(said.text, line.text):
        return None
    return fault_of(MEANT, line, attempt) if asks_for_setting(said.text) else None


def _meant(line: SeenLine, *, points: bool, tried: bool) -> str | None:
    """The class that a line names clearly enough. points, tried: as above; then fewer words are enough."""
    said = message(line.text)
    if is_harmless(said.text, line.text) or said.level in ("INFO", "DEBUG"):
        return None
    leads = points or STOPS.search(said.text) or _ATTEMPT.search(said.text)
    sure = ENOUGH if tried else SURE if leads else CLEAR
    found = meaning_of(said.text, enough=min(sure, SURE))
    return found.failure_class if found is not None and found.score >= sure and not found.rivals else None


def told_in(lines: Sequence[SeenLine], attempt: LogAttempt) -> Fault | None:
    """The fault that one of some lines tells of, where no rule knew any: by the first that means something, or else by
    the first with a word of trouble, as an error of no known kind. None if no line has any.
    """
    lines = [line for line in lines if not (_HINTS.match(message(line.text).text) or _DOES_NOTHING.search(line.text))]
    for line in lines:
        found = meaning_of(message(line.text).text, enough=ENOUGH)
        if found is not None:
            return fault_of(row_of(found), line, attempt)
    troubled = next((line for line in lines if HINT.search(message(line.text).text)), None)
    return fault_of(BY_ID["error-line"], troubled, attempt) if troubled is not None else None


def told_after(error: Fault, tail: tuple[SeenLine, ...]) -> Fault | None:
    """What the message of an exception goes on with, where its first line says only that something failed."""
    if error.row.id != "exception" or error.trace is None:
        return None
    for line in (line for line in tail if 0 < line.number - error.number <= MESSAGE_LINES):
        said = message(line.text)
        if HEADER.search(line.text) or said.level in ("INFO", "DEBUG", "WARNING") or is_harmless(said.text, line.text):
            return None
        found = meaning_of(said.text, enough=CLEAR)
        if found is not None and not found.rivals and found.failure_class != "nccl_or_distributed":  # what it leads to
            return Fault(ROWS[found.failure_class], line.number, line.text, LOGGED, error.progress_before)
    return None
