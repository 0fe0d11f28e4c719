"""A complaint that nothing proves, or a traceback that the program had in hand: did it work on? Pure."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.reading import signs
from onbox.triage.reading.record import PROVEN, TAIL, WEAK
from onbox.triage.rules.rows import ASKED, CAUSE, VAGUE
from onbox.triage.stacks import FRAME
from onbox.triage.weighing.scene import INFORMED
from onbox.triage.weighing.went_on import counts_between
from onbox.triage.words import LOUD

if TYPE_CHECKING:
    from onbox.triage.reading.record import Fault
    from onbox.triage.reading.tracebacks import Trace
    from onbox.triage.weighing.scene import Scene

SURVIVED_BEFORE = 2  # times
HABIT = 5  # times that one in hand came again: more than an attempt is made before it is given up
FORM_LETTERS = 12  # a shorter line is told again by chance
SAME_LETTERS = 20  # of two complaints: so they begin alike
LETTERS_KEPT = 2048
TOLD_MUCH = 10  # such lines: more than a program tells while it comes to its end
# Rows so vague that they count in so many last lines only.
LAST_LINES = {"error-line": 3, "line-asks-for-setting": 3, "said-error": 12, "no-driver-tool": 4}
# Reads like an exception's name, and is a tool's complaint: "Error", or what the set-up of a shell is told by.
_OF_A_TOOL = lazy(r"(?:Error|CondaError|CommandNotFoundError): ")


def is_vague_and_far(fault: Fault, scene: Scene) -> bool:
    return fault.number <= scene.end - LAST_LINES.get(fault.row.id, scene.end + 1)


def is_bare(fault: Fault, scene: Scene) -> bool:
    """Whether it is a complaint that nothing proves: it may be a helper's, a tool's, or of one piece of the work."""
    if scene.dead or fault.trace is not None or fault.row.explains > CAUSE:
        return False
    if fault.severity == PROVEN and not _OF_A_TOOL.match(fault.text):
        return False
    return fault.row.explains > ASKED or fault.row.id == "connection-lost"  # the others tell of a process that is gone


def _is_in_hand(fault: Fault, scene: Scene) -> bool:
    """Whether it is a traceback that the program itself wrote into its log: it was alive to do so."""
    if scene.dead or fault.severity >= PROVEN or fault.trace is None or fault.row.explains > CAUSE:
        return False
    return fault.trace.caught


def is_made_again(fault: Fault, scene: Scene) -> bool:
    """Whether a complaint so vague was made before in the same words, and the program worked on between the two. One
    that names a reason may well be the last of its kind.
    """
    if not is_bare(fault, scene) or fault.row.explains > VAGUE:
        return False
    alike = [
        other
        for other in scene.attempt.faults
        if other.number <= fault.number and other.row is fault.row and _opening(other.text) == _opening(fault.text)
    ]
    return any(_did_more(one, next_) for one, next_ in pairwise(alike))


def _opening(text: str) -> str:
    return _letters(text)[:SAME_LETTERS]


def _did_more(one: Fault, next_: Fault) -> bool:
    """Whether the program worked between two complaints."""
    steps = next_.progress_before - one.progress_before
    return steps > 0 or next_.informed_before > one.informed_before


def is_worked_on(fault: Fault, scene: Scene) -> bool:
    """Whether the program did more after a bare complaint, or much more after a traceback that it had in hand."""
    told = scene.attempt.informed - fault.informed_before
    if _is_in_hand(fault, scene) and told >= TOLD_MUCH:
        return not any(LOUD.search(line.text) for line in scene.record.tail if line.number > fault.number)
    return is_bare(fault, scene) and told >= INFORMED


def does_it_again(fault: Fault, scene: Scene) -> bool:
    """Whether a logger tells after a bare complaint what it told before it: a server answers the next request, a loop
    takes the next piece.
    """
    if not (is_bare(fault, scene) or _is_in_hand(fault, scene)):
        return False
    told = [(line.number, message(line.text)) for line in scene.record.tail]
    forms = [(number, _form(said.text)) for number, said in told if said.level == "INFO"]
    before = {form for number, form in forms if number < fault.number}
    again = {form for number, form in forms if number > fault.number and len(form) >= FORM_LETTERS}
    return len(again & before) >= (INFORMED if fault.trace else 1)


def is_long_past(fault: Fault, scene: Scene) -> bool:
    """Whether all the newest lines stand behind a bare complaint or a traceback that the program had in hand, and none
    of them complains: a run that ends of something says so at its end.
    """
    newest = scene.record.tail
    if len(newest) < TAIL or fault.number >= newest[0].number:
        return False
    if not (is_bare(fault, scene) or _is_in_hand(fault, scene)):
        return False
    first = newest[0].number
    if any(other.number >= first and other.severity > WEAK for other in scene.attempt.faults):
        return False
    if sum(bool(FRAME.search(line.text)) for line in newest) > len(newest) // 2:
        return False  # they are its stack
    return not any(LOUD.search(line.text) for line in newest)


def _form(text: str) -> str:
    return "".join(filter(str.isalpha, text)) if not signs.FAREWELL.search(text) else ""


@lru_cache(maxsize=LETTERS_KEPT)  # each complaint is compared with all those before it
def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, message(text).text))


def is_habit(fault: Fault, scene: Scene) -> bool:
    """Whether the same was raised at the same place before, and each time the run went on: so does it now."""
    frame = fault.trace.user_frame if fault.trace else None
    if frame is None:
        return False
    alike = [
        other
        for other in scene.attempt.faults
        if other.number < fault.number and other.trace and other.row is fault.row and other.trace.user_frame == frame
    ]
    return len(alike) >= SURVIVED_BEFORE and all(scene.attempt.signs_after(other) for other in alike)


def was_written_before(fault: Fault, scene: Scene) -> bool:
    """Whether the same was written down again and again, and each time the run went on: so does it now."""
    form = _letters(fault.text)
    if scene.dead or fault.severity == PROVEN or len(form) < FORM_LETTERS:
        return False
    alike = [one for one in scene.attempt.faults if one.row is fault.row and _letters(one.text) == form]
    earlier = [one for one in alike if one.number < fault.number]
    if len(earlier) >= HABIT and all(scene.attempt.signs_after(one) for one in earlier):
        return True
    return counts_between([one.number for one in alike], scene)


def comes_all_the_time(fault: Fault, scene: Scene) -> bool:
    """Whether the same came several times before, each time the program worked on until the next, and nothing is told
    behind the newest one that was not told behind the others. What ended a program by its traceback, and is written by
    whoever starts it again, is another try of the same: there, a count has to rise from one to the next.
    """
    if scene.dead or fault.row.explains <= ASKED:
        return False
    alike = [one for one in scene.attempt.faults if one.row is fault.row and _is_the_same(one, fault)][-HABIT - 1 :]
    if len(alike) <= HABIT or alike[-1].number > fault.number:
        return False
    if not all(one.progress_before < next_.progress_before for one, next_ in pairwise(alike)):
        return False  # loggers tell of each start, too
    above = {_letters(line.text) for line in scene.record.tail if line.number < fault.number}
    if any(_letters(line.text) not in above for line in scene.record.tail if line.number > fault.number):
        return False
    return not fault.ended_program or counts_between([one.number for one in alike], scene)


def _is_the_same(one: Fault, other: Fault) -> bool:
    if one.trace is not None and other.trace is not None and one.trace.user_frame is not None:
        return one.trace.user_frame == other.trace.user_frame
    return _letters(one.text) == _letters(other.text)


def was_told_before(words: Fault, scene: Scene) -> bool:
    """Whether a line that a logger or nobody in particular told stands above as well, more than once, and the run
    showed steps behind each.
    """
    letters = _letters(words.text)
    if scene.dead or len(letters) < FORM_LETTERS:
        return False
    told = [line.number for line in scene.record.tail if _letters(line.text) == letters]
    steps = [step[1] for step in scene.attempt.steps.kept]
    return sum(any(one < step < next_ for step in steps) for one, next_ in pairwise(told)) >= SURVIVED_BEFORE


def is_outlived_before(fault: Fault, scene: Scene) -> bool:
    """Whether the program had an exception of the same place, or told by the same statement, in hand again and again,
    and worked between.
    """
    trace = fault.trace
    if trace is None or trace.user_frame is None or not _is_in_hand(fault, scene):
        return False
    alike = [
        other
        for other in scene.attempt.faults
        if other.trace and (other.trace.user_frame == trace.user_frame or _is_told_alike(trace, other.trace))
    ]
    return len(alike) > HABIT and sum(_did_more(one, next_) for one, next_ in pairwise(alike)) >= SURVIVED_BEFORE


def _is_told_alike(one: Trace, other: Trace) -> bool:
    """Whether the same statement of a logger led in both."""
    told = _opening(one.before)
    return len(told) >= FORM_LETTERS and told == _opening(other.before)
