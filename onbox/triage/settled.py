"""From a class that was settled on to the verdict that is shown. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.triage.case_remedies import remedy_of
from onbox.triage.classes import IN_DOUBT, PROCESS_RUNS, READS_AS, READS_WELL, may_repeat
from onbox.triage.rules.rows import SUMMARY
from onbox.triage.signature import signature
from onbox.triage.stacks import stack_around
from onbox.triage.verdict import Diagnosis, FurtherFault

if TYPE_CHECKING:
    from onbox.triage.reading.record import Fault, SeenLine
    from onbox.triage.rules.rows import UserRow
    from onbox.triage.weighing.decide import Decision

LINE_LIMIT = 500
_SMALL = (
    "NameError",
    "ImportError",
    "ModuleNotFoundError",
    "SyntaxError",
    "IndentationError",
    "TabError",
    "UnboundLocalError",
    "KeyError",
)


class SettledClass(NamedTuple):
    """A class that was settled on, before it is dressed as a verdict."""

    failure_class: str
    rule: str
    state: str
    confidence: str
    at: SeenLine | None = None
    fault: Fault | None = None
    remedy: str | None = None  # of this case; None: that of its line, rule or class


def dress(call: SettledClass, decision: Decision, user: UserRow | None, tail: tuple[SeenLine, ...] = ()) -> Diagnosis:
    """The verdict. user: the user's own row that decided, None if it was none of these. tail: the log's last lines."""
    name = call.failure_class
    line = clean(call.at.text) if call.at else None
    said = message(call.at.text).text if call.at else None
    ended = _ended_by(call, decision)
    frame = ended.trace.user_frame if ended and ended.trace else None
    further = (
        FurtherFault(fault.row.failure_class, clean(fault.text), fault.number) for fault in _further(call, decision)
    )
    secondary = (*_candidates(call), *further)
    return Diagnosis(
        name,
        call.state == "dead" and name != "success_healthy",
        call.state,
        line,
        call.at.number if call.at else None,
        call.confidence,
        call.rule,
        (user.remedy if user else None) or call.remedy or remedy_of(name, call.rule, line),
        may_repeat(name, own_word=user.retry if user else None, rule=call.rule),
        signature(name, safe_line(said) if said and name != "success_healthy" else None),
        f"{frame.file}:{frame.line}" if frame else None,
        _is_small_fix(call) and not (frame and frame.is_library),
        secondary,
        _traceback(ended) or _stack(call, tail),
    )


def _candidates(call: SettledClass) -> tuple[FurtherFault, ...]:
    """The classes between which a line does not decide."""
    if call.fault is None:
        return ()
    fault = call.fault
    names = [*([fault.row.failure_class] if call.rule == READS_AS else []), *fault.row.rivals]
    return tuple(FurtherFault(name, clean(fault.text), fault.number) for name in names if name != call.failure_class)


def _ended_by(call: SettledClass, decision: Decision) -> Fault | None:
    """The fault with the traceback that the run ended with: the cause itself, or what ended the program behind a cause
    that has none, as the check does that finds a lost loss. That of a launcher, which only sums up, shows its own code.
    """
    fault = decision.cause if call.rule == IN_DOUBT else call.fault
    if fault is None or fault.trace is not None:
        return fault
    later = [one for one in decision.attempt.faults if one.number >= fault.number]
    return next((one for one in reversed(later) if _is_its_end(one)), None)


def _is_its_end(fault: Fault) -> bool:
    return fault.ended_program and not fault.handled and fault.row.explains > SUMMARY


def _traceback(ended: Fault | None) -> tuple[str, ...]:
    if ended is None or ended.trace is None or not ended.trace.frames:
        return ()
    return tuple(safe_line(line, LINE_LIMIT) for line in ended.trace.as_shown(ended.ended or message(ended.text).text))


def _stack(call: SettledClass, tail: tuple[SeenLine, ...]) -> tuple[str, ...]:
    """The stack of another language around the line that tells of the failure."""
    if call.at is None or call.failure_class == "success_healthy":
        return ()
    return tuple(safe_line(line, LINE_LIMIT) for line in stack_around(call.at.number, tail))


def _further(call: SettledClass, decision: Decision) -> list[Fault]:
    if call.failure_class == "success_healthy" and call.rule not in (IN_DOUBT, PROCESS_RUNS, READS_WELL):
        return []
    found = [*([decision.cause] if decision.cause and decision.cause is not call.fault else []), *decision.others]
    return [fault for fault in found if fault.row.failure_class != call.failure_class][:5]


def _is_small_fix(call: SettledClass) -> bool:
    if call.failure_class != "code_error" or call.at is None:
        return False
    said = message(call.at.text).text.strip().split(":", 1)
    if said[0].rsplit(".", 1)[-1] not in _SMALL:
        return False
    return said[0] != "KeyError" or (len(said) > 1 and said[1].strip()[:1] in "'\"")


def clean(text: str) -> str:
    """A line of the log as it may leave the process."""
    return safe_line(text.strip(), LINE_LIMIT)
