"""From what a log holds to the one fault that explains the rest. Pure."""

from __future__ import annotations

import re

from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.around import told_around
from onbox.triage.claims import is_meant, outlives_success
from onbox.triage.complaints import complaint
from onbox.triage.last_words import are_no_words, last_words, reason_before, told_after
from onbox.triage.layers import explained_by
from onbox.triage.reading import signs
from onbox.triage.reading.record import LOGGED, PROVEN, WEAK, Fault, LogAttempt, Record
from onbox.triage.reading.series import lost_figures, series_fault
from onbox.triage.reading.signs import lost_loss
from onbox.triage.reading.tracebacks import SHUTDOWN
from onbox.triage.rules.rows import (
    ASKED,
    BUG,
    CAUSE,
    CONFIG,
    DEATH,
    DIVERGED,
    REASON,
    SUMMARY,
    VAGUE,
    RuleRow,
    compiled,
)
from onbox.triage.rules.table import ROWS
from onbox.triage.stacks import last_stack

_BY_ID = {row.id: row for row in ROWS}
SURVIVED_PROVEN = 3  # lines of progress after an uncaught traceback: other ranks and flushed bars still show one or two
SURVIVED_DEATH = 8  # the same where a launcher counts a death at the end: that one needs a cause near it
GOES_ON = 3  # lines of progress after a word of success: what ended was a part, and the run went on
LOST_LINES = 2  # lines of a lost loss; one alone counts when it is the last
SURVIVED_ASKED = 2  # the same after a signal, which may have asked for a checkpoint only
NEARLY_ASKED = 5
SCALE_FLOOR = 1e-4
LAST_LINES = {"error-line": 3, "said-error": 12}  # rows so vague that they count in so many last lines only
_VICTIM = lazy(r"killed process|oom[- ]killed\b|OOMKilled|task.{0,40}killed", re.IGNORECASE)
_STOPS = lazy(r"\b(?:to stop|stopping|stopped|aborting|terminating)\b", re.IGNORECASE)
_IMPORTS = lazy(r"(?:import|from) \w")
SECOND_HAND = 1  # less than the exception that is raised again with where it was caught: that one is told below
_RAISED_AGAIN = lazy(r": Caught [A-Z]\w+ in (?:\w+ ){1,4}\d|\braised:\s*$|\(\d+ sub-exceptions?\)\s*$")
_INTERRUPT = lazy(r"\bKeyboardInterrupt\b|\b(?:received|caught|got) (?:signal )?SIGINT\b")
_WHAT_IS_MISSING = lazy(
    r"gated|api[ _-]?key|token|password|entity|credential|publickey|log(?:ged)? ?in|does not have|access to",
    re.IGNORECASE,
)
_OWN_WORDS = ("exception", "defect", "bad-setting", "error-line", "said-error", "fatal-level")
_SPEAKS_OF_CARD = lazy(r"\b(?:gpus?|cuda|rocm|accelerators?|cudnn)\b", re.IGNORECASE)
_MAY_BE_NUMBERS = (*_OWN_WORDS, "crash-signal", "aborted", "fortran", "launcher", "other-languages", "solver-failed")
UNFINISHED = RuleRow("unfinished-traceback", "code_error", VAGUE - 5, "", "", "a log that ends inside a traceback", "")


class Decision(NamedTuple):
    """cause: the fault that explains the rest, None if the run has none. others: what else was found and counts, in the
    order of the log. attempt: the one that was judged. weak: the cause rests on remarks alone. lost: the cause is a
    lost loss in a run that may still go on.
    """

    cause: Fault | None
    others: tuple[Fault, ...]
    attempt: LogAttempt
    weak: bool = False
    lost: bool = False


def decide(record: Record, *, dead: bool, well: bool, exited_zero: bool) -> Decision:
    """dead: other evidence says that the process ended badly, so that remarks count too. well: it says that the process
    ended with 0, so that noise at shutdown does not count. exited_zero: so it did, whatever the gates say: no exception
    ended it.
    """
    attempt = judged_attempt(record)
    end = record.last_line.number if record.last_line else 0
    live = [
        fault
        for fault in attempt.faults
        if not (attempt.reached_end and is_meant(fault, record.tail))
        and not _survived(fault, attempt, dead=dead, well=well, exited_zero=exited_zero)
        and not (not dead and _closes_with_result(fault, attempt, end))
        and not _follows_a_death(fault, attempt)
        and fault.number > end - LAST_LINES.get(fault.row.id, end + 1)
    ]
    cut = _unfinished(attempt) if attempt is record.attempts[-1] else None
    if cut is not None and not _survived(cut, attempt, dead=dead, well=well, exited_zero=exited_zero):
        live.append(cut)
    lost = _lost(attempt) or series_fault(attempt)
    sure = [fault for fault in live if fault.severity > WEAK and not fault.handled]
    if not sure and attempt is record.attempts[-1] and not are_no_words(attempt, record.tail):
        words = _concrete(last_words(attempt, record.tail), complaint(attempt, record.tail, dead=dead))
        words = words or last_stack(attempt, record.tail)
        words = None if words and not dead and _closes_with_result(words, attempt, end) else words
        live, sure = (live, sure) if words is None else ([*live, words], [words])
    if not sure and not dead:
        return Decision(_to_show(lost, live, attempt), (), attempt, lost=True) if lost else Decision(None, (), attempt)
    told = [
        fault
        for fault in live
        if not (sure and fault.handled and fault.severity == WEAK and fault.row.explains < CAUSE - 2)
    ]
    ranked = sorted([*told, *([lost] if lost else [])], key=lambda fault: (-_score(fault), fault.number))
    if not ranked:
        return Decision(None, (), attempt)
    below = explained_by(ranked[0], attempt, near=SURVIVED_PROVEN) or reason_before(ranked[0], attempt, record.tail)
    if below is None:
        below = _told_beside(ranked[0], complaint(attempt, record.tail, dead=dead), live) or told_after(
            ranked[0], record.tail
        )
    if below is None and ranked[0].row.id in _MAY_BE_NUMBERS:
        below = lost_figures(record.tail, ranked[0])
    if below is None:
        below = told_around(ranked[0], attempt, record.tail)
    cause = _over(below, ranked[0]) if below else _to_show(ranked[0], live, attempt)
    others = _others(cause, live)
    return Decision(cause, others, attempt, weak=cause.severity == WEAK, lost=ranked[0] is lost and not sure)


GOES_ON_FOR = 3  # lines: so far does the message of an exception reach
_SAYS_LITTLE = ("exception", "said-error", "error-line", "fatal-level")


def _told_beside(cause: Fault, said: Fault | None, live: list[Fault]) -> Fault | None:
    """What says more than a bare death, or than an exception whose message goes on there."""
    if cause.row.explains <= DEATH and cause.trace is None:
        return said if said is not None and said.row.explains > DEATH else None
    if cause.row.id not in _SAYS_LITTLE:
        return None
    if said is not None and said.row.explains >= CONFIG and cause.trace is None:
        return said
    near = (fault for fault in live if 0 < fault.number - cause.number <= GOES_ON_FOR)
    return next((fault for fault in near if fault.row.explains >= CONFIG), None)


def _concrete(words: Fault | None, said: Fault | None) -> Fault | None:
    """Of the last line and the last paragraph, the one that says more."""
    if words is None or said is None:
        return words or said
    return said if said.row.explains > words.row.explains else words


def _over(remark: Fault, error: Fault) -> Fault:
    """A remark that explains an error, with the error's traceback."""
    return remark._replace(severity=LOGGED, trace=error.trace, ended=message(error.text).text)


def judged_attempt(record: Record) -> LogAttempt:
    """The last attempt; the one before, if the last has shown nothing of its own."""
    last = record.attempts[-1]
    if len(record.attempts) > 1 and not last.has_own_fate:
        before = record.attempts[0]
        if any(fault.severity > WEAK for fault in before.faults):
            before.faults.extend(last.faults)
            return before
    return last


def _score(fault: Fault) -> float:
    """How well a fault explains the end: what it names, less the doubt about whether it mattered."""
    doubt = {PROVEN: 0, LOGGED: 15, WEAK: 42}[fault.severity]
    return fault.row.explains - doubt - (SECOND_HAND if _RAISED_AGAIN.search(fault.text) else 0)


def _survived(fault: Fault, attempt: LogAttempt, *, dead: bool, well: bool, exited_zero: bool) -> bool:
    after = attempt.signs_after(fault)
    if not exited_zero and _was_overtaken(fault, attempt):
        return False
    if attempt.success is not None and fault.number < attempt.success.number:
        return not outlives_success(fault, attempt)
    if not dead and _is_worked_on(fault, attempt):
        return True
    went_on = fault.progress_before - attempt.progress_at_success >= GOES_ON
    if attempt.success is not None and after <= 1 and not went_on:
        return _is_shutdown_noise(fault, well=well)
    if fault.severity < PROVEN and (well or (attempt.reached_end and fault.row.explains <= ASKED)):
        return True  # what ends its helpers when its own work is done
    if fault.row.explains == DIVERGED and fault.severity > WEAK and attempt.lost is not None:
        return False
    if fault.severity == PROVEN and not fault.handled:
        if _ends_in_death(attempt, fault):
            return after >= SURVIVED_DEATH
        return after >= SURVIVED_PROVEN or (after >= 1 and _is_habit(fault, attempt))
    if fault.severity > WEAK and not fault.handled and _INTERRUPT.search(fault.text):
        return after >= SURVIVED_PROVEN  # who is asked to end finishes its step, or draws its bar once more
    if fault.severity > WEAK and fault.progress_before and abs(fault.row.explains - ASKED) <= NEARLY_ASKED:
        return after >= SURVIVED_ASKED
    return after >= (SURVIVED_PROVEN if dead else 1)


_LAST_LINES = 3
_MISSED_BY = 10  # lines behind a death, in which a script misses what the dead program was to write


def _follows_a_death(fault: Fault, attempt: LogAttempt) -> bool:
    """Whether a file is missing that a program was to write which had been killed right before."""
    if fault.row.id != "no-such-file" or fault.trace is not None:
        return False
    return any(
        other.severity == PROVEN
        and SUMMARY < other.row.explains <= DEATH
        and 0 < fault.number - other.number <= _MISSED_BY
        and attempt.signs_after(other) == 0
        for other in attempt.faults
    )


def _closes_with_result(fault: Fault, attempt: LogAttempt, end: int) -> bool:
    """Whether a bare complaint was followed by a result that was saved as the last thing of all."""
    if fault.severity == PROVEN or fault.trace is not None or fault.row.explains > CAUSE:
        return False
    if fault.row.explains <= ASKED + NEARLY_ASKED:  # who is asked to end saves what it has
        return False
    saved = attempt.saved
    if saved is None or signs.MIDWAY.search(saved.text):
        return False
    return saved.number > max(fault.number, end - _LAST_LINES)


INFORMED = 3  # lines in which a logger tells what the program does next


def _is_worked_on(fault: Fault, attempt: LogAttempt) -> bool:
    """Whether the program did more after a bare complaint, which may have been a helper's or a tool's."""
    if fault.severity == PROVEN or fault.trace is not None or fault.row.explains > CAUSE:
        return False
    if fault.row.explains <= ASKED and fault.row.id != "connection-lost":  # the others tell of a process that is gone
        return False
    return attempt.informed - fault.informed_before >= INFORMED


SURVIVED_BEFORE = 2  # times
_ENDS_PROGRAM = ("fortran", "fortran-read", "other-languages")  # the runtime of a language that ends what it tells of


def _is_habit(fault: Fault, attempt: LogAttempt) -> bool:
    """Whether the same was raised at the same place before, and each time the run went on: so does it now."""
    frame = fault.trace.user_frame if fault.trace else None
    if frame is None:
        return False
    alike = [
        other
        for other in attempt.faults
        if other.number < fault.number and other.trace and other.row is fault.row and other.trace.user_frame == frame
    ]
    return len(alike) >= SURVIVED_BEFORE and all(attempt.signs_after(other) for other in alike)


def _was_overtaken(fault: Fault, attempt: LogAttempt) -> bool:
    """Whether what follows a program's last exception is only what had waited in the buffer of its standard output."""
    trace = fault.trace
    if trace is None and fault.row.id in _ENDS_PROGRAM and attempt.progress > fault.progress_before:
        return attempt.success is None and attempt.steps.came_from_a_buffer(fault.progress_before, cut=False)
    if trace is None and fault.row.explains >= CAUSE and fault.severity > WEAK and not fault.handled:
        end = attempt.last_progress.number if attempt.last_progress else 0
        if end < fault.number:
            return False
        died = any(other.number > end and 0 < other.row.explains <= DEATH for other in attempt.faults)
        return died and attempt.success is None and attempt.steps.came_from_a_buffer(fault.progress_before, cut=False)
    if trace is None or not trace.ends_program or fault.severity < PROVEN or fault.handled or attempt.reached_end:
        return False
    if _IMPORTS.match(trace.code[-1] if trace.code else ""):
        return False  # nothing has been printed before its imports
    if any(other.number > fault.number and other.severity == PROVEN for other in attempt.faults if not other.trace):
        return False  # the shell or the scheduler has spoken since
    return attempt.success is None and attempt.steps.came_from_a_buffer(fault.progress_before, cut=trace.cut)


def _ends_in_death(attempt: LogAttempt, fault: Fault) -> bool:
    """Whether a launcher or a shell speaks of a death after the last progress."""
    return any(
        other.severity > WEAK
        and other.row.explains <= DEATH
        and other.number > fault.number
        and attempt.progress - other.progress_before <= 1
        for other in attempt.faults
    )


def _is_shutdown_noise(fault: Fault, *, well: bool) -> bool:
    """A fault after the work was done: it counts only if it names a reason or a defect, and not in Python's own end."""
    if well or fault.severity < PROVEN:
        return True
    if fault.trace is not None and (fault.trace.ignored or fault.trace.mentions(SHUTDOWN, last=4)):
        return True
    return fault.row.explains < BUG


def _lost(attempt: LogAttempt) -> Fault | None:
    """The loss is no number any more, or the loss scale fell to nothing."""
    row = _BY_ID["not-finite"]
    if attempt.lost is not None:
        is_last = attempt.last_progress is None or attempt.lost.number >= attempt.last_progress.number
        if attempt.lost_lines >= LOST_LINES or is_last:
            return Fault(row, attempt.lost.number, attempt.lost.text, PROVEN, attempt.progress)
    if len(attempt.overflows) >= 5 and attempt.overflows[-1] <= SCALE_FLOOR and attempt.overflow_line is not None:
        return Fault(row, attempt.overflow_line.number, attempt.overflow_line.text, PROVEN, attempt.progress)
    return None


def _unfinished(attempt: LogAttempt) -> Fault | None:
    """The traceback that the log ends in, or whose exception another writer wrote over."""
    trace = attempt.open_trace
    if trace is None:
        return None
    return Fault(UNFINISHED, trace.latest, trace.last_line, PROVEN, trace.progress, trace)


def _to_show(cause: Fault, live: list[Fault], attempt: LogAttempt) -> Fault:
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
    if cause.row.id not in _OWN_WORDS or not _SPEAKS_OF_CARD.search(" ".join([cause.text, *_code_of(cause)])):
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
    same = [fault for fault in attempt.faults if fault.row.failure_class == cause.row.failure_class and fault != cause]
    if cause.row.id == "terminated":
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


def _others(cause: Fault, live: list[Fault]) -> tuple[Fault, ...]:
    seen = {cause.row.failure_class}
    others = []
    for fault in sorted(live, key=lambda item: (-_score(item), item.number)):
        if fault.row.failure_class not in seen and fault.severity > WEAK and fault.row.explains > SUMMARY:
            seen.add(fault.row.failure_class)
            others.append(fault)
    return tuple(others[:5])
