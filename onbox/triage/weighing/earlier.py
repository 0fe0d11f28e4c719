"""What stands in a log and explains nothing of its end: of a run before, of a job's script, of who was ended with the
rest. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.regex import lazy
from onbox.triage.reading.record import WEAK
from onbox.triage.rules.rows import DEATH, SUMMARY
from onbox.triage.weighing.claims import OF_A_STEP

if TYPE_CHECKING:
    from onbox.triage.reading.record import Fault, Record

# Of Slurm, without a reason of its own.
_OF_A_JOB = lazy(r"\*\*\* JOB \d{1,12} ON \S{1,80} CANCELLED AT \S{1,40} \*\*\*")
APART = 40  # lines between two tracebacks: too many for two processes that die of one thing
SAME_AT_END = 3  # lines
SCRIPT_LINES = 10  # first lines


def ended_the_rest(fault: Fault, live: list[Fault]) -> bool:
    """Whether Slurm ended what was left of a step, in which somebody else had died: nobody cancelled the job."""
    if fault.row.id != "cancelled" or not OF_A_STEP.search(fault.text):
        return False
    return any(one.number < fault.number and one.severity > WEAK and one.row.explains > SUMMARY for one in live)


def is_of_an_earlier_run(fault: Fault, live: list[Fault], record: Record) -> bool:
    """Whether a program ended with it, and far below another one was begun, in the same file, and ended with a
    traceback of its own; or the log ends with one complaint again and again.
    """
    if fault.number < record.lines - APART and _ends_with_one_complaint(record, live):
        return fault.text != record.tail[-1].text
    if fault.trace is None or not fault.ended_program:
        return False
    later = [one for one in live if one.trace is not None and one.trace.number - fault.number > APART]
    return any(one.ended_program and one.row.explains > DEATH and not one.trace.chained for one in later if one.trace)


def _ends_with_one_complaint(record: Record, live: list[Fault]) -> bool:
    last = [line.text for line in record.tail[-SAME_AT_END:]]
    is_one = len(last) == SAME_AT_END and len(set(last)) == 1
    return is_one and any(one.number == record.tail[-1].number for one in live)


def was_there_before(fault: Fault, live: list[Fault]) -> bool:
    """Whether the first lines of a job's script complained, and somebody cancelled the whole job later: so it ran."""
    is_of_script = fault.row.failure_class in ("code_error", "config_error") and fault.number <= SCRIPT_LINES
    return (
        is_of_script
        and not fault.progress_before
        and any(one.row.id == "cancelled" and _OF_A_JOB.search(one.text) for one in live if one.number > fault.number)
    )
