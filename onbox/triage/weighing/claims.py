"""What a word of success is worth: who says "done" may have been stopped, or have lost what it made. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from onbox.logs.in_vain import NONE_WITHIN, counts_none
from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.reading.match import BY_ID
from onbox.triage.reading.record import LOGGED, WEAK, Fault
from onbox.triage.reading.signs import OF_A_HELPER
from onbox.triage.reading.success import SHUT_DOWN, counts_bad_only, is_test_report
from onbox.triage.rules.rows import ASKED, VAGUE

if TYPE_CHECKING:
    from onbox.triage.reading.record import LogAttempt, Record, SeenLine

ENDS_A_RUN = ("user_interrupt", "time_limit", "preempted")
_LOSES_RESULTS = ("disk_full", "quota_exceeded", "inode_exhausted")
LEAVES_OTHERS = ("nccl_or_distributed",)
REPORTED_WITHIN = 4  # lines
LAST_TOLD = 20  # lines of loggers: who is asked to end tells no more than that
LAST_STEPS = 2  # life signs of one who was asked to end

STOPS_FOR_IT = lazy(
    r"\b(?:stopping|aborting|giving up|signaling \w{1,20} to stop|stop training)\b", re.IGNORECASE
)  # a solver's word, whatever it still writes
OF_A_STEP = lazy(r"\*{3} STEP \S{1,40} (?:ON \S{1,60} )?CANCELLED AT \S{1,40} \*{3}")  # which other steps may follow
# A solver that stops at its own limit has a result.
OWN_LIMIT = lazy(
    r"(?i)^\W{0,3}(?:\[ {0,8}[\d.:]{1,12} ?s?\] )?(?:time|iteration|node|solution) (?:limit|budget)"
    r" (?:was )?(?:reached|hit)(?:\W{0,3}$|[,;:] no (?:further|more|new) \w+)"
)


def nothing_came(tail: tuple[SeenLine, ...]) -> bool:
    """Whether the last lines say that none of the pieces of the work brought anything."""
    told = [line.text for line in tail[-NONE_WITHIN:]]
    return counts_none(told) is not None or any(counts_bad_only(message(text).text) for text in told)


def lost_pieces(record: Record, attempt: LogAttempt) -> Fault | None:
    """The fault that stands for all the lost pieces, where the last lines say that nothing came of them."""
    if not nothing_came(record.tail):
        return None
    pieces = Counter(fault.row.id for fault in attempt.faults)
    if pieces:
        most = pieces.most_common(1)[0][0]
        newest = next(fault for fault in reversed(attempt.faults) if fault.row.id == most)
        return newest._replace(severity=LOGGED, handled=False)
    last = reversed(record.tail[-NONE_WITHIN:])
    bad = next((line for line in last if counts_bad_only(message(line.text).text)), None)
    return Fault(BY_ID["error-line"], bad.number, bad.text, LOGGED, attempt.progress) if bad is not None else None


def outlives_success(fault: Fault, attempt: LogAttempt) -> bool:
    """Whether a fault that came before the word of success still decides.

    Who was asked to end keeps its best and says that it has finished; who could not write says so of what it still has;
    who gave up waiting for a colleague says that its own part is done. A fault that was followed by more work, or by a
    save that worked, is over.
    """
    if fault.severity == WEAK or fault.handled or attempt.success is None:
        return False
    if is_test_report(attempt.success.text) and not _stopped_the_tests(fault, attempt.success):
        return False  # what a test suite provokes
    if OF_A_HELPER.search(fault.text) and fault.trace is None:
        return False
    found = fault.row.rivals[0] if fault.row.failure_class == "unknown" else fault.row.failure_class
    if SHUT_DOWN.search(attempt.success.text):
        return fault.row.explains > VAGUE and attempt.signs_after(fault) == 0
    if found in ENDS_A_RUN and not OWN_LIMIT.search(fault.text) and not OF_A_STEP.search(fault.text):
        if attempt.informed - fault.informed_before >= LAST_TOLD:
            return False
        return fault.severity >= LOGGED and not attempt.reached_end and attempt.signs_after(fault) <= LAST_STEPS
    if found in _LOSES_RESULTS and attempt.signs_after(fault) <= LAST_STEPS:
        return attempt.saved is None or attempt.saved.number < fault.number
    if found == "divergence" and STOPS_FOR_IT.search(fault.text):
        return attempt.signs_after(fault) <= LAST_STEPS
    if found in LEAVES_OTHERS:
        return attempt.signs_after(fault) == 0
    return False


def _stopped_the_tests(fault: Fault, report: SeenLine) -> bool:
    """Whether somebody stopped a test suite, which then reports on the tests that it came to."""
    return fault.row.failure_class == "user_interrupt" and report.number - fault.number <= REPORTED_WITHIN


_ENDS_HELPERS = lazy(
    r"\b(?:send(?:ing|s)?|sent|kill(?:ing|s)?|stopp(?:ing|ed)|terminating|shutting down|cleaning up)\b.{0,40}"
    r"\b(?:SIG(?:KILL|TERM|INT)|workers?|helpers?|servers?|prefetch\w*|daemons?|children|background|tunnel|proxy"
    r"|monitor)\b",
    re.IGNORECASE,
)
ANNOUNCED_BEFORE = 5  # lines


def is_meant(fault: Fault, tail: tuple[SeenLine, ...]) -> bool:
    """Whether a death at the very end was announced: a program that has done its work ends its helpers."""
    if fault.row.explains > ASKED or fault.trace is not None:
        return False
    near = (line for line in tail if 0 < fault.number - line.number <= ANNOUNCED_BEFORE)
    return any(_ENDS_HELPERS.search(line.text) for line in near)
