"""Which line to show of a cause: of one class in one burst, the one that a person would point at. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.reading.match import OWN_WORDS
from onbox.triage.reading.record import PROVEN, WEAK
from onbox.triage.reading.signs import lost_loss
from onbox.triage.rules.rows import REASON, compiled

if TYPE_CHECKING:
    from onbox.triage.reading.record import Fault, LogAttempt

_VICTIM = lazy(r"killed process|oom[- ]killed\b|OOMKilled|task.{0,40}killed", re.IGNORECASE)
_STOPS = lazy(r"\b(?:to stop|stopping|stopped|aborting|terminating)\b", re.IGNORECASE)
_WHAT_IS_MISSING = lazy(
    r"gated|api[ _-]?key|token|password|entity|credential|publickey|log(?:ged)? ?in|does not have|access to",
    re.IGNORECASE,
)
_SPEAKS_OF_CARD = lazy(r"\b(?:gpus?|cuda|rocm|accelerators?|cudnn)\b", re.IGNORECASE)


def to_show(cause: Fault, live: list[Fault], attempt: LogAttempt) -> Fault:
    """Of one class in one burst, the line to show: the first that speaks of it, if only as a remark; of a chain of
    exceptions, the last, which the program ended with.
    """
    warned = _warned_of_card(cause, attempt)
    if warned is not None:
        return warned._replace(severity=cause.severity, trace=cause.trace, ended=message(cause.text).text)
    told = _told_before(cause, live, attempt)
    if told is not None:
        ended = message(cause.text).text
        return told._replace(severity=max(cause.severity, told.severity), trace=cause.trace, ended=ended)
    same = [
        fault
        for fault in live
        if fault.row.failure_class == cause.row.failure_class and fault.progress_before == cause.progress_before
    ]
    if cause.trace is None:
        early = [fault for fault in same if fault.row.explains >= cause.row.explains and fault.number < cause.number]
        return early[0]._replace(severity=cause.severity) if early else cause
    later = [
        fault
        for fault in same
        if fault.trace is not None and fault.trace.chained and fault.row.explains >= cause.row.explains
    ]
    first = [
        fault
        for fault in same
        if fault.number < cause.trace.number and fault.row is cause.row and fault.severity == WEAK
    ]
    if first:
        return first[0]._replace(severity=cause.severity, trace=cause.trace, ended=message(cause.text).text)
    return later[0] if later and later[0].number > cause.number and later[0].number - cause.number < 200 else cause


def _warned_of_card(cause: Fault, attempt: LogAttempt) -> Fault | None:
    """A program that stops because it has no card, and says so in its own words, was told why by a warning before."""
    if cause.row.id not in OWN_WORDS or not _SPEAKS_OF_CARD.search(" ".join([cause.text, *_code_of(cause)])):
        return None
    return next(
        (
            fault
            for fault in attempt.faults
            if fault.row.failure_class == "cuda_env"
            and fault.number < cause.number
            and not fault.handled
            and fault.progress_before == cause.progress_before
        ),
        None,
    )


def _code_of(fault: Fault) -> list[str]:
    return fault.trace.code[-1:] if fault.trace else []


def _told_before(cause: Fault, live: list[Fault], attempt: LogAttempt) -> Fault | None:
    """The line that a person would point at, where it is neither the first nor the last of its class: the notice before
    a bare "Terminated", the key that was pressed, the kill among the kernel's lines, a monitor's word on a lost loss.
    """
    meant = (cause.row.failure_class, *cause.row.rivals)
    same = [fault for fault in attempt.faults if fault.row.failure_class in meant and fault != cause]
    if cause.row.id in ("terminated", "bare-terminated"):
        found = [fault for fault in same if fault.row.explains >= REASON and fault.number < cause.number]
    elif cause.row.id == "interrupted":
        found = [fault for fault in same if fault in live and 0 <= cause.number - fault.number < 40]
        found = [fault for fault in found if "^C" in fault.text]
    elif cause.row.id == "oom-kill" and not _VICTIM.search(cause.text):
        found = [fault for fault in same if abs(fault.number - cause.number) < 60 and _VICTIM.search(fault.text)]
    elif cause.row.id == "refused-credentials" and not _WHAT_IS_MISSING.search(cause.text):
        found = [fault for fault in same if fault.severity == PROVEN and 0 <= fault.number - cause.number < 60]
        found = [fault for fault in found if _WHAT_IS_MISSING.search(fault.text)]
    elif cause.row.id == "not-finite" and cause.trace is None:
        found = [fault for fault in same if fault.number > cause.number] if _names_loss(cause) else []
        found = [fault for fault in found if fault.severity > WEAK or _STOPS.search(fault.text)]
    else:
        return None
    return found[0] if found else None


def _names_loss(fault: Fault) -> bool:
    """Whether a line only reports a loss, rather than says what that means."""
    return lost_loss(fault.text) and not compiled(fault.row.pattern).search(fault.text)
