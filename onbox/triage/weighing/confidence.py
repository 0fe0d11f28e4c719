"""How sure a verdict is: whether another reading of the same fault is possible. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.regex import lazy
from onbox.triage.meaning import ROWS as SENTENCES
from onbox.triage.reading.record import LOGGED, PROVEN
from onbox.triage.rules.rows import ASKED, BUG, CAUSE, DEATH

if TYPE_CHECKING:
    from onbox.triage.reading.record import Fault
    from onbox.triage.weighing.decide import Decision

CLOSE_RIVAL = 5  # of what a fault explains
_BY_SENTENCE = frozenset(
    {
        "bad-setting",
        "record-damaged",
        "wrong-build",
        "torch-writer",
        "allocation-failed",
        "asks-for-setting",
        "no-such-file",
        "archive-damaged",
        "fortran-read",
        "solver-failed",
        "no-number",
        "settings-library",
        *(row.id for row in SENTENCES.values()),
    }
)
# What the interpreter itself says of a defect; a library that raises the same exception may mean anything by it.
_OWN_WORDS = lazy(
    r"name '\w+' is not defined|has no attribute|unexpected keyword argument|positional argument|unsupported operand"
    r"|object is not (?:callable|iterable|subscriptable)|does not support item|cannot import name|no module named"
    r"|local variable '\w+'|\bKeyError: (?:['\"(]|-?\d)|(?:index|position).{0,40}out of (?:range|bounds)"
    r"|division by zero|invalid syntax|unexpected indent|unindent|not enough values to unpack|too many values to unpack"
    r"|shapes? .{0,80}(?:not aligned|mismatch|broadcast)|can only concatenate|must be str"
    r"|not supported between instances"
)
_BARE_CODE = lazy(r"\b(?:rc|code|status)\W{0,3}124\b")
_ANY_CAUSE = lazy(r"NoneType|\.so\b")


def confidence_in(cause: Fault, decision: Decision) -> str:
    """ "high", "medium" or "low"."""
    if cause.row.failure_class == "unknown":
        return "low"
    if cause.severity == PROVEN and cause.row.explains >= BUG and not _is_doubtful(cause, decision):
        return "high"
    if cause.severity >= LOGGED and cause.row.explains >= ASKED and not decision.weak:
        return "medium"
    return "medium" if cause.severity == PROVEN and cause.row.explains >= DEATH else "low"


def _is_doubtful(cause: Fault, decision: Decision) -> bool:
    """Whether another reading is possible: a class that was read from a sentence, an exception that may come of
    anything, another fault that explains as much.
    """
    if cause.row.rivals or cause.row.id in _BY_SENTENCE or (cause.row.id == "defect" and not _is_own_word(cause.text)):
        return True
    if cause.row.id == "defect" and any(fault.row.explains >= CAUSE for fault in decision.others):
        return True  # a slip that something above may have led to
    if cause.row.id == "time-limit" and _BARE_CODE.search(cause.text):
        return True  # of xargs, 124 means another thing
    if cause.row.id == "not-finite" and decision.attempt.lost_lines == 1:
        return True  # it may be the loss of one part
    if any(fault.row.id == "cancelled" and fault.number > cause.number for fault in decision.others):
        return True  # it was there to be cancelled
    return any(
        fault.severity == PROVEN and fault.row.explains >= cause.row.explains - CLOSE_RIVAL for fault in decision.others
    )


def _is_own_word(text: str) -> bool:
    return _OWN_WORDS.search(text) is not None and _ANY_CAUSE.search(text) is None
