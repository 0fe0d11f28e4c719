"""What follows a program's last words and was printed before them: it had waited in a buffer. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.reading import signs
from onbox.triage.reading.faults import tells_a_way_on
from onbox.triage.reading.match import QUIET_LEVELS
from onbox.triage.reading.record import PROVEN, WEAK
from onbox.triage.rules.rows import CAUSE, DEATH
from onbox.triage.stacks import FRAME
from onbox.triage.weighing.last_lines import says_done
from onbox.triage.weighing.outputs import complains
from onbox.triage.weighing.scene import INFORMED

if TYPE_CHECKING:
    from onbox.triage.reading.record import Fault
    from onbox.triage.weighing.scene import Scene

_ENDS_PROGRAM = ("fortran", "fortran-read", "other-languages")  # the runtime of a language that ends what it tells of
_OF_MANY_THREADS = lazy(r"Exception in thread |panic: |thread '|fatal error: ")  # of which others print on
_CLOCK = lazy(r"\b\d\d:\d\d:\d\d[.,]\d{3,6}\b")
_IMPORTS = lazy(r"(?:import|from) \w")


def _is_told_between(fault: Fault, scene: Scene) -> bool:
    """Whether a logger told of something between a death and the steps behind it: what a buffer held comes at once."""
    life = scene.attempt.last_progress
    between = (line for line in scene.record.tail if life and fault.number < line.number < life.number)
    return any(message(line.text).level in QUIET_LEVELS for line in between)


def was_overtaken(fault: Fault, scene: Scene) -> bool:
    """Whether what follows a program's last exception is only what had waited in its buffer."""
    attempt, trace = scene.attempt, fault.trace
    if scene.exited_zero:
        return False
    if trace is None and signs.UNCAUGHT.match(fault.text):
        return _waited_behind(fault, scene) or _came_first(fault, scene)  # a runtime's logger may wait as well
    if _is_told_between(fault, scene) or _is_younger(fault, scene) or _is_shown_by_the_living(fault):
        return False
    if attempt.informed - fault.informed_before >= INFORMED:
        return False  # no logger waits
    if trace is None and fault.row.id in _ENDS_PROGRAM and attempt.progress > fault.progress_before:
        return _stands_right_before(fault, scene) and _waited_behind(fault, scene)
    if trace is None and fault.row.explains >= CAUSE and fault.severity > WEAK and not fault.handled:
        end = attempt.last_progress.number if attempt.last_progress else 0
        if end < fault.number:
            return False
        died = any(other.number > end and 0 < other.row.explains <= DEATH for other in attempt.faults)
        return died and attempt.success is None and attempt.steps.came_from_a_buffer(fault.progress_before, cut=False)
    if (
        trace is None
        or trace.is_of_generated
        or not trace.ends_program
        or fault.severity < PROVEN
        or fault.handled
        or attempt.reached_end
    ):
        return False
    if _IMPORTS.match(trace.code[-1] if trace.code else ""):
        return False  # nothing has been printed before its imports
    if any(other.number > fault.number and other.severity == PROVEN for other in attempt.faults if not other.trace):
        return False  # the shell or the scheduler has spoken since
    last = scene.record.last_line
    if last is not None and says_done(last.text):
        return False  # which nobody says who was not there any more
    return attempt.success is None and attempt.steps.came_from_a_buffer(fault.progress_before, cut=trace.cut)


def _is_younger(fault: Fault, scene: Scene) -> bool:
    """Whether the first time of day behind a traceback is later than that of the complaint right above it: what waits
    in a buffer is older.
    """
    told = _CLOCK.search(fault.trace.before) if fault.trace is not None and complains(fault.trace.before) else None
    below = (_CLOCK.search(line.text) for line in scene.record.tail if line.number > fault.number)
    first = next(filter(None, below), None)
    return told is not None and first is not None and told[0] < first[0]


def _is_shown_by_the_living(fault: Fault) -> bool:
    """Whether the line above a traceback complains, and says that whoever shows it goes on."""
    said = fault.trace.before if fault.trace is not None else ""
    return complains(said) and tells_a_way_on(said)


def _waited_behind(fault: Fault, scene: Scene) -> bool:
    """Whether the steps behind a death begin where none had been told before, and nobody says that they were all."""
    attempt = scene.attempt
    return attempt.success is None and attempt.steps.came_from_a_buffer(fault.progress_before, cut=False)


def _came_first(fault: Fault, scene: Scene) -> bool:
    """Whether the first line of all is what ended a script of Ruby, PHP or Lua: all that it ever told had waited."""
    attempt = scene.attempt
    return fault.number == 1 and not _OF_MANY_THREADS.match(fault.text) and attempt.success is None


def _stands_right_before(fault: Fault, scene: Scene) -> bool:
    """Whether nothing but its stack stands between a fault and the steps behind it, so that nobody began anew there."""
    if fault.row.id != "other-languages":
        return True  # a runtime ends the program that it speaks of
    first = next((step[1] for step in scene.attempt.steps.kept if step[0] > fault.progress_before), 0)
    between = [line.text for line in scene.record.tail if fault.number < line.number < first]
    return all(FRAME.search(text) or not text.strip() for text in between)
