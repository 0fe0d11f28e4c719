"""What the lines around an error tell, where the error itself says only that something failed. Pure.

Programs tell a failure in a few lines: the trouble, the place, the advice, the farewell. Which of them a rule knows is
chance; so where it is one of the empty ones, the others are asked: a few before it, after the last sign of life, and a
few behind it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.harmless import is_harmless
from onbox.triage.last_words import without_warnings
from onbox.triage.meaning import ENOUGH, ROWS, SURE, meaning_of
from onbox.triage.reading.match import (
    BAD_LEVELS,
    BY_ID,
    QUIET_LEVELS,
    REMARK_LEVELS,
    VAGUE_ROWS,
    by_meaning,
    match_row,
    progress_of,
)
from onbox.triage.reading.paragraphs import paragraphs
from onbox.triage.reading.record import LOGGED, Fault
from onbox.triage.rules.rows import CAUSE, DEATH
from onbox.triage.words import HINT, LOUD, SMALL_TOOL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.triage.reading.record import LogAttempt, SeenLine
    from onbox.triage.rules.rows import RuleRow

BEFORE, AFTER = 12, 25  # lines
ANNOUNCED = 2  # lines before
HEADLINE = 4  # lines above a stack: so near stands what a logger says of it
WARNED = 4  # lines before: so near, a warning that a rule knows is the reason
EMPTY_ROWS = (*VAGUE_ROWS, "other-languages", "launcher", "says-it-failed", "aborted", "crash-signal")
_FOLLOW = ("user_interrupt", "preempted", "time_limit", "nccl_or_distributed")  # what launchers sum up with
_TAKES_UP = lazy(
    r"\b(?:resum(?:e|ing)|restor(?:e|ing)|continuing"
    r"|(?:loading|reading) (?:the )?(?:last |saved )?(?:checkpoint|snapshot|state)"
    r"|(?:loading|reading) (?:the |a )?(?:\w{1,20} )?(?:model|weights)"
    r"|(?:checkpoint|snapshot|state|restart) file)\b",
    re.IGNORECASE,
)
_OF_STATE = lazy(r"(?i)(?<![a-z])(?:ckpt|check-?point|snapshot)(?![a-z])")
_NO_STATE = lazy(r"(?i)\b(?:no|none of the) (?:\w{3,12} )?(?:checkpoints?|snapshots?|ckpt)\b")
_STATE_FILE = lazy(r"(?i)\b(?:step|epoch|iter)s?[_-]?\d{1,9}\.(?:npz|pth?|bin|ckpt|safetensors|h5|pkl|msgpack)\b")
_ROOT = lazy(r"^\s*Caused by:? ", re.IGNORECASE)  # Java: the last one of a chain is what happened first


_IS_BARE = lazy(r"\W{0,4}(?:\w{1,20} ){0,2}\w{1,20} ?:\s{0,4}$")  # `Fatal error:`, above what it is


class _Told(NamedTuple):
    """What a line or a paragraph says. weight: a rule's word goes before a guess at what a sentence means."""

    line: SeenLine
    row: RuleRow
    weight: tuple[int, int]


def reads_state(cause: Fault, tail: tuple[SeenLine, ...]) -> bool:
    """Whether the program said there or right before that it takes up what it had saved: what it cannot read then is no
    data. Of a traceback, the line that leads it in has to say that this is what failed.
    """
    if _STATE_FILE.search(cause.text) or any(map(_has_no_state, tail[-ANNOUNCED:])):
        return True
    if cause.trace is not None:
        led = cause.trace.before
        return _OF_STATE.search(led) is not None and LOUD.search(led) is not None
    near = (line.text for line in tail if 0 <= cause.number - line.number <= ANNOUNCED)
    return any(_TAKES_UP.search(text) and not SMALL_TOOL.match(text) for text in near)


def _has_no_state(line: SeenLine) -> bool:
    """Whether a last line says that there is nothing to go on from: `CRITICAL no usable snapshot among 8 files`."""
    said = message(line.text)
    return said.level in BAD_LEVELS and _NO_STATE.search(said.text) is not None


def told_around(cause: Fault, attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> Fault | None:
    """The line around an empty error that tells what it was; None if it says enough itself, or if none does."""
    is_guess = cause.row.id.startswith(("says-", "two-things"))
    if not (cause.row.id in EMPTY_ROWS or is_guess) or cause.trace is not None:
        return None
    own = meaning_of(cause.text, enough=ENOUGH) if is_guess else None
    least = (cause.row.explains, own.score if own else 0) if is_guess else (DEATH, 0)
    life = attempt.last_progress.number if attempt.last_progress else 0
    first = max(life if life < cause.number else 0, cause.number - BEFORE)
    near = [line for line in tail if first < line.number <= cause.number + AFTER and not _is_behind(line, cause)]
    near = list(without_warnings(near))
    told = [one for one in _told(near, cause) if one.weight > least]
    roots = [one for one in told if _ROOT.match(one.line.text)]
    best = max(roots[-1:] or told, key=lambda one: (one.weight, -one.line.number), default=None)
    return Fault(best.row, *best.line, LOGGED, cause.progress_before) if best else None


def headline_of(cause: Fault, tail: tuple[SeenLine, ...]) -> Fault | None:
    """The line of a logger's error that a stack of no Python stands below, where it names what the stack does not."""
    if cause.row.failure_class != "code_error" or cause.trace is not None or message(cause.text).level is not None:
        return None
    near = [line for line in tail if 0 < cause.number - line.number <= HEADLINE]
    above = [line for line in near if message(line.text).level is not None]
    said = message(above[-1].text) if above else None
    if said is None or said.level not in BAD_LEVELS or is_harmless(said.text, above[-1].text, loud=True):
        return None
    row = match_row(said.text.strip(), said.text)
    if row is not None and row.id not in EMPTY_ROWS and row.explains > DEATH and not row.rivals:
        return Fault(row, *above[-1], LOGGED, cause.progress_before)
    found = meaning_of(said.text, enough=ENOUGH)
    named = found is not None and not found.rivals and found.failure_class not in _FOLLOW
    return Fault(ROWS[found.failure_class], *above[-1], LOGGED, cause.progress_before) if found and named else None


def _is_behind(line: SeenLine, cause: Fault) -> bool:
    """Whether a script's small tool misses what a program was to write that had died right before."""
    return line.number > cause.number and cause.row.explains <= DEATH and bool(SMALL_TOOL.match(line.text))


def _told(near: list[SeenLine], cause: Fault) -> Iterable[_Told]:
    for line in near:
        said = message(line.text)
        if said.level in QUIET_LEVELS or progress_of(line.text, said):
            continue
        warned = said.level == "WARNING"
        if warned and not 0 <= cause.number - line.number <= WARNED:
            continue
        yield from _meant(said.text, line, warned=warned)
    for one in paragraphs(near):
        if len(one.lines) < 2 or one.level in REMARK_LEVELS:
            continue
        if one.boxed or HINT.search(one.lines[0].text):
            yield from _meant(one.text, one.lines[_IS_BARE.match(one.lines[0].text) is not None], warned=False)


def _meant(said: str, line: SeenLine, *, warned: bool) -> Iterable[_Told]:
    if _ROOT.match(said):
        root = by_meaning(BY_ID["exception"], said.strip(), None)
        if root.id not in EMPTY_ROWS and not root.rivals:
            yield _Told(line, root, (root.explains, 0))
            return
    loud = bool(LOUD.search(said))
    if not (loud or HINT.search(said)) or is_harmless(said, said, loud=warned):
        return
    row = match_row(said.strip(), said)
    if row is not None and row.id not in EMPTY_ROWS and row.explains > DEATH and not row.rivals:
        if row.explains >= CAUSE or not warned:
            yield _Told(line, row, (row.explains, 0))
        return
    found = meaning_of(said, enough=ENOUGH if loud else SURE)
    if found is not None and not found.rivals and not warned and found.failure_class not in _FOLLOW:
        meant = ROWS[found.failure_class]
        yield _Told(line, meant, (meant.explains, found.score))
