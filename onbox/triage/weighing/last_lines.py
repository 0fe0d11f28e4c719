"""What the last lines say of a fault above them: a result, work that is there, or work that will not be there. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.counts import counts_of
from onbox.logs.model.lines import message
from onbox.logs.outcome import Outcome, ended_with_code, outcome_in
from onbox.regex import lazy
from onbox.triage.epilogue import HOUSEWORK, tells_step_failed
from onbox.triage.last_words import ITS_OWN_ERROR
from onbox.triage.reading import signs
from onbox.triage.reading.match import NEARLY_ASKED
from onbox.triage.reading.outcome import closing_outcome, outcome_of
from onbox.triage.reading.record import PROVEN, WEAK
from onbox.triage.reading.success import counts_failed
from onbox.triage.rules.rows import ASKED, CAUSE, DIVERGED, SUMMARY
from onbox.triage.weighing.after_success import has_given_up
from onbox.triage.weighing.claims import ENDS_A_RUN, LEAVES_OTHERS, STOPS_FOR_IT
from onbox.triage.weighing.outputs import is_echoed, is_of_another, is_result, names_a_file, names_result, same_form
from onbox.triage.weighing.scene import SURVIVED_PROVEN
from onbox.triage.weighing.unproven import is_bare
from onbox.triage.weighing.went_on import TESTS_FAILED, is_complaint

if TYPE_CHECKING:
    from onbox.triage.reading.record import Fault, SeenLine
    from onbox.triage.weighing.scene import Scene

_EXITED = lazy(r"(?i)\bexited with (?:(?:exit )?(?:code|status) )?[1-9]\d{0,2}\b")
_RIGHT_BEHIND = 2  # lines
_MESSAGE_LINES = 6  # that the message of an exception may go on for
_SAVED_IN_LAST = 12  # lines: a summary may follow
_STEP_OK = lazy(r"(?i)\b(?:rc|exit(?:ed)?|status|exit[ _-]?code|return ?code)\s?[=: ]\s?0\W{0,3}$")
_NUMBER = lazy(r"\d+")
# The code of one command among a script's own words: `mirror A failed (wget exit 4)`, `try 2 rc=22`.
_OF_A_COMMAND = lazy(
    r"(?i)\([a-z][\w.-]{1,20} exit(?:ed)? (?:code )?[1-9]\d{0,2}\)"
    r"|\b(?:try|attempt|mirror|retry|source)\b.{0,60}\b(?:rc|exit|code)\b"
)
_TOLERATED = lazy(r"\++ (?:true|:)\s{0,8}$")
_DONE = lazy(
    r"^\W{0,4}(?:all )?(?:done|finished|completed)\b(?! with (?:[1-9]|warnings?|errors?|problems?)\b)"
    r"(?!.{0,80}(?:fail|error|abort|(?<!\w)no(?:t|thing)?\b))"
    r"|^\W{0,4}(?:the )?end\W{0,4}$",
    re.IGNORECASE,
)
# Said of the work as a whole: what its last lines still save or print does not undo it.
_WHOLE_FAILED = lazy(
    r"\b(?:training|pipeline|workflow|run|experiment|simulation|analysis|program|evaluation)\b(?: \w+)? "
    r"(?:failed|aborted|crashed|died)\b(?!\s?[:=]\s?\d)",
    re.IGNORECASE,
)


def closes_with_result(fault: Fault, scene: Scene) -> bool:
    """Whether a bare complaint was followed by a result that was saved as the last thing of all."""
    if scene.dead or fault.severity == PROVEN or fault.trace is not None or fault.row.explains > CAUSE:
        return False
    if _WHOLE_FAILED.search(fault.text) or fault.row.id == TESTS_FAILED:
        return False
    if fault.row.explains <= ASKED + NEARLY_ASKED or has_given_up(
        fault, scene
    ):  # who is asked to end saves what it has
        return False
    saved = scene.attempt.saved
    if saved is None or signs.MIDWAY.search(saved.text) or HOUSEWORK.match(message(saved.text).text):
        return False
    return saved.number > max(fault.number, scene.end - _SAVED_IN_LAST)


def gave_up(fault: Fault, scene: Scene) -> bool:
    """Whether the last line of all says that the work will not be there, and nothing else complains behind a fault:
    what had been tried again was in vain.
    """
    if fault.severity == WEAK or scene.exited_zero or scene.attempt.success or scene.attempt.reached_end:
        return False
    if closing_outcome(scene.record) is not Outcome.LOST:
        return False
    if any(one.number > fault.number for one in _told_beside(fault, scene)):
        return False
    return scene.attempt.signs_after(fault) < SURVIVED_PROVEN or _is_all_that_is_known(fault, scene)


def _is_all_that_is_known(fault: Fault, scene: Scene) -> bool:
    """Whether the log's last line tells a code of failure, and no other fault explains it."""
    last = scene.record.last_line
    return last is not None and not _told_beside(fault, scene) and ended_with_code(message(last.text).text)


def _told_beside(fault: Fault, scene: Scene) -> list[Fault]:
    """The other faults that count, without the codes that launchers tell, unless it is one itself."""
    told = (one for one in scene.attempt.faults if one.severity > WEAK and not one.handled and one is not fault)
    return [one for one in told if one.row.explains > SUMMARY or fault.row.explains <= SUMMARY]


def closes_with_work(fault: Fault, scene: Scene) -> bool:
    """Whether the last line of all says that the work is there, after a complaint of one line."""
    last = scene.record.last_line
    if scene.dead or last is None or fault.trace is not None or fault.severity == PROVEN or fault.number >= last.number:
        return False
    if closing_outcome(scene.record) is not Outcome.MADE or _WHOLE_FAILED.search(fault.text):
        return False
    if fault.row.id == TESTS_FAILED or fault.row.failure_class in ENDS_A_RUN:  # who is asked to end keeps what it has
        return False
    if fault.row.explains == DIVERGED and STOPS_FOR_IT.search(fault.text):
        return False
    if _is_told_by_another(last, fault, scene) or HOUSEWORK.match(message(last.text).text):
        return False
    if _is_left_at_once(fault, scene):
        return False
    if not names_result(last.text) and (_tells_of_its_code(fault, scene) or has_given_up(fault, scene)):
        return False
    of_a_step = fault.row.id == "launcher" and _OF_A_COMMAND.search(fault.text) is not None
    return is_complaint(fault) or of_a_step or (fault.row.explains > ASKED and names_a_file(last.text))


def _is_told_by_another(last: SeenLine, fault: Fault, scene: Scene) -> bool:
    """Whether another writer than the fault's told the last line, or a shell that was to say so in any case."""
    if is_of_another(last.text, fault.source):
        return True
    if scene.attempt.signs_after(fault) or _is_tolerated(fault, scene):
        return False
    return is_echoed(last, scene.record)


def _is_tolerated(fault: Fault, scene: Scene) -> bool:
    """Whether the shell that started what complains shows that it was told to go on: `|| true`."""
    return any(fault.number < line.number and _TOLERATED.match(line.text) for line in scene.record.tail)


def _tells_of_its_code(fault: Fault, scene: Scene) -> bool:
    """Whether who started it tells right behind it that it exited with a code of failure."""
    return any(
        0 < other.number - fault.number <= _MESSAGE_LINES and _EXITED.search(other.text)
        for other in scene.attempt.faults
    )


_STAGE_ENDED = lazy(r"(?i)\b(?:stage|step|phase) \d{1,3} ?(?:/|of) ?\d{1,3}\W{1,3}(?:rc|exit|code|status)\W{1,3}[1-9]")


def is_of_ended_stage(fault: Fault, scene: Scene) -> bool:
    """Whether a script tells below a fault that one of its numbered stages ended with a code: `stage 2/3: rc=1`."""
    return any(_STAGE_ENDED.search(line.text) for line in scene.record.tail if line.number >= fault.number)


def ends_with_the_work(fault: Fault, scene: Scene) -> bool:
    """Whether the log's very last line tells what came of the work: with a number, a file or its success, and not only
    that something ended. A program that nobody saw work since it died of its own exception has not written it; who was
    asked to end, or waited for a colleague in vain, tells of what there is.
    """
    last = scene.record.last_line
    if scene.dead or last is None or fault.number >= last.number or fault.row.explains == DIVERGED:
        return False
    if fault.row.failure_class in (*ENDS_A_RUN, *LEAVES_OTHERS) or counts_failed(message(last.text).text):
        return False
    if fault.row.id == TESTS_FAILED or _is_left_at_once(fault, scene):
        return False
    if any(line.number == last.number - 1 and same_form(line.text, last.text) for line in scene.record.tail):
        return False  # it goes on and on
    made = closing_outcome(scene.record) is Outcome.MADE and names_result(last.text)
    if not made and not _shows_result_of_a_loop(fault, scene):
        return False
    if _is_told_by_another(last, fault, scene) or _is_lost_between(fault, last, scene):
        return False
    signs_since = scene.attempt.signs_after(fault)
    counted = scene.attempt.last_progress  # `12 samples processed`: the last line counts what its script always counts
    only_last = counted is not None and counted.number == last.number and last.number - fault.number <= _RIGHT_BEHIND
    near = scene.end - fault.number < _MESSAGE_LINES and (not signs_since or (signs_since == 1 and only_last))
    return not (near and fault.ended_program and not fault.handled)


def _is_lost_between(fault: Fault, last: SeenLine, scene: Scene) -> bool:
    """Whether a line between them says that the work will not be there, and no work was seen since the fault; or that
    the stage it stood in ended with a code.
    """
    if is_of_ended_stage(fault, scene):
        return True
    if scene.attempt.signs_after(fault):
        return False
    between = (line.text for line in scene.record.tail if fault.number < line.number < last.number)
    return any(outcome_of(text) is Outcome.LOST for text in between)


def _shows_result_of_a_loop(fault: Fault, scene: Scene) -> bool:
    """Whether a loop went on behind the fault, up to its end, and figures are the last line of all."""
    last = scene.record.last_line
    if last is None or not scene.attempt.reached_end or not scene.attempt.signs_after(fault):
        return False
    return is_result(last.text, sure=False) and not signs.is_progress(message(last.text).text)


def _is_left_at_once(fault: Fault, scene: Scene) -> bool:
    """Whether it calls itself an error, and a loop that it came upon in its midst, or which lost what it was to leave,
    takes leave right behind it in a word: `Error: cannot write model.pt`, `Done.`
    """
    last = scene.record.last_line
    if last is None or last.number - fault.number > _RIGHT_BEHIND or names_result(last.text):
        return False
    if fault.handled or scene.attempt.signs_after(fault):
        return False
    is_lost = outcome_in(fault.text) is Outcome.LOST
    if not is_lost and not ITS_OWN_ERROR.match(message(fault.text).text):
        return False
    counted = scene.attempt.last_progress
    counts = counts_of(message(counted.text).text) if counted is not None else ()
    in_its_midst = any(one.maximum is not None and not one.at_end for one in counts)
    return in_its_midst or is_lost


def is_of_one_step(fault: Fault, scene: Scene) -> bool:
    """Whether it is the exit code of one step of a script, a later one ended with 0, and the last line of all says that
    the work is there.
    """
    if scene.dead or fault.row.explains > SUMMARY or closing_outcome(scene.record) is not Outcome.MADE:
        return False
    form = _NUMBER.sub("0", message(fault.text).text)
    below = (message(line.text).text for line in scene.record.tail if line.number > fault.number)
    return any(
        said == form or (tells_step_failed(message(fault.text).text) and _STEP_OK.search(said)) for said in below
    )


def says_done(text: str) -> bool:
    """Whether a line begins with a word for the end of all: `done: 4 of 5 items`."""
    return bool(_DONE.search(message(text).text))


def ends_with_done(fault: Fault, scene: Scene) -> bool:
    """Whether the log's very last line says that all is done."""
    last = scene.record.last_line
    if last is None or fault.number >= last.number or not is_bare(fault, scene) or _WHOLE_FAILED.search(fault.text):
        return False
    if has_given_up(fault, scene) or _is_left_at_once(fault, scene):
        return False
    if abs(fault.row.explains - ASKED) <= NEARLY_ASKED:  # who is asked to end says that he did
        return False
    return says_done(last.text)
