"""From what a log holds to the one fault that explains the rest. Pure."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from onbox.logs.in_vain import counts_none
from onbox.logs.model.lines import message
from onbox.logs.outcome import Outcome
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.around import headline_of, told_around
from onbox.triage.classes import SAYS
from onbox.triage.complaints import complaint
from onbox.triage.last_words import FATAL_LEVELS, are_no_words, failed_step, last_words
from onbox.triage.parting import without_partings
from onbox.triage.reading.faults import SPEAKS_OF, tells_a_way_on
from onbox.triage.reading.match import BY_ID, NEARLY_ASKED, OWN_WORDS
from onbox.triage.reading.outcome import closing_outcome
from onbox.triage.reading.record import LOGGED, PROVEN, WEAK, Fault, LogAttempt, Record
from onbox.triage.reading.series import ALL_ZERO, lost_figures, series_fault
from onbox.triage.reading.tracebacks import exception_of
from onbox.triage.reasons import GIVES_UP, ONLY_GIVES_UP, reason_before, told_after
from onbox.triage.rules.rows import ASKED, CAUSE, CONFIG, DEATH, SUMMARY, VAGUE, RuleRow
from onbox.triage.stacks import is_shown_by, last_stack
from onbox.triage.weighing.after_success import is_one_of_several
from onbox.triage.weighing.claims import ENDS_A_RUN, lost_pieces, nothing_came
from onbox.triage.weighing.earlier import ended_the_rest, was_there_before, without_earlier_runs
from onbox.triage.weighing.grounds import counts, is_over
from onbox.triage.weighing.last_lines import gave_up
from onbox.triage.weighing.layers import explained_by, looked_in_vain, thrown_by
from onbox.triage.weighing.scene import SURVIVED_PROVEN, Scene
from onbox.triage.weighing.shown import to_show
from onbox.triage.weighing.unproven import comes_all_the_time, was_written_before
from onbox.triage.weighing.went_on import is_complaint
from onbox.triage.words import STOPS

if TYPE_CHECKING:
    from onbox.triage.reading.record import SeenLine

_OF_A_SOCKET = lazy(r"[\\/]multiprocessing[\\/]connection\.py$")
SHOWS_WITHIN = 12  # lines: so near a signal, a traceback tells where it found the program
LAST_WORDS = 2  # lines behind the last step, one of which may look like a step
LOST_LINES = 2  # lines of a lost loss; one alone counts when it is the last
SCALE_FLOOR = 1e-4
SECOND_HAND = 1  # less than the exception that is raised again with where it was caught: that one is told below
_CANCELLED_TASK = lazy(r"(?:asyncio|concurrent)\S{0,40}\.CancelledError\b")
_LEAVES_WITH_A_WORD = lazy(r"SystemExit: \D")
_RAISED_AGAIN = lazy(r": Caught [A-Z]\w+ in (?:\w+ ){1,4}\d|\braised:\s*$|\(\d+ sub-exceptions?\)\s*$")
_MAY_BE_NUMBERS = (
    *OWN_WORDS,
    "crash-signal",
    "aborted",
    "fortran",
    "launcher",
    "other-languages",
    "solver-failed",
    "says-it-failed",
)
_HEADLINE = "Traceback (most recent call last):"
UNFINISHED = RuleRow("unfinished-traceback", "code_error", VAGUE - 5, "", "", "a log that ends inside a traceback", "")


class Decision(NamedTuple):
    """cause: the fault that explains the rest, None if the run has none. others: what else was found and counts, in the
    order of the log. attempt: the one that was judged. weak: the cause rests on remarks alone. lost: the cause is a
    lost loss in a run that may still go on.
    """

    cause: Fault | None
    others: tuple[Fault, ...]
    attempt: LogAttempt
    weak: bool = False
    lost: bool = False


def decide(record: Record, *, dead: bool, well: bool, exited_zero: bool) -> Decision:
    """The fault that explains how the run ended. dead, well, exited_zero: as in `Scene`."""
    attempt = judged_attempt(record)
    is_last = attempt is record.attempts[-1]
    record = _without_partings(record._replace(tail=judged_tail(record)))
    if attempt.success is not None and is_one_of_several(attempt.success, record.tail):
        attempt = copy(attempt)
        attempt.success = None
    scene = Scene(record, attempt, dead, well, exited_zero)
    cut = _unfinished(attempt, record) if is_last else None
    live = [fault for fault in (*attempt.faults, *((cut,) if cut else ())) if counts(fault, scene)]
    sure = [fault for fault in live if fault.severity > WEAK and not (fault.handled and not _gave_up_on(fault, scene))]
    lost = _lost(attempt) or series_fault(attempt, record.tail)
    if lost is not None and lost.row.id == ALL_ZERO.id and any(fault.ended_program for fault in sure):
        lost = None  # which says less than what ended the program
    if not sure and is_last and live and _takes_leave(live[-1], record):
        sure = [live[-1]._replace(severity=LOGGED)]
        live = [*live[:-1], *sure]
    if not sure and is_last and not are_no_words(attempt, record.tail):
        last, said = last_words(attempt, record.tail), complaint(attempt, record.tail, dead=dead)
        candidates = [_concrete(last, said), last] if last or said else [last_stack(attempt, record.tail)]
        words = next((one for one in candidates if one and not _is_outlived(one, scene)), None)
        words = words or (_before_a_buffer(attempt, record.tail) if dead and not exited_zero else None)
        words = words or lost_pieces(record, attempt)
        live, sure = (live, sure) if words is None else ([*live, words], [words])
    if not sure and not dead:
        return Decision(to_show(lost, live, attempt), (), attempt, lost=True) if lost else Decision(None, (), attempt)
    told = [
        fault
        for fault in live
        if not (sure and fault.handled and fault not in sure and fault.row.explains <= CAUSE)
        and not looked_in_vain(fault, live)
        and not _is_named_later(fault, live)
        and not ended_the_rest(fault, live)
        and not was_there_before(fault, live)
        and not _misses_its_parent(fault, live)
    ]
    told = without_earlier_runs(told, live, record)
    ranked = sorted([*told, *([lost] if lost else [])], key=_likeliest_first)
    if not ranked and dead and not exited_zero:
        ranked = _set_aside(attempt)
    if not ranked:
        return Decision(None, (), attempt)
    below = explained_by(ranked[0], attempt, near=SURVIVED_PROVEN) or thrown_by(ranked[0], attempt)
    below = below or reason_before(ranked[0], attempt, record.tail)
    if below is None:
        below = _told_beside(ranked[0], complaint(attempt, record.tail, dead=dead), live) or told_after(
            ranked[0], record.tail
        )
    if below is None and ranked[0].row.id in _MAY_BE_NUMBERS:
        below = lost_figures(record.tail, ranked[0])
    if below is None:
        below = told_around(ranked[0], attempt, record.tail) or headline_of(ranked[0], record.tail)
    if below is not None and below.row.id in _SAYS_LITTLE and SUMMARY < ranked[0].row.explains <= DEATH:
        below = None  # of a launcher's `failed with code 137`, the death says more
    below = below or _of_a_part(ranked[0], attempt)
    cause = _over(below, ranked[0]) if below else to_show(ranked[0], live, attempt)
    others = _others(cause, live)
    return Decision(cause, others, attempt, weak=cause.severity == WEAK, lost=ranked[0] is lost and not sure)


def _takes_leave(fault: Fault, record: Record) -> bool:
    """Whether it is the last line of all, and says that somebody ends the run, if only as a remark."""
    ends_a_run = fault.row.failure_class in ENDS_A_RUN and STOPS.search(fault.text) is not None
    return ends_a_run and _is_last(fault, record)


def _is_last(fault: Fault, record: Record) -> bool:
    return record.last_line is not None and fault.number == record.last_line.number


def _without_partings(record: Record) -> Record:
    """As if it ended before the lines that only take leave."""
    tail = without_partings(record.tail)
    return record if len(tail) == len(record.tail) else record._replace(tail=tail, last_line=tail[-1])


def _set_aside(attempt: LogAttempt) -> list[Fault]:
    """Of a run that is known to have failed, though its log says that it is done: what would have counted but for that
    word, the likeliest first.
    """
    told = [one for one in attempt.faults if one.severity > WEAK and not one.handled and one.row.explains > SUMMARY]
    return sorted(told, key=_likeliest_first)


def _is_named_later(fault: Fault, live: list[Fault]) -> bool:
    """Whether the end of its chain of exceptions names another kind of trouble, and it is a slip that a library came
    upon while it tried, or only a guess: whoever handled it knew more.
    """
    if fault.trace is None:
        return False
    cancelled = _CANCELLED_TASK.match(message(fault.text).text) is not None  # by who waited for it, and tells why
    if not (cancelled or fault.row.id.startswith(SAYS) or fault.row.id == "defect"):
        return False
    last = next((one for one in reversed(live) if one.trace is not None and one.trace.passes_on(fault.trace)), None)
    if cancelled:
        return last is not None
    return last is not None and last.row.failure_class not in ("code_error", "unknown", fault.row.failure_class)


def _misses_its_parent(fault: Fault, live: list[Fault]) -> bool:
    """Whether a process found the socket of one that had been ended gone."""
    if fault.row.id != "no-such-file" or fault.trace is None or not fault.trace.frames:
        return False
    is_of_a_socket = _OF_A_SOCKET.search(fault.trace.frames[-1].file) is not None
    return is_of_a_socket and any(SUMMARY < one.row.explains <= ASKED for one in live)


def _of_a_part(count: Fault, attempt: LogAttempt) -> Fault | None:
    """What ended the newest part that failed, where the others were worked on and all that is told is a code at the
    end; or else the only kind of trouble that the log names.
    """
    if count.severity < LOGGED:
        return None
    if _LEAVES_WITH_A_WORD.match(count.text):
        return _only_kind_above(count, attempt)
    if count.row.explains > SUMMARY:
        return None
    ended = next((one for one in reversed(attempt.faults) if one.ended_program), None)
    named = [one for one in attempt.faults if one.row.explains >= CONFIG and one.severity > WEAK and not one.handled]
    return ended or _of_one_kind(named)


def _only_kind_above(last: Fault, attempt: LogAttempt) -> Fault | None:
    """The newest of the faults above the program's own word of leaving, where all of them are of one kind."""
    above = [one for one in attempt.faults if one.number < last.number and one.row.explains >= CONFIG and not one.trace]
    return _of_one_kind(above) if len(above) > 1 else None


def _of_one_kind(faults: list[Fault]) -> Fault | None:
    """The newest of them, where all are of one class."""
    return faults[-1] if len({one.row.failure_class for one in faults}) == 1 else None


GAVE_UP_WITHIN = 8  # lines
SAME_EVENT = 2  # lines between a logger's error and the exception below it
GOES_ON_FOR = 3  # lines: so far does the message of an exception reach
_SAYS_LITTLE = ("exception", "said-error", "error-line", "fatal-level", "torch-writer", "short-write")


def _gave_up_on(fault: Fault, scene: Scene) -> bool:
    """Whether what had been tried again was given up in the last lines."""
    last = scene.record.last_line
    if last is None or scene.end - fault.number > GAVE_UP_WITHIN:
        return False
    if nothing_came(scene.record.tail):
        return True
    if tells_a_way_on(last.text):
        return False
    return gave_up(fault, scene)


def _told_beside(cause: Fault, said: Fault | None, live: list[Fault]) -> Fault | None:
    """What says more than a bare death, or than an exception whose message goes on there."""
    if cause.row.explains <= DEATH and cause.trace is None:
        if said is None or (said.number > cause.number and said.row.id == "no-such-file"):
            return None  # or a script misses what the dead program was to write
        told = [*(one for one in live if one.number == said.number), said]  # a rule's word goes before a guess
        return next((one for one in told if one.row.explains > DEATH), None)
    is_guess = cause.row.id.startswith(SAYS)
    if cause.row.id not in _SAYS_LITTLE and not is_guess:
        return None
    if not is_guess and said is not None and said.row.explains >= CONFIG and cause.trace is None:
        return said
    near = (fault for fault in live if 0 < fault.number - cause.number <= GOES_ON_FOR)
    return next((one for one in near if one.row.explains >= CONFIG and not one.row.id.startswith(SAYS)), None)


def _before_a_buffer(attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> Fault | None:
    """The last words of a dead program whose output had waited in a buffer until its end, and so stands behind them."""
    if attempt.success is not None or not attempt.steps.came_from_a_buffer(0, cut=False):
        return None
    first = attempt.steps.kept[0][1] if attempt.steps.kept else 0
    head = tuple(line for line in tail if line.number < first)
    return last_words(attempt, head) or complaint(attempt, head, dead=True)


def _is_outlived(words: Fault, scene: Scene) -> bool:
    if words.row.id == "error-line" and counts_none([words.text]) is not None:
        return True  # the program ended by itself, and tells what came of it
    failed = failed_step(scene.record.tail)
    if failed is not None and failed.number == words.number:
        return False
    weighed = [one for one in scene.attempt.faults if one.number == words.number]
    if any((one.trace and not counts(one, scene)) or comes_all_the_time(one, scene) for one in weighed):
        return True
    if _is_last(words, scene.record) and message(words.text).level in FATAL_LEVELS:
        return False
    near = (one for one in scene.attempt.faults if abs(one.number - words.number) <= SAME_EVENT)
    if not GIVES_UP.search(words.text) and any(was_written_before(one, scene) for one in near):
        return True
    return is_over(words, scene) or _is_set_aside(words, scene.attempt, scene.record.tail)


def _is_set_aside(words: Fault, attempt: LogAttempt, tail: tuple[SeenLine, ...]) -> bool:
    """Whether the program went on from what its last words tell of: the next line says so, or the one above shows whose
    trouble it is.
    """
    if any(fault.handled for fault in attempt.faults if fault.number == words.number):
        return True
    below = (line.text for line in tail if words.number < line.number <= words.number + SPEAKS_OF)
    may_go_on = is_complaint(words) or words.row.explains <= SUMMARY
    if may_go_on and any(tells_a_way_on(text) for text in below):
        return True
    above = next((line.text for line in tail if line.number == words.number - 1), "")
    said = message(words.text)
    return said.level is None and is_shown_by(above) and exception_of(said.text, in_trace=False) is not None


def _concrete(words: Fault | None, said: Fault | None) -> Fault | None:
    """Of the last line and the last paragraph, the one that says more."""
    if words is None or said is None:
        return words or said
    return said if said.row.explains > words.row.explains else words


def _over(remark: Fault, error: Fault) -> Fault:
    """A remark that explains an error, with the error's traceback."""
    return remark._replace(severity=LOGGED, trace=error.trace, ended=message(error.text).text)


def judged_attempt(record: Record) -> LogAttempt:
    """The last attempt; the one before, if the last has shown nothing of its own."""
    last = record.attempts[-1]
    called_off = _was_called_off(record)
    if len(record.attempts) > 1 and (called_off or not last.has_own_fate):
        before = record.attempts[0]
        if called_off or any(fault.severity > WEAK for fault in before.faults):
            joined = copy(before)
            joined.faults = [*before.faults, *last.faults]
            return joined
    return last


def _was_called_off(record: Record) -> bool:
    """Whether one more attempt was announced, and then who was to make it gave up."""
    last = record.attempts[-1]
    if last.started is None or last.progress or last.success:
        return False
    since = (line for line in record.tail if line.number >= last.started.number)
    return any(ONLY_GIVES_UP.search(message(line.text).text) for line in since)


def judged_tail(record: Record) -> tuple[SeenLine, ...]:
    """The last lines of the attempt that is judged."""
    attempt = judged_attempt(record)
    if attempt is not record.attempts[-1] or attempt.started is None:
        return record.tail
    return tuple(line for line in record.tail if line.number >= attempt.started.number)


def _score(fault: Fault) -> float:
    """How well a fault explains the end: what it names, less the doubt about whether it mattered."""
    doubt = {PROVEN: 0, LOGGED: 15, WEAK: 46}[fault.severity]
    return fault.row.explains - doubt - (SECOND_HAND if _RAISED_AGAIN.search(fault.text) else 0)


def _likeliest_first(fault: Fault) -> tuple[float, int]:
    """What faults are sorted by: how well they explain the end, and between equals by their place."""
    return -_score(fault), fault.number


def _lost(attempt: LogAttempt) -> Fault | None:
    """The loss is no number any more, or the loss scale fell to nothing."""
    row = BY_ID["not-finite"]
    if attempt.lost is not None:
        is_last = attempt.last_progress is None or attempt.lost.number + LAST_WORDS >= attempt.last_progress.number
        if attempt.lost_lines >= LOST_LINES or is_last:
            return Fault(row, attempt.lost.number, attempt.lost.text, PROVEN, attempt.progress)
    if len(attempt.overflows) >= 5 and attempt.overflows[-1] <= SCALE_FLOOR and attempt.overflow_line is not None:
        return Fault(row, attempt.overflow_line.number, attempt.overflow_line.text, PROVEN, attempt.progress)
    return None


def _unfinished(attempt: LogAttempt, record: Record) -> Fault | None:
    """The traceback that the log ends in, or whose exception another writer wrote over."""
    trace = attempt.open_trace
    if trace is None or _was_asked_to_end(trace.number, attempt):
        return None
    if record.lines - trace.latest > SHOWS_WITHIN and closing_outcome(record) is Outcome.MADE:
        return None  # a program has shown it
    return Fault(UNFINISHED, trace.latest, trace.last_line or _HEADLINE, PROVEN, trace.progress, trace)


def _was_asked_to_end(before: int, attempt: LogAttempt) -> bool:
    """Whether a signal stands right before such a traceback, which shows where it came upon the program."""
    return any(
        0 < before - fault.number <= SHOWS_WITHIN
        and fault.severity > WEAK
        and abs(fault.row.explains - ASKED) <= NEARLY_ASKED
        for fault in attempt.faults
    )


def _others(cause: Fault, live: list[Fault]) -> tuple[Fault, ...]:
    seen = {cause.row.failure_class}
    others = []
    for fault in sorted(live, key=_likeliest_first):
        if fault.row.failure_class not in seen and fault.severity > WEAK and fault.row.explains > SUMMARY:
            seen.add(fault.row.failure_class)
            others.append(fault)
    return tuple(others[:5])
