"""Answers that need no second reading, as the rules know what the last lines tell. Pure.

Words overrule a rule where both guess. They do not where a line tells an exit code, a test suite its report, a loop its
next step: what reads badly beside these is a name, a row or a remark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.farewell import is_farewell
from onbox.logs.in_vain import NONE_WITHIN, counts_none
from onbox.logs.model.lines import message
from onbox.logs.outcome import Outcome
from onbox.regex import lazy
from onbox.triage.ends_badly import ends_badly
from onbox.triage.harmless import is_harmless
from onbox.triage.last_words import FATAL_LEVELS, ITS_OWN_ERROR, are_no_words, failed_step
from onbox.triage.reading.match import BAD_LEVELS, NEARLY_ASKED, PYTHON_WARNING, QUIET_LEVELS
from onbox.triage.reading.outcome import outcome_of
from onbox.triage.reading.record import PROVEN, WEAK
from onbox.triage.reading.success import SHUT_DOWN, counts_bad_only, counts_good_only
from onbox.triage.rules.rows import ASKED
from onbox.triage.stacks import ends_in_stack_of
from onbox.triage.told_code import tells_code
from onbox.triage.weighing.no_room import has_lost_a_file
from onbox.triage.weighing.outputs import names_result
from onbox.triage.weighing.scene import Scene
from onbox.triage.weighing.unproven import comes_all_the_time
from onbox.triage.weighing.went_on import TESTS_FAILED, is_tallied, serves
from onbox.triage.wording.second_reading import LEAST_FORMS, PLAIN, form_of, forms_in, most_telling
from onbox.triage.wording.sentence import leaning_of
from onbox.triage.words import STOPS

if TYPE_CHECKING:
    from onbox.triage.reading.record import LogAttempt, Record, SeenLine
    from onbox.triage.settled import SettledClass

SAID_DONE = "said-done"  # the rule of a log whose last word of success stands
REPORT_LINES = 12  # last ones
WARNING_LINES = 6  # with the sentences and the code below it
LOGGED = 8  # lines of a logger
GOES_ON = 3  # lines of one message
LOOP_LINES = 2  # of one form: more are a loop
REPORT_OF_TESTS_WITHIN = 3  # last lines
_REPORT_OF_PYTEST = lazy(
    r"={3,60} (?:\d{1,6} \w{1,12}, ){0,6}[1-9]\d{0,5} (?:failed|errors?)\b.{0,120} in [\d.]{1,12}s\b"
)
# What knows better than any words how a job ended: of Slurm, of HTCondor and LSF, of Nextflow's own log.
_OF_A_BATCH_SYSTEM = lazy(r"\*\*\* (?:JOB|STEP) \S{1,40} ON \S{1,80} CANCELLED AT .{1,40} DUE TO ")
_WELL_BY_A_BATCH_SYSTEM = lazy(r"\s{0,8}\(1\) Normal termination \(return value 0\)|Successfully completed\.\s{0,4}$")
_OF_AN_ENGINE = lazy(r"\bnextflow\.Session - Session aborted -- Cause: ")
_PLACE_OF_WARNING = lazy(r"\S{1,300}\.py:\d{1,6}: [A-Z]\w{0,40}Warning: ?")
_BAR = lazy(r"\d%\|.{0,200}\| \d+/\d+ \[|[\u2501\u2578\u257a]{2}.{0,80}\d+/\d+ ")
_NAME_NOT_SET = lazy(r"\S{1,200}: line \d{1,6}: \S{1,80}: unbound variable$")  # a shell has ended with it
# What a job script, or a program that has come to its end, closes with.
_TELLS_ITS_TIME = lazy(
    r"(?i)^\W{0,8}(?:job )?(?:end(?:ed|s)?|finish(?:ed|es)?|complet(?:ed|es)|done)\b.{0,60}\d\d:\d\d"
    r"|^\W{0,4}(?:total )?(?:elapsed|run|running|wall|cpu|execution)[- ]?time(?: is)?\s?[:=]?\s{0,12}\d"
    r"|^\W{0,4}(?:end (?:of )?(?:the )?(?:job|run|program|script)|(?:job|run|program|script) end)\b"
)
_DOES_NOTHING = lazy(
    r"(?i)\bnothing (?:new |more )?to (?:do|be done)\b(?!.{0,80}\b(?:errors?|fail\w*|missing|exist|found)\b)"
    r"|^\W{0,4}nothing (?:new|changed)\b"
)
CLOSING_LINES = 2
_CODE_OF_WARNING = lazy(r"\s*warnings\.warn\(")
_ASKS_TO_LEAVE = ("terminated", "interrupted")  # rows; a server that is shut down as a user wished ends well
LEAVES_WITHIN = 4  # lines
_LEAVES = lazy(
    r"(?i)\b(?:checkpoints?|ckpt|snapshot|state|sav(?:ed|ing)|stopp(?:ed|ing)|shut(?:ting)? ?down|clos(?:ed|ing)"
    r"|clean(?:ed|ing)?|leav(?:e|ing)|exit(?:ed|ing)|bye|terminat(?:ed|ing)|kill(?:ed|ing)|flush(?:ed|ing))\b"
)
_FAILED_TESTS = lazy(r"(?i)^\W{0,4}fail(?:ed|ures)?\W{1,20}[1-9]|\b[1-9]\d{0,5} fail(?:ed|ing|ures?)\b")


def is_plainly_ill(call: SettledClass, tail: tuple[SeenLine, ...], attempt: LogAttempt) -> bool:
    """Whether a failure needs no second reading: by an exit code, the last line, a file that a full disk has cost, or
    the report of a test suite. call: the answer; it has a line. tail: the last lines of the attempt.
    """
    assert call.at is not None
    last, at, fault = tail[-1].text, call.at, call.fault
    if fault is not None:
        if any(has_lost_a_file(one, tail) for one in attempt.faults if one.row is fault.row):
            return True
        is_told = fault.severity == PROVEN or abs(fault.row.explains - ASKED) <= NEARLY_ASKED
        leaves = fault.row.id in _ASKS_TO_LEAVE
        if is_told and _is_behind_all(fault.number, tail, leaves=leaves):
            return True
        if any(ends_in_stack_of(one.number, tail) for one in attempt.faults if one.row is fault.row):
            return True
    said = message(last)
    if _OF_A_BATCH_SYSTEM.search(at.text) or any(_OF_AN_ENGINE.search(line.text) for line in tail):
        return True
    if tells_code(at.text) or _NAME_NOT_SET.match(at.text) or ends_badly(last) or counts_bad_only(said.text):
        return True
    if at.text == last and (said.level in FATAL_LEVELS or ITS_OWN_ERROR.match(last)):
        return True
    if at.text == last and said.level in BAD_LEVELS and outcome_of(last) is Outcome.LOST:
        return True
    if _is_the_only_error(at, tail) or failed_step(tail) == at:
        return True
    if any(_REPORT_OF_PYTEST.match(line.text) for line in tail[-REPORT_OF_TESTS_WITHIN:]):
        return True
    return call.rule == TESTS_FAILED and any(_FAILED_TESTS.search(line.text) for line in tail[-REPORT_LINES:])


def _is_the_only_error(at: SeenLine, tail: tuple[SeenLine, ...]) -> bool:
    """Whether a logger that had told of no error before ends with this one, and with what it goes on to say of it."""
    told = [line for line in tail if message(line.text).level is not None]
    bad = [line for line in told if message(line.text).level in BAD_LEVELS]
    goes_on = [line.text[:1].isspace() for line in tail if line.number > at.number]
    return len(told) >= LOGGED and bad == [told[-1]] == [at] and all(goes_on) and 0 < len(goes_on) <= GOES_ON


def _is_behind_all(number: int, tail: tuple[SeenLine, ...], *, leaves: bool) -> bool:
    """Whether nothing follows but bars, which are drawn once more when they are closed, and what a library says at any
    end; and what somebody does who was asked to leave.
    """
    below = [line.text for line in tail if line.number > number]
    told = [text for text in below if not (_BAR.search(text) or is_farewell(text) or _CODE_OF_WARNING.match(text))]
    return not told or (leaves and len(told) <= LEAVES_WITHIN and all(map(_LEAVES.search, told)))


def _ends_in_loop(tail: tuple[SeenLine, ...], attempt: LogAttempt) -> bool:
    """Whether the last line is a step, told as the steps before it, and no exception that ended a program stands above:
    another thread may have told a step more.
    """
    step = attempt.last_progress
    if step is None or step.number < tail[-1].number:
        return False
    if step.number > tail[-1].number:  # bare counts are left out of the tail
        return sum(number > tail[-1].number for _, number, _ in attempt.steps.kept) > LOOP_LINES
    if any(fault.ended_program and fault.number >= tail[0].number for fault in attempt.faults):
        return False
    return sum(form_of(line.text) == form_of(step.text) for line in tail) > LOOP_LINES


def _is_known_to_be_outlived(record: Record, attempt: LogAttempt) -> bool:
    """Whether the newest fault comes all the time, or one of the last lines counts what has failed as a part of it."""
    if not attempt.faults:
        return False
    scene, newest = Scene(record, attempt, dead=False, well=False, exited_zero=False), attempt.faults[-1]
    return is_tallied(newest, scene) or comes_all_the_time(newest, scene)


def is_plainly_well(rule: str, record: Record, tail: tuple[SeenLine, ...], attempt: LogAttempt) -> bool:
    """Whether the rules know of the last lines that they tell of no trouble of this run. rule: that of the answer.
    tail: the last lines of the attempt.
    """
    if _is_known_to_be_outlived(record, attempt):
        return True
    if are_no_words(attempt, tail) or (tail and (serves(tail[-1].text) or _ends_in_loop(tail, attempt))):
        return True
    if _ends_in_warning(tail):
        return True
    if attempt.success is not None and _WELL_BY_A_BATCH_SYSTEM.match(attempt.success.text) and not attempt.faults:
        return True
    if rule == SAID_DONE and not attempt.faults and attempt.success and attempt.success.number == tail[-1].number:
        return True
    if not tail:
        return False
    said = message(tail[-1].text)
    if counts_good_only(said.text) or (rule == SAID_DONE and SHUT_DOWN.search(tail[-1].text)):
        return True
    if not any(one.severity > WEAK for one in attempt.faults) and _closes_well(tail):
        return True
    if forms_in(tail) >= LEAST_FORMS:
        return False
    if _is_outlived_by_a_loop(tail):
        return True
    if counts_none([line.text for line in tail[-NONE_WITHIN:]]) is not None:
        return True  # which is told beside a good end
    warns = said.level == "WARNING" or PYTHON_WARNING.match(said.text) is not None
    is_remark = said.level in QUIET_LEVELS or (warns and not STOPS.search(said.text))
    is_loud = leaning_of(tail[-1].text) >= PLAIN  # so plainly, it hedges nothing
    return rule == SAID_DONE or is_remark or is_harmless(said.text, tail[-1].text, loud=is_loud)


def _is_outlived_by_a_loop(tail: tuple[SeenLine, ...]) -> bool:
    """Whether lines that stand above the worst of the last lines come again and again below it, and the end is calm."""
    worst = most_telling(tail)[0]
    above = {form_of(line.text) for line in tail if line.number < worst.number}
    below = [line.text for line in tail if line.number > worst.number]
    again = sum(form_of(text) in above for text in below)
    return again > LOOP_LINES and leaning_of(below[-1]) <= 0


def _ends_in_warning(tail: tuple[SeenLine, ...]) -> bool:
    """Whether a warning of Python stands at the end, and below it only what it says and the code that it is about."""
    near = tail[-WARNING_LINES:]
    at = next((at for at, line in enumerate(near) if _PLACE_OF_WARNING.match(line.text)), None)
    return at is not None and at < len(near) - 1 and near[-1].text[:2] == "  " and not STOPS.search(near[-1].text)


def _closes_well(tail: tuple[SeenLine, ...]) -> bool:
    """Whether the last lines say what is there, when it ended, or that there was nothing to do."""
    told = [message(line.text).text for line in tail[-CLOSING_LINES:]]
    is_timed = any(map(_TELLS_ITS_TIME.match, told))
    return _names_the_work(tail[-1].text) or is_timed or any(map(_DOES_NOTHING.search, told))


def _names_the_work(text: str) -> bool:
    """Whether a line says what is there: `mosaic of 8 tiles written; 2 left out`."""
    return outcome_of(text) is Outcome.MADE and names_result(text)
