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


def without_earlier_runs(told: list[Fault], live: list[Fault], record: Record) -> list[Fault]:
    """Without what a program ended with where, far below, another one was begun in the same file and ended with a
    traceback of its own; and where the log ends with one complaint again and again, without all far above but that.
    live: what else counts.
    """
    again = record.tail[-1].text if _ends_with_one_complaint(record, live) else None
    newest = max((one.trace.number for one in live if one.trace is not None and _ends_a_program(one)), default=0)
    return [one for one in told if not _is_of_an_earlier_run(one, again, newest, record.lines)]


def _is_of_an_earlier_run(fault: Fault, again: str | None, newest: int, lines: int) -> bool:
    if again is not None and fault.number < lines - APART:
        return fault.text != again
    return fault.trace is not None and fault.ended_program and newest - fault.number > APART


def _ends_a_program(fault: Fault) -> bool:
    chained = fault.trace is not None and fault.trace.chained
    return fault.ended_program and fault.row.explains > DEATH and not chained


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
