"""A fault before or behind the word that the work is done. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.counts import counts_of
from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.epilogue import GAVE_UP, is_of_who_started, tells_step_failed
from onbox.triage.reading.match import TRACKER
from onbox.triage.reading.record import PROVEN
from onbox.triage.reading.signs import UNCAUGHT
from onbox.triage.reading.success import READY, counts_bad, is_of_build
from onbox.triage.reading.tracebacks import SHUTDOWN
from onbox.triage.rules.rows import ASKED, BUG, CAUSE, DEATH, VAGUE
from onbox.triage.stacks import FRAME
from onbox.triage.weighing.outputs import is_echoed, is_of_another, is_of_new_speaker, names_result, same_form
from onbox.triage.weighing.scene import INFORMED

if TYPE_CHECKING:
    from onbox.triage.reading.record import Fault, LogAttempt, SeenLine
    from onbox.triage.weighing.scene import Scene

TOLD_WITHIN = 2  # lines
_ENDED = lazy(r"(?:结束|結束|終了|종료)(?:しました|되었습니다)?\W{0,4}$")  # that it has ended, and not how
_OF_CONNECTIONS = ("network_blip", "nccl_or_distributed")
_CODE = lazy(r"(?i)\b(?:exit|rc|status|code)\W{0,3}(?:code )?[1-9]\d{0,2}\b")
GOES_ON = 3  # lines of progress after a word of success: what ended was a part, and the run went on
SUMMARY_LINES = 12  # of one summary
MESSAGE_LINES = 4  # that the message of an exception may go on for
_STAGE = lazy(r"\W{0,6}(?:(?:step|stage|phase|part) )?\[?(\d{1,3}) ?(?:/|of) ?(\d{1,3})\b", re.IGNORECASE)


def is_one_of_several(success: SeenLine, tail: tuple[SeenLine, ...]) -> bool:
    """Whether it sums up one of several (`gpu1 : ok=2 failed=0`), and a line like it counts what has failed."""
    near = (line.text for line in tail if 0 < abs(line.number - success.number) <= SUMMARY_LINES)
    return any(counts_bad(message(text).text) > 0 and same_form(text, success.text) for text in near)


def was_before_success(fault: Fault, scene: Scene) -> bool:
    success = scene.attempt.success
    if success is None or fault.number >= success.number:
        return False
    if _ENDED.search(success.text) and success.number - fault.number <= TOLD_WITHIN and fault.row.explains >= CAUSE:
        return False
    if _died_as_its_script_tells(fault, scene) or (not scene.attempt.progress and is_echoed(success, scene.record)):
        return False
    gave_up = has_given_up(fault, scene)
    if gave_up and not names_result(success.text):
        return False
    told_by_another = (
        is_of_who_started(success.text)
        or is_of_another(success.text, fault.source)
        or is_of_new_speaker(success, fault, scene.record)
    )
    return not (told_by_another and (gave_up or _ended_its_program(fault, scene)))


def _died_as_its_script_tells(fault: Fault, scene: Scene) -> bool:
    """Whether a shell says that a program crashed, its script tells the exit code right behind that, and no work came
    since: that script has its own end.
    """
    if fault.row.explains != DEATH or fault.severity < PROVEN or fault.trace is not None or fault.handled:
        return False
    if scene.attempt.progress > fault.progress_before:
        return False
    return any(
        0 < other.number - fault.number <= TOLD_WITHIN and _CODE.search(other.text) for other in scene.attempt.faults
    )


def _ended_its_program(fault: Fault, scene: Scene) -> bool:
    """Whether nobody caught an exception, and no work was told since."""
    attempt = scene.attempt
    # Who refuses its command line ends at once.
    at_once = fault.trace is None and (fault.row.id == "usage" or fault.severity == PROVEN)
    if not (fault.ended_program or at_once) or fault.handled:
        return False
    if fault.source:
        return attempt.signs_after(fault) == 0
    return attempt.progress == fault.progress_before and attempt.informed - fault.informed_before < INFORMED


def has_given_up(fault: Fault, scene: Scene) -> bool:
    """Whether a tool says, there or right behind it, that it gave up, and no work was told since."""
    if scene.attempt.signs_after(fault):
        return False
    handled = {one.number for one in scene.attempt.faults if one.handled}
    tail = (line for line in scene.record.tail if 0 <= line.number - fault.number <= TOLD_WITHIN)
    near = (message(line.text).text for line in tail if line.number not in handled)
    return any(GAVE_UP.match(said) or tells_step_failed(said) for said in near)


# `training finished, uploading the checkpoint`: that is work, too.
_ANNOUNCES = lazy(
    r"(?i)\b(?:finished|completed?|done|ended)\b[^,;:.]{0,24}[,;:.-]+ (?:now |then |next |and |will be )?"
    r"(?:upload|push|export|evaluat|sav|copy|merg|sync|convert|publish|transfer|writ|test|start|run|archiv)\w*ing\b"
)


def came_after_the_work(fault: Fault, scene: Scene) -> bool:
    attempt = scene.attempt
    if _is_at_a_stage(attempt) or (attempt.success and fault.number < attempt.success.number):
        return False
    if _is_of_a_later_phase(fault, attempt):
        return False
    went_on = fault.progress_before - attempt.progress_at_success >= GOES_ON
    if attempt.success is None or is_of_build(message(attempt.success.text).text):
        return False
    if READY.search(attempt.success.text) and (scene.end - fault.number < TOLD_WITHIN or _is_crash(fault)):
        return False  # one service of several waits for its work; the last line of all is no noise then
    if _ANNOUNCES.search(attempt.success.text) and not attempt.signs_after(fault):
        return False
    return attempt.signs_after(fault) <= 1 and not went_on


def _is_crash(fault: Fault) -> bool:
    return fault.severity == PROVEN and fault.row.explains == DEATH


def _is_of_a_later_phase(fault: Fault, attempt: LogAttempt) -> bool:
    """Whether a loop that begins behind the word of success, and is not at its end, stands before a traceback of the
    program's: `Trainer.fit` stopped, then `Testing 0/203`.
    """
    last, success, trace = attempt.last_progress, attempt.success, fault.trace
    if last is None or success is None or trace is None or trace.ignored or trace.user_frame is None:
        return False
    if not success.number < last.number < trace.number or attempt.reached_end or trace.mentions(SHUTDOWN, last=4):
        return False
    counts = counts_of(message(last.text).text)
    return any(one.maximum is not None and not one.at_end for one in counts)


def _is_at_a_stage(attempt: LogAttempt) -> bool:
    """Whether a stage that is not the last one (`[6/7] sorting`) began behind the word of success: a part was done."""
    last, success = attempt.last_progress, attempt.success
    found = _STAGE.match(message(last.text).text) if last and success and last.number > success.number else None
    return found is not None and int(found[1]) < int(found[2])


def ends_with_exception(fault: Fault, scene: Scene) -> bool:
    """Whether a program that said that its work was done failed afterwards, as the last thing of all. Who raises while
    Python takes itself down, and who only misses a colleague, has done its work.
    """
    trace = fault.trace
    if trace is None:
        return is_uncaught(fault) and _ended_with_its_stack(fault, scene)
    if scene.well or not is_uncaught(fault) or not trace.ends_program:
        return False
    if trace.ignored or trace.mentions(SHUTDOWN, last=4) or fault.row.explains < VAGUE:
        return False
    shown = max(one.number for one in scene.attempt.faults if one.trace is not None)  # a worker's is shown below
    since = [line for line in scene.record.tail if line.number > shown and not TRACKER.match(line.text)]
    return _was_done(fault, scene) and len(since) < MESSAGE_LINES


def _ended_with_its_stack(fault: Fault, scene: Scene) -> bool:
    """Whether a runtime other than Python's shows what nobody caught, and nothing but the stack of it stands below."""
    if scene.well or not UNCAUGHT.match(fault.text):
        return False
    since = [line for line in scene.record.tail if line.number > fault.number and not FRAME.search(line.text)]
    return _was_done(fault, scene) and len(since) < MESSAGE_LINES


def _was_done(fault: Fault, scene: Scene) -> bool:
    return scene.attempt.success is not None and scene.attempt.success.number < fault.number


def names_no_reason(fault: Fault, scene: Scene) -> bool:
    """Whether a fault after the work was done names neither a reason nor a defect, or is a part of Python's own end."""
    if scene.well:
        return True
    if fault.severity < PROVEN:
        refused = fault.row.id == "usage" and scene.end - fault.number < TOLD_WITHIN  # by the next program
        return not refused and not has_given_up(fault, scene)
    if fault.trace is not None and (fault.trace.ignored or fault.trace.mentions(SHUTDOWN, last=4)):
        return True
    if fault.trace is not None and fault.row.failure_class in _OF_CONNECTIONS:
        return all(frame.is_library for frame in fault.trace.frames)  # who takes his workers down
    if scene.end - fault.number < TOLD_WITHIN and has_given_up(fault, scene):
        return False  # the next step of its script failed
    return fault.row.explains < BUG


def ends_its_helpers(fault: Fault, scene: Scene) -> bool:
    return fault.severity < PROVEN and (scene.well or (scene.attempt.reached_end and fault.row.explains <= ASKED))


def is_uncaught(fault: Fault) -> bool:
    return fault.severity == PROVEN and not fault.handled
