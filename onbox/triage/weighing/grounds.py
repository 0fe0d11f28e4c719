"""Whether a fault counts: did it end the run, or did the run go on, or finish, in spite of it? Pure.

Two tables decide, each by its first row that holds: what settles it at once, and else how many life signs of its writer
a fault of its kind is outlived by.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.logs.outcome import Outcome
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.reading import signs
from onbox.triage.reading.match import BAD_LEVELS, NEARLY_ASKED, QUIET_LEVELS, REMARK_LEVELS
from onbox.triage.reading.outcome import closing_outcome, outcome_of
from onbox.triage.reading.record import LOGGED, PROVEN, TAIL, WEAK
from onbox.triage.reading.success import is_of_build
from onbox.triage.reading.tracebacks import SHUTDOWN
from onbox.triage.rules.rows import ASKED, BUG, CAUSE, DEATH, DIVERGED, SUMMARY, VAGUE
from onbox.triage.stacks import FRAME
from onbox.triage.weighing.claims import is_meant, outlives_success
from onbox.triage.weighing.outputs import is_result, names_a_file
from onbox.triage.weighing.shell import a_shell_goes_on
from onbox.triage.weighing.went_on import (
    counts_on,
    first_line,
    is_complaint,
    names_piece,
    same_is_fine_later,
    went_on,
)
from onbox.triage.words import LOUD

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.triage.reading.record import Fault
    from onbox.triage.reading.tracebacks import Trace
    from onbox.triage.weighing.scene import Scene

SURVIVED_PROVEN = 3  # lines of progress after an uncaught traceback: other ranks and flushed bars still show one or two
SURVIVED_SHOWN = 2  # the same after one that the program seems to have shown itself
SURVIVED_DEATH = 8  # the same where a launcher counts a death at the end: that one needs a cause near it
SURVIVED_ASKED = 2  # the same after a signal, which may have asked for a checkpoint only
SURVIVED_BEFORE = 2  # times
HABIT = 5  # times that one in hand came again: more than an attempt is made before it is given up
GOES_ON = 3  # lines of progress after a word of success: what ended was a part, and the run went on
FORM_LETTERS = 12  # a shorter line is told again by chance
SAME_LETTERS = 20  # of two complaints: so they begin alike
TOLD_MUCH = 10  # such lines: more than a program tells while it comes to its end
STACK_LINES = 40  # of a crash
MESSAGE_LINES = 4  # that the message of an exception may go on for
INFORMED = 3  # lines in which a logger tells what the program does next
# Rows so vague that they count in so many last lines only.
LAST_LINES = {"error-line": 3, "line-asks-for-setting": 3, "said-error": 12}
_SAVED_IN_LAST = 12  # lines: a summary may follow
_MISSED_BY = 10  # lines behind a death, in which a script misses what the dead program was to write
_ENDS_PROGRAM = ("fortran", "fortran-read", "other-languages")  # the runtime of a language that ends what it tells of
_DONE = lazy(
    r"^\W{0,4}(?:all )?(?:done|finished|completed)\b(?! with [1-9])"
    r"(?!.{0,80}(?:fail|error|abort|(?<!\w)no(?:t|thing)?\b))"
    r"|^\W{0,4}(?:the )?end\W{0,4}$",
    re.IGNORECASE,
)
_OF_A_SCRIPT = lazy(
    r"\bexit(?:ed)?\b.{0,12}\b(?:code|status)?\D{0,3}0\b"
    r"|\b(?:job|script)\b.{0,12}\b(?:finished|ended|done|complete\w*) (?:at|on)\b",
    re.IGNORECASE,
)
_OF_A_LAUNCHER = lazy(r"\b(?:srun|slurmstepd|mpirun|mpiexec|prun|prterun|torchrun|deepspeed|pdsh|rank)\b")
# Said of the work as a whole: what its last lines still save or print does not undo it.
_WHOLE_FAILED = lazy(
    r"\b(?:training|pipeline|workflow|run|experiment|simulation|analysis|program|evaluation)\b(?: \w+)? "
    r"(?:failed|aborted|crashed|died)\b(?!\s?[:=]\s?\d)",
    re.IGNORECASE,
)
# Reads like an exception's name, and is a tool's complaint: "Error", or what the set-up of a shell is told by.
_OF_A_TOOL = lazy(r"(?:Error|CondaError|CommandNotFoundError): ")
_OF_PYTHON = lazy(r"[A-Z]\w{0,40}(?:Error|Exception): ")
_OF_A_POOL = lazy(r"^\s+File \".{1,300}\", line \d{1,7} in (?:_process_worker|_bootstrap|_worker_loop|worker)$")
_OF_A_THREAD = lazy(r"^Exception in thread ")
_STDLIB = lazy(r"[\\/](?:lib[\\/]python[\d.]+|Lib)[\\/](?!(?:site|dist)-packages)|^<frozen ")
_IMPORTS = lazy(r"(?:import|from) \w")
_INTERRUPT = lazy(r"\bKeyboardInterrupt\b|\b(?i:received|caught|got) (?:signal )?SIGINT\b")


class Ground(NamedTuple):
    """counts: whether a fault of which this holds ended the run."""

    counts: bool
    what: str
    holds: Callable[[Fault, Scene], bool]


class Patience(NamedTuple):
    """signs: so many life signs of its writer behind it, and the run has outlived it."""

    signs: int
    what: str
    holds: Callable[[Fault, Scene], bool]


def counts(fault: Fault, scene: Scene) -> bool:
    """Whether a fault may be what the run ended with."""
    for ground in GROUNDS:
        if ground.holds(fault, scene):
            return ground.counts
    least = next(row.signs for row in PATIENCE if row.holds(fault, scene))
    return scene.attempt.signs_after(fault) < least


def _is_the_last_to_count(fault: Fault, scene: Scene) -> bool:
    """Whether no later fault counts: what ended the run then is not to be told by what it printed before."""
    later = [one for one in scene.attempt.faults if one.number > fault.number and one.severity > WEAK]
    if any(one.row.explains <= SUMMARY and not one.handled and not _is_of_a_piece(one) for one in later):
        return False  # somebody tells of an end with an exit code
    return not later or later[-1].handled or not counts(later[-1], scene)


def _is_of_a_piece(fault: Fault) -> bool:
    """`trial 9: FAILED rc=1`, and no launcher's word of one of its processes."""
    return names_piece(fault.text) and not _OF_A_LAUNCHER.search(fault.text)


def _is_a_lost_piece(fault: Fault, scene: Scene) -> bool:
    """Whether a driver counts one of its pieces as failed, and tells at its end which was best, or what it saved."""
    last = scene.record.last_line
    if scene.dead or last is None or fault.row.explains > SUMMARY or not _is_of_a_piece(fault):
        return False
    return last.number > fault.number and is_result(last.text, sure=True)


def _went_on(fault: Fault, scene: Scene) -> bool:
    return went_on(fault, scene) and _is_the_last_to_count(fault, scene)


def _a_shell_goes_on(fault: Fault, scene: Scene) -> bool:
    return a_shell_goes_on(fault, scene) and _is_the_last_to_count(fault, scene)


def _is_vague_and_far(fault: Fault, scene: Scene) -> bool:
    return fault.number <= scene.end - LAST_LINES.get(fault.row.id, scene.end + 1)


def _follows_a_death(fault: Fault, scene: Scene) -> bool:
    """Whether a file is missing that a program was to write which had been killed right before."""
    if fault.row.id != "no-such-file" or fault.trace is not None:
        return False
    return any(
        other.severity == PROVEN
        and SUMMARY < other.row.explains <= DEATH
        and 0 < fault.number - other.number <= _MISSED_BY
        and scene.attempt.signs_after(other) == 0
        for other in scene.attempt.faults
    )


def closes_with_result(fault: Fault, scene: Scene) -> bool:
    """Whether a bare complaint was followed by a result that was saved as the last thing of all."""
    if scene.dead or fault.severity == PROVEN or fault.trace is not None or fault.row.explains > CAUSE:
        return False
    if _WHOLE_FAILED.search(fault.text):
        return False
    if fault.row.explains <= ASKED + NEARLY_ASKED:  # who is asked to end saves what it has
        return False
    saved = scene.attempt.saved
    if saved is None or signs.MIDWAY.search(saved.text):
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
    if any(one.number > fault.number and one.severity > WEAK and not one.handled for one in scene.attempt.faults):
        return False
    return scene.attempt.signs_after(fault) < SURVIVED_PROVEN


def _closes_with_work(fault: Fault, scene: Scene) -> bool:
    """Whether the last line of all says that the work is there, after a complaint of one line."""
    last = scene.record.last_line
    if scene.dead or last is None or fault.trace is not None or fault.severity == PROVEN or fault.number >= last.number:
        return False
    if closing_outcome(scene.record) is not Outcome.MADE or _WHOLE_FAILED.search(fault.text):
        return False
    return is_complaint(fault) or (fault.row.explains > ASKED and names_a_file(last.text))


def _is_of_a_worker(fault: Fault, scene: Scene) -> bool:
    """Whether the stack of a crash is that of a pool's worker, and what its program says last is a result."""
    if scene.dead or fault.trace is not None or fault.row.explains != DEATH or fault.number >= scene.end:
        return False
    below = [line.text for line in scene.record.tail if 0 < line.number - fault.number <= STACK_LINES]
    if not any(_OF_A_POOL.search(text) for text in below):
        return False
    last = scene.record.tail[-1].text
    return closing_outcome(scene.record) is Outcome.MADE or is_result(last, sure=False)


def _is_of_a_thread_after_the_work(fault: Fault, scene: Scene) -> bool:
    """Whether an exception ended a thread alone, and the last line before it says that the work is there."""
    if fault.trace is None or not fault.trace.follows(_OF_A_THREAD):
        return False
    above = [line.text for line in scene.record.tail if line.number < first_line(fault) - 1]
    return bool(above) and outcome_of(above[-1]) is Outcome.MADE and not signs.MIDWAY.search(above[-1])


def _is_fine_later(fault: Fault, scene: Scene) -> bool:
    return fault.severity < PROVEN and same_is_fine_later(fault, scene) and _is_the_last_to_count(fault, scene)


def _is_bare(fault: Fault, scene: Scene) -> bool:
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


def _is_made_again(fault: Fault, scene: Scene) -> bool:
    """Whether a complaint so vague was made before in the same words, and the program worked on between the two. One
    that names a reason may well be the last of its kind.
    """
    if not _is_bare(fault, scene) or fault.row.explains > VAGUE:
        return False
    alike = [
        other
        for other in scene.attempt.faults
        if other.number <= fault.number and other.row is fault.row and _opening(other.text) == _opening(fault.text)
    ]
    return any(_did_more(one, next_) for one, next_ in pairwise(alike))


def _opening(text: str) -> str:
    return "".join(filter(str.isalpha, message(text).text))[:SAME_LETTERS]


def _did_more(one: Fault, next_: Fault) -> bool:
    """Whether the program worked between two complaints."""
    steps = next_.progress_before - one.progress_before
    return steps > 0 or next_.informed_before > one.informed_before


def _is_worked_on(fault: Fault, scene: Scene) -> bool:
    """Whether the program did more after a bare complaint, or much more after a traceback that it had in hand."""
    told = scene.attempt.informed - fault.informed_before
    if _is_in_hand(fault, scene) and told >= TOLD_MUCH:
        return not any(LOUD.search(line.text) for line in scene.record.tail if line.number > fault.number)
    return _is_bare(fault, scene) and told >= INFORMED


def _is_a_peers(fault: Fault, scene: Scene) -> bool:
    """Whether a coordinator writes down that it has lost somebody, and tells of much more work since."""
    if scene.dead or fault.trace is not None or fault.severity != LOGGED or message(fault.text).level not in BAD_LEVELS:
        return False
    told = scene.attempt.informed - fault.informed_before
    return fault.row.failure_class == "nccl_or_distributed" and told >= TOLD_MUCH


def does_it_again(fault: Fault, scene: Scene) -> bool:
    """Whether a logger tells after a bare complaint what it told before it: a server answers the next request, a loop
    takes the next piece.
    """
    if not (_is_bare(fault, scene) or _is_in_hand(fault, scene)):
        return False
    told = [(line.number, message(line.text)) for line in scene.record.tail]
    forms = [(number, _form(said.text)) for number, said in told if said.level == "INFO"]
    before = {form for number, form in forms if number < fault.number}
    again = {form for number, form in forms if number > fault.number and len(form) >= FORM_LETTERS}
    return len(again & before) >= (INFORMED if fault.trace else 1)


def is_over(words: Fault, scene: Scene) -> bool:
    """Whether the program did more after a complaint among its last lines, which no rule has counted."""
    if closing_outcome(scene.record) is Outcome.LOST and not scene.exited_zero:
        return False
    if _closes_with_work(words, scene) or same_is_fine_later(words, scene):
        return True
    if closes_with_result(words, scene) or does_it_again(words, scene) or _ends_with_done(words, scene):
        return True
    if went_on(words, scene) or a_shell_goes_on(words, scene):
        return True
    since = [message(line.text) for line in scene.record.tail if line.number > words.number]
    told = sum(said.level in REMARK_LEVELS and not signs.FAREWELL.search(said.text) for said in since)
    return _is_bare(words, scene) and told >= INFORMED


def _ends_with_done(fault: Fault, scene: Scene) -> bool:
    """Whether the log's very last line says that all is done."""
    last = scene.record.last_line
    if last is None or fault.number >= last.number or not _is_bare(fault, scene) or _WHOLE_FAILED.search(fault.text):
        return False
    return bool(_DONE.search(message(last.text).text))


def _is_long_past(fault: Fault, scene: Scene) -> bool:
    """Whether all the newest lines stand behind a bare complaint or a traceback that the program had in hand, and none
    of them complains: a run that ends of something says so at its end.
    """
    newest = scene.record.tail
    if len(newest) < TAIL or fault.number >= newest[0].number:
        return False
    if not (_is_bare(fault, scene) or _is_in_hand(fault, scene)):
        return False
    first = newest[0].number
    if any(other.number >= first and other.severity > WEAK for other in scene.attempt.faults):
        return False
    if sum(bool(FRAME.search(line.text)) for line in newest) > len(newest) // 2:
        return False  # they are its stack
    return not any(LOUD.search(line.text) for line in newest)


def _form(text: str) -> str:
    return "".join(filter(str.isalpha, text)) if not signs.FAREWELL.search(text) else ""


def _is_habit(fault: Fault, scene: Scene) -> bool:
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


def _is_outlived_before(fault: Fault, scene: Scene) -> bool:
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


def _was_in_its_librarys_hand(fault: Fault, scene: Scene) -> bool:
    """Whether Python's own library raised and caught it, as a cache that misses does: another exception came while it
    handled that, and tells what happened.
    """
    trace = fault.trace
    if trace is None or not trace.frames or not all(_STDLIB.search(frame.file) for frame in trace.frames):
        return False
    return any(other.trace is not None and other.trace.cause is trace for other in scene.attempt.faults)


def _ended_another(fault: Fault, scene: Scene) -> bool:
    """Whether a command line was refused, so that its program ended at once, and another program ended behind it."""
    if fault.row.id != "usage" or fault.trace is not None:
        return False
    return any(
        other.number > fault.number and other.trace and other.trace.ends_program and other.row.explains > SUMMARY
        for other in scene.attempt.faults
        if other.severity == PROVEN and other.source == fault.source
    )


def _is_told_between(fault: Fault, scene: Scene) -> bool:
    """Whether a logger told of something between a death and the steps behind it: what a buffer held comes at once."""
    life = scene.attempt.last_progress
    between = (line for line in scene.record.tail if life and fault.number < line.number < life.number)
    return any(message(line.text).level in QUIET_LEVELS for line in between)


def _was_overtaken(fault: Fault, scene: Scene) -> bool:
    """Whether what follows a program's last exception is only what had waited in the buffer of its standard output."""
    attempt, trace = scene.attempt, fault.trace
    if scene.exited_zero or _is_told_between(fault, scene):
        return False
    if attempt.informed - fault.informed_before >= INFORMED:
        return False  # no logger waits
    if trace is None and fault.row.id in _ENDS_PROGRAM and attempt.progress > fault.progress_before:
        return (
            attempt.success is None
            and _stands_right_before(fault, scene)
            and attempt.steps.came_from_a_buffer(fault.progress_before, cut=False)
        )
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


def _stands_right_before(fault: Fault, scene: Scene) -> bool:
    """Whether nothing but its stack stands between a fault and the steps behind it, so that nobody began anew there."""
    if fault.row.id != "other-languages":
        return True  # a runtime ends the program that it speaks of
    first = next((step[1] for step in scene.attempt.steps.kept if step[0] > fault.progress_before), 0)
    between = [line.text for line in scene.record.tail if fault.number < line.number < first]
    return all(FRAME.search(text) or not text.strip() for text in between)


def _ends_in_death(fault: Fault, scene: Scene) -> bool:
    """Whether a launcher or a shell speaks of a death after the last progress."""
    return any(
        other.severity > WEAK
        and other.row.explains <= DEATH
        and other.number > fault.number
        and scene.attempt.progress - other.progress_before <= 1
        for other in scene.attempt.faults
    )


def _was_before_success(fault: Fault, scene: Scene) -> bool:
    success = scene.attempt.success
    if success is None or fault.number >= success.number:
        return False
    return not (_is_word_of_a_script(success.text) and _ended_its_program(fault, scene))


def _ended_its_program(fault: Fault, scene: Scene) -> bool:
    """Whether nobody caught an exception, and no work was told since."""
    trace, attempt = fault.trace, scene.attempt
    if trace is None or not trace.ends_program or trace.caught or fault.severity < PROVEN or fault.handled:
        return False
    return attempt.progress == fault.progress_before and attempt.informed - fault.informed_before < INFORMED


def _is_word_of_a_script(text: str) -> bool:
    """`exit code 0`, `job finished at 03:50`: who started a program may have missed its code, behind a pipe."""
    return _OF_A_SCRIPT.search(message(text).text) is not None


def _came_after_the_work(fault: Fault, scene: Scene) -> bool:
    attempt = scene.attempt
    went_on = fault.progress_before - attempt.progress_at_success >= GOES_ON
    if attempt.success is None or is_of_build(message(attempt.success.text).text):
        return False
    return attempt.signs_after(fault) <= 1 and not went_on


def _ends_with_exception(fault: Fault, scene: Scene) -> bool:
    """Whether a program that said that its work was done failed afterwards, as the last thing of all. Who raises while
    Python takes itself down, and who only misses a colleague, has done its work.
    """
    trace = fault.trace
    if trace is None or scene.well or not _is_uncaught(fault) or not trace.ends_program:
        return False
    if trace.ignored or trace.mentions(SHUTDOWN, last=4) or fault.row.explains < VAGUE:
        return False
    return _was_done(fault, scene) and scene.end - fault.number < MESSAGE_LINES


def _was_done(fault: Fault, scene: Scene) -> bool:
    return scene.attempt.success is not None and scene.attempt.success.number < fault.number


def _names_no_reason(fault: Fault, scene: Scene) -> bool:
    """Whether a fault after the work was done names neither a reason nor a defect, or is a part of Python's own end."""
    if scene.well or fault.severity < PROVEN:
        return True
    if fault.trace is not None and (fault.trace.ignored or fault.trace.mentions(SHUTDOWN, last=4)):
        return True
    return fault.row.explains < BUG


def _ends_its_helpers(fault: Fault, scene: Scene) -> bool:
    return fault.severity < PROVEN and (scene.well or (scene.attempt.reached_end and fault.row.explains <= ASKED))


def _is_uncaught(fault: Fault) -> bool:
    return fault.severity == PROVEN and not fault.handled


def _is_shown(fault: Fault) -> bool:
    """Whether the program seems to have shown an exception itself: without a traceback, or with one that begins in a
    function of its own.
    """
    return fault.trace.is_shown if fault.trace is not None else bool(_OF_PYTHON.match(message(fault.text).text))


def _asks_to_end(fault: Fault) -> bool:
    near = abs(fault.row.explains - ASKED) <= NEARLY_ASKED
    return fault.severity > WEAK and bool(fault.progress_before) and near


GROUNDS: tuple[Ground, ...] = (
    Ground(False, "its end was announced: who has done its work ends its helpers",
           lambda f, s: s.attempt.reached_end and is_meant(f, s.record.tail)),
    Ground(False, "a bare complaint, and a result was saved as the last thing of all", closes_with_result),
    Ground(False, "Python's own library had it in hand when another exception came", _was_in_its_librarys_hand),
    Ground(False, "a file is missing that a dead program was to write", _follows_a_death),
    Ground(False, "words so vague count in the last lines only", _is_vague_and_far),
    Ground(False, "a piece that failed, and a driver that sums up all of them", _is_a_lost_piece),
    Ground(True, "the last line of all says that the work will not be there", gave_up),
    Ground(False, "a bare complaint, and the last line of all says that the work is there", _closes_with_work),
    Ground(False, "the shell that started what complains shows its next commands, and works on", _a_shell_goes_on),
    Ground(False, "the program prints below what it printed above, or a result as its last line", _went_on),
    Ground(False, "the program's own lines count on from where they stood", counts_on),
    Ground(False, "what it complains of is fine in a later line", _is_fine_later),
    Ground(False, "a worker of a pool crashed, and the last line of all is a result", _is_of_a_worker),
    Ground(False, "a thread died, behind what says that the work is there", _is_of_a_thread_after_the_work),
    Ground(True, "what follows it had waited in a full buffer", _was_overtaken),
    Ground(True, "a word of success follows, from one who was stopped or has lost what it made",
           lambda f, s: _was_before_success(f, s) and outlives_success(f, s.attempt)),
    Ground(False, "a word of success follows", _was_before_success),
    Ground(False, "a bare complaint or one in hand, and loggers tell what the program does next", _is_worked_on),
    Ground(False, "a peer that was lost, and its coordinator tells of much more work", _is_a_peers),
    Ground(False, "a bare complaint or one in hand, and a logger tells again what it told before", does_it_again),
    Ground(False, "one in hand, which it had again and again at the same place, and worked on", _is_outlived_before),
    Ground(False, "a command line that was refused, and another program ended behind it", _ended_another),
    Ground(False, "a vague complaint, made before in the same words and outlived", _is_made_again),
    Ground(False, "a bare complaint, and the last line of all says done", _ends_with_done),
    Ground(False, "a bare complaint or one in hand, and none of the many lines since complains", _is_long_past),
    Ground(True, "the work was done, and the log ends with an exception of the program, which nobody caught",
           _ends_with_exception),
    Ground(False, "the work was done, and it names no reason",
           lambda f, s: _came_after_the_work(f, s) and _names_no_reason(f, s)),
    Ground(True, "the work was done, and it names a reason", _came_after_the_work),
    Ground(False, "who has done its work, or ended with 0, ends its helpers", _ends_its_helpers),
    Ground(True, "the loss is still no number",
           lambda f, s: f.row.explains == DIVERGED and f.severity > WEAK and s.attempt.lost is not None),
)  # fmt: skip

PATIENCE: tuple[Patience, ...] = (
    Patience(SURVIVED_DEATH, "nobody caught it, and the log ends with a death",
             lambda f, s: _is_uncaught(f) and _ends_in_death(f, s)),
    Patience(1, "nobody caught it, as several times before", lambda f, s: _is_uncaught(f) and _is_habit(f, s)),
    Patience(SURVIVED_SHOWN, "the program shows it: Python begins what nobody caught with the module",
             lambda f, _: _is_uncaught(f) and _is_shown(f)),
    Patience(SURVIVED_PROVEN, "nobody caught it: other ranks and bars show a step more", lambda f, _: _is_uncaught(f)),
    Patience(SURVIVED_PROVEN, "an interrupt: who is asked to end finishes its step",
             lambda f, _: f.severity > WEAK and not f.handled and bool(_INTERRUPT.search(f.text))),
    Patience(SURVIVED_ASKED, "a signal, which may have asked for a checkpoint only", lambda f, _: _asks_to_end(f)),
    Patience(SURVIVED_PROVEN, "a remark, where the process is known to have ended badly", lambda _, s: s.dead),
    Patience(1, "a remark, or an error that somebody wrote down", lambda *_: True),
)  # fmt: skip
