"""The faults of an attempt, as its lines are read: found, said more of by the next line, set aside. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.reading import going_on, signs
from onbox.triage.reading.contexts import in_context
from onbox.triage.reading.match import (
    BAD_LEVELS,
    BY_ID,
    HEADS_WARNINGS,
    LISTED_WARNING,
    PROGRESS_MAY_SAY,
    PYTHON_WARNING,
    TRACKER,
    WARNED_IN_R,
    WARNING_IN_R,
    by_meaning,
    by_words,
    match_row,
    severity,
)
from onbox.triage.reading.open_traces import OpenTraces
from onbox.triage.reading.record import LOGGED, PROVEN, WEAK, Fault
from onbox.triage.reading.tracebacks import IGNORED, exception_of
from onbox.triage.rules.rows import DEATH

if TYPE_CHECKING:
    from onbox.logs.model.lines import LogMessage
    from onbox.triage.reading.record import LogAttempt
    from onbox.triage.reading.tracebacks import Trace

SPEAKS_OF = 3  # lines: so far above may stand what a line goes on from
_ASK_TO_END = ("user_interrupt", "preempted", "time_limit")
ADVICE_LINES = 12  # below an exception
_ADVICE = lazy(
    r"(?i)\bthis error\b|\bdeprecat\w+|\binstead\b|https?://"
    r"|\b(?:please|consider|trying to import|you can|use `|pip install|pip or conda)"
    r"|\bif you (?:are|want|know|need|really)\b|\bsafely ignored\b|\bin most cases\b|\bsee the docs\b"
)
_OF_THE_JVM = lazy(r"(?:java|javax|kotlin|scala|org|com|io|net)\.(?:\w+\.)*[A-Z]")
# `Command execution on worker 0 failed with exit status 1. Continuing.`: with the other workers
_LAUNCHER_GOES_ON = lazy(
    r"(?i)\bexit(?:ed)? (?:with )?(?:code|status) [1-9]\d{0,2}\b|\brc\s?[=:]\s?[1-9]\d{0,2}\b|\bFAILED\b"
)
# As in a mail; what was read, and what was said of it; a question and its answer.
_QUOTES = lazy(
    r"[<>] [A-Za-z]|\s{0,12}[\w-]{1,20} {1,12}<- \S|\s{1,12}\[[\w-]{1,20}\] \S"
    r"|\W{0,8}(?:\d{1,9}/\d{1,9}\W{1,3})?(?i:q|a|ref|hyp|src|tgt|question|answer|query|top hit|reference|hypothesis"
    r"|gold|example|ex)\b\.?(?: ?\([\d.]{1,8}\))?\s?: \S"
)
_OF_EARLIER = lazy(r"(?i)\b(?:attempt|try) #?\d{1,3} (?:ended|failed|died|exited|crashed|was)\b")
_AT_EXIT = lazy(r"\b(?:at|to|during|on|while) (?:exit\w*|shut(?:ting )?down|teardown)\b", re.IGNORECASE)

FAULTS_KEPT = 400
ALIKE_KEPT = 8  # of one rule, the first ones
IN_ADDITION = 4  # lines
LED_IN_WITHIN = 2  # lines
HEADLINES = ("fatal-level", "solver-settings", "solver-failed")  # rows of which a line may only announce the reason
GO_ON = ("exception", "other-languages")  # and rows of which a line may stop before its message: `Error in fit(x) :`


class Faults:
    """Takes lines, and adds what they tell to an attempt's faults. traces: the tracebacks that are open. awaited: a
    fault that its writer's next line says more of, and who that is.
    """

    def __init__(self) -> None:
        self.traces = OpenTraces()
        self.awaited: tuple[Fault, str] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the next line may belong to what was said before."""
        return bool(self.traces) or self.awaited is not None

    def leap(self) -> None:
        """Lines were left out."""
        self.awaited = None
        self.traces.clear()

    def note(
        self,
        attempt: LogAttempt,
        number: int,
        text: str,
        said: LogMessage,
        previous: str,
        *,
        is_progress: bool,
        spoken: bool,
    ) -> bool:
        """Add the fault that a line tells of, if it does; whether it is a death. previous: the line before. spoken: it
        may be what a model was asked, or has answered.
        """
        source = self.traces.source_of(said)
        trace = self.traces.by_source.get(source)
        named = exception_of(said.text, in_trace=trace is not None and bool(trace.frames))
        if trace is not None and named and not said.text.endswith(" raised:"):  # the reason comes next
            del self.traces.by_source[source]
        handled = going_on.is_handled(text) and not named
        if handled and not _speaks_of_else(said.text, text):
            mark_handled(attempt, number, text)
        row = match_row(signs.told(said.text).strip(), signs.told(text))
        if row is None and named and (trace or "." in named[0]):
            row = BY_ID["exception"]
        if row is None and said.level in BAD_LEVELS and not handled and not TRACKER.match(text):
            row = by_words(said.text)
        if row is None:
            return False
        row = by_meaning(in_context(row, named, trace), said.text, named)
        if is_progress and row.id in PROGRESS_MAY_SAY and not named:
            return False
        if named is None and signs.is_count(text, previous):
            return False
        sure = min(severity(row, said, text, named, trace), _most_of(said, named, trace, previous))
        if attempt.started is not None and _OF_EARLIER.search(said.text):
            sure = WEAK
        if (named is None or trace is None) and said.level is None and (spoken or _QUOTES.match(text)):
            sure = WEAK
        if _is_warning_in_r(text, previous) and not _adds_to_error(attempt, number):
            sure = WEAK
        own = trace if named else None
        handled = handled or (own is not None and _led_in_by_way_on(own, attempt))
        fault = Fault(row, number, text, sure, attempt.progress, own, handled, said.source)
        fault = fault._replace(informed_before=attempt.informed)
        _keep(fault, attempt)
        goes_on = text.rstrip().endswith(":") and row.id in (*HEADLINES, *GO_ON)
        if goes_on or (fault.trace is not None and fault.trace.warned):
            self.awaited = (fault, said.source)
        return _is_death(fault)

    def follow_up(self, attempt: LogAttempt, number: int, text: str, said: LogMessage) -> None:
        """The line after a headline ("Fatal error:") is the reason. The line after a traceback that a warning led in
        shows whether the writer went on.
        """
        if self.awaited is None:
            return
        (fault, source), self.awaited = self.awaited, None
        faults = attempt.faults
        if not faults or faults[-1] is not fault or said.source != source:
            return
        if fault.row.id in GO_ON and fault.text.rstrip().endswith(":"):
            whole = f"{message(fault.text).text.rstrip()} {said.text.strip()}"
            row = by_meaning(match_row(whole, whole) or fault.row, whole, None)
            faults[-1] = fault._replace(row=row, number=number, text=text)
        elif fault.trace is not None:
            if said.level is not None and said.level not in BAD_LEVELS and not fault.ended_program:
                faults[-1] = fault._replace(handled=True)
        elif match_row(said.text.strip(), text) is None:
            faults[-1] = fault._replace(number=number, text=text)


def _led_in_by_way_on(trace: Trace, attempt: LogAttempt) -> bool:
    """Whether the line that leads a traceback in says what is done in spite of it: `2 retries remaining, ...:`."""
    if trace.of_loguru and going_on.is_handled(trace.before):
        return True
    led = attempt.faults[-1] if attempt.faults else None
    if led is None or trace.ends_program or not 0 < trace.number - led.number <= LED_IN_WITHIN:
        return False
    return led.handled and led.text.rstrip().endswith(":")


def late_fault(number: int, text: str, progress: int, *, is_progress: bool) -> Fault | None:
    """The fault that the last line of a flood tells of, looked at after all. progress: lines of it before."""
    said = message(text)
    row = match_row(said.text.strip(), text)
    if row is None or going_on.is_handled(text) or (is_progress and row.id in PROGRESS_MAY_SAY):
        return None
    named = exception_of(said.text, in_trace=False)
    return Fault(row, number, text, severity(row, said, text, named, None), progress)


def mark_handled(attempt: LogAttempt, number: int, text: str) -> None:
    """A line that says it goes on may speak of the fault right before it, and of those that stand directly above it."""
    faults, reached = attempt.faults, number - SPEAKS_OF
    for at in range(len(faults) - 1, -1, -1):
        is_death = (faults[at].row.fatal and faults[at].trace is None) or _outlived_by_threads(faults[at], text)
        if faults[at].number > number:
            continue
        if _is_advice_on(faults[at], number, text) or (faults[at].ended_program and _LAUNCHER_GOES_ON.search(text)):
            return
        if faults[at].number < reached:
            return
        if faults[at].row.failure_class in _ASK_TO_END and not going_on.BEGUN_ANEW.search(text):
            return  # what is kept of its work, makes no end of it undone
        if is_death and going_on.MEANT.search(text):
            del faults[at]
            return
        if is_death and not _is_begun_anew(faults[at], text):
            return
        reached = faults[at].number - 1
        faults[at] = faults[at]._replace(handled=True)


def _outlived_by_threads(fault: Fault, text: str) -> bool:
    """Whether an exception ended the program, and a library's logger warns of what its threads still do."""
    return fault.ended_program and message(text).level == "WARNING"


def _is_advice_on(fault: Fault, number: int, text: str) -> bool:
    """Whether a line is more of what an exception says which nobody caught: what to write instead, where to read on."""
    shown = fault.trace is not None and fault.row.id == "defect"  # by a logger, with what Python says below it
    return (fault.ended_program or shown) and 0 < number - fault.number <= ADVICE_LINES and bool(_ADVICE.search(text))


def _is_begun_anew(fault: Fault, text: str) -> bool:
    """Whether somebody began anew what had died; a worker that is, brings no program back."""
    if not going_on.BEGUN_ANEW.search(text):
        return False
    return not (fault.ended_program and "worker" in text.lower())


def _most_of(said: LogMessage, named: tuple[str, str] | None, trace: Trace | None, previous: str) -> int:
    """How sure a fault can be, by the line before it."""
    if named is None:
        goes_on = previous.rstrip().endswith(":") and PYTHON_WARNING.search(previous)
        return WEAK if goes_on else PROVEN  # what a warning goes on with
    if trace is not None:
        return PROVEN
    if IGNORED.search(previous):
        return WEAK  # Python tells of it and goes on
    return PROVEN if said.level else _most_below(previous, said.source, named[0])


def _most_below(previous: str, source: str, name: str) -> int:
    """How sure an exception's line can be that stands below a line of a logger: a warning, or what came of one request,
    ends nothing. An error may, also where a server lives on that has failed to start what it was to serve.
    """
    before = message(previous)
    if before.level is None or before.source != source:
        return PROVEN
    if before.level == "WARNING" or signs.is_of_another(previous):
        return WEAK
    shown = before.level in BAD_LEVELS and _OF_THE_JVM.match(name)  # what nobody caught has a headline of its own
    return LOGGED if shown else PROVEN


def _is_warning_in_r(text: str, previous: str) -> bool:
    """Whether R tells a warning: with its call, below its call, or in the list of all."""
    if LISTED_WARNING.match(text):
        return bool(HEADS_WARNINGS.search(previous) or LISTED_WARNING.match(previous))
    return bool(WARNING_IN_R.match(text) or (text[:1] == " " and WARNED_IN_R.match(previous)))


def _adds_to_error(attempt: LogAttempt, number: int) -> bool:
    """Whether an error stands right before a warning, which R then tells "in addition"."""
    return bool(attempt.faults) and number - attempt.faults[-1].number <= IN_ADDITION


def tells_a_way_on(text: str) -> bool:
    """Whether a line says that the program goes on in spite of what it told right before."""
    said = message(text).text
    return going_on.is_handled(text) and exception_of(said, in_trace=False) is None and not _speaks_of_else(said, text)


def _speaks_of_else(said: str, text: str) -> bool:
    """Whether a line that tells of a way on speaks of what comes next (Python's "Exception ignored in"), of a tracker's
    own trouble, or of what happens while the program ends.
    """
    return bool(IGNORED.search(said) or TRACKER.match(text) or _AT_EXIT.search(said))


def _is_death(fault: Fault) -> bool:
    """Whether the run may have ended with it, so that what looks like a beginning behind it is one. A traceback that a
    logger wrote is often the last thing that is told, too.
    """
    if fault.severity == LOGGED and fault.trace is not None and fault.trace.caught and not fault.handled:
        return True
    ended = fault.trace is not None and fault.trace.ends_program
    return fault.severity == PROVEN and (ended or fault.row.explains >= DEATH) and not fault.handled


def _keep(fault: Fault, attempt: LogAttempt) -> None:
    faults = attempt.faults
    faults.append(fault)
    if len(faults) <= FAULTS_KEPT:
        return
    counts: dict[str, int] = {}
    kept = []
    for item in faults:  # the first ones of each rule since the last progress, and the latest of all
        counts[item.row.id] = counts.get(item.row.id, 0) + 1
        if counts[item.row.id] <= ALIKE_KEPT or item.progress_before >= attempt.progress - 3:
            kept.append(item)
    attempt.faults = kept[: FAULTS_KEPT // 2] + kept[FAULTS_KEPT // 2 :][-FAULTS_KEPT // 4 :]
