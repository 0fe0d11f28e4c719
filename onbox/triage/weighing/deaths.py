"""A death that a runtime or a shell tells of, and only closing words behind it. Pure.

Whoever says so knows that the program is gone: what else is told was told by somebody who started it, and would have
been told in any case. Only work that goes on, or a figure that somebody has computed since, says otherwise.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.epilogue import HOUSEWORK, is_of_who_started, tells_step_failed
from onbox.triage.reading import signs
from onbox.triage.reading.outcome import outcome_of
from onbox.triage.reading.record import LOGGED, PROVEN
from onbox.triage.reading.success import is_success, is_test_report
from onbox.triage.rules.rows import DEATH, REASON, SUMMARY
from onbox.triage.weighing.after_success import has_given_up
from onbox.triage.weighing.claims import OWN_LIMIT
from onbox.triage.weighing.outputs import names_result, told_of
from onbox.triage.weighing.scene import INFORMED
from onbox.triage.words import SMALL_TOOL

if TYPE_CHECKING:
    from onbox.triage.reading.record import Fault
    from onbox.triage.weighing.scene import Scene

CLOSING_LINES = 4
ON_THE_WAY = 40  # lines
_JOB_ENDED = lazy(r"\*{3} JOB \d\S{0,40} ON \S{1,80} CANCELLED AT \S{1,40}(?: DUE TO TIME LIMIT)? \*{3}")
_MEASURED = lazy(r"\d\.\d|\d ?%|\b(?:passed|accuracy|score|start-?up|running on|listening)\b", re.IGNORECASE)


def tells_of_a_job(fault: Fault) -> bool:
    """Whether it is Slurm's word on a whole job, which it puts into no queue again."""
    return _JOB_ENDED.search(fault.text) is not None


def was_ended_as_a_job(fault: Fault, scene: Scene) -> bool:
    """Whether Slurm ended the whole job: what follows was on its way by then."""
    if not tells_of_a_job(fault):
        return False
    return scene.end - fault.number <= ON_THE_WAY or not scene.attempt.signs_after(fault)


def is_dead_for_sure(fault: Fault, scene: Scene) -> bool:
    """Whether a program is dead by the word of its runtime or its shell, or refused its command line, and nobody worked
    since.
    """
    if scene.dead or scene.exited_zero or fault.handled or not _is_death(fault, scene):
        return False
    attempt = scene.attempt
    if attempt.reached_end or (attempt.success is not None and attempt.success.number < fault.number):
        return False  # it died behind its work
    if attempt.signs_after(fault) or attempt.informed - fault.informed_before >= INFORMED:
        return False
    since = told_of(line for line in scene.record.tail if line.number > fault.number)
    if tells_step_failed(message(fault.text).text) and any(names_result(line.text) for line in since):
        return False
    return 0 < len(since) <= CLOSING_LINES and all(_only_closes(line.text) for line in since)


def _only_closes(text: str) -> bool:
    """Whether a line says no more than that something has ended, or was put away."""
    said = message(text).text
    if _MEASURED.search(said) or is_test_report(said):
        return False
    closes = is_of_who_started(text) or HOUSEWORK.match(said) or is_success(said)
    return bool(closes) or outcome_of(text) is not None


def _is_death(fault: Fault, scene: Scene) -> bool:
    if fault.trace is not None:
        return fault.severity == PROVEN and fault.trace.ends_program and not fault.trace.is_shown
    given_up = not SMALL_TOOL.match(fault.text) and has_given_up(fault, scene)
    if fault.row.id == "usage" or given_up or signs.UNCAUGHT.match(fault.text):
        return True
    if fault.severity >= LOGGED and tells_step_failed(message(fault.text).text):
        return True
    if OWN_LIMIT.search(message(fault.text).text) or OWN_LIMIT.search(fault.text):
        return False
    return fault.severity == PROVEN and (SUMMARY < fault.row.explains <= DEATH or fault.row.explains == REASON)
