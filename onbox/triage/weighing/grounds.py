"""Whether a fault counts: did it end the run, or did the run go on, or finish, in spite of it? Pure.

Two tables decide, each by its first row that holds: what settles it at once, and else how many life signs of its writer
a fault of its kind is outlived by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.logs.outcome import Outcome
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.reading import signs
from onbox.triage.reading.match import NEARLY_ASKED, WORK_LEVELS
from onbox.triage.reading.outcome import closing_outcome
from onbox.triage.reading.record import PROVEN, WEAK
from onbox.triage.reading.success import counts_failed, is_success
from onbox.triage.rules.rows import ASKED, DEATH, DIVERGED, SUMMARY
from onbox.triage.weighing.after_success import (
    came_after_the_work,
    ends_its_helpers,
    ends_with_exception,
    is_uncaught,
    names_no_reason,
    was_before_success,
)
from onbox.triage.weighing.anothers import (
    ended_another,
    follows_a_death,
    follows_a_report,
    is_a_counted_part,
    is_a_lost_piece,
    is_a_peers,
    is_a_tally,
    is_ended_with_another,
    is_of_a_piece,
    is_of_a_request,
    is_of_a_thread_after_the_work,
    is_of_a_worker,
    is_of_an_ended_container,
    is_of_an_errored_trial,
    is_one_of_all,
    misses_an_aborted_rank,
    reads_an_empty_pipe,
    was_in_its_librarys_hand,
    was_started_once_more,
)
from onbox.triage.weighing.buffered import was_overtaken
from onbox.triage.weighing.claims import OF_A_STEP, is_meant, nothing_came, outlives_success
from onbox.triage.weighing.deaths import is_dead_for_sure, was_ended_as_a_job
from onbox.triage.weighing.last_lines import (
    closes_with_result,
    closes_with_work,
    ends_with_done,
    ends_with_the_work,
    gave_up,
    is_of_ended_stage,
    is_of_one_step,
)
from onbox.triage.weighing.no_room import could_not_write
from onbox.triage.weighing.numbered_rows import is_numbered_row
from onbox.triage.weighing.scene import INFORMED, SURVIVED_PROVEN
from onbox.triage.weighing.shell import a_shell_goes_on
from onbox.triage.weighing.steps import ended_its_step
from onbox.triage.weighing.unproven import (
    comes_all_the_time,
    does_it_again,
    is_bare,
    is_habit,
    is_long_past,
    is_made_again,
    is_outlived_before,
    is_vague_and_far,
    is_worked_on,
    was_told_before,
    was_written_before,
)
from onbox.triage.weighing.went_on import (
    counts_on,
    is_next_of_its_kind,
    is_tallied,
    same_is_fine_later,
    sums_up_failed_tests,
    went_on,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.triage.reading.record import Fault
    from onbox.triage.weighing.scene import Scene

SURVIVED_SHOWN = 2  # lines of progress after an uncaught traceback that the program seems to have shown itself
SURVIVED_DEATH = 8  # the same after any, where a launcher counts a death at the end: that one needs a cause near it
SURVIVED_ASKED = 2  # the same after a signal, which may have asked for a checkpoint only
REPORTED_WITHIN = 8  # lines, up to the end
CANCELLED_WITHIN = 4  # lines
SUMMED_UP_WITHIN = 40  # lines: what was running then is told one by one
_NAMES_NO_REASON = lazy(r"\w{1,40}(?:Error|Exception):?$")
_OF_PYTHON = lazy(r"[A-Z]\w{0,40}(?:Error|Exception): ")
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
    counted = (one for one in later if not (is_of_a_piece(one) or is_a_tally(one, scene)))
    if any(one.row.explains <= SUMMARY and not one.handled for one in counted):
        return False  # somebody tells of an end with an exit code
    return not later or later[-1].handled or not counts(later[-1], scene)


def _ends_with_failed_tests(fault: Fault, scene: Scene) -> bool:
    if not sums_up_failed_tests(fault) or scene.end - fault.number > REPORTED_WITHIN:
        return False
    return scene.attempt.success is None or scene.attempt.success.number < fault.number


def _went_on(fault: Fault, scene: Scene) -> bool:
    if is_of_ended_stage(fault, scene):
        return False
    return went_on(fault, scene) and _is_the_last_to_count(fault, scene)


def _a_shell_goes_on(fault: Fault, scene: Scene) -> bool:
    return a_shell_goes_on(fault, scene) and _is_the_last_to_count(fault, scene)


def _is_fine_later(fault: Fault, scene: Scene) -> bool:
    return fault.severity < PROVEN and same_is_fine_later(fault, scene) and _is_the_last_to_count(fault, scene)


def is_over(words: Fault, scene: Scene) -> bool:
    """Whether the program did more after a complaint among its last lines, which no rule has counted."""
    if was_told_before(words, scene) or is_one_of_all(words, scene) or _is_counted_beside_good(words, scene):
        return True
    if closing_outcome(scene.record) is Outcome.LOST and not scene.exited_zero:
        return False
    if closes_with_work(words, scene) or same_is_fine_later(words, scene):
        return True
    if closes_with_result(words, scene) or does_it_again(words, scene) or ends_with_done(words, scene):
        return True
    if went_on(words, scene) or a_shell_goes_on(words, scene):
        return True
    since = [message(line.text) for line in scene.record.tail if line.number > words.number]
    told = sum(said.level in WORK_LEVELS and not signs.FAREWELL.search(said.text) for said in since)
    return is_bare(words, scene) and told >= INFORMED


def _is_counted_beside_good(words: Fault, scene: Scene) -> bool:
    """Whether the last line of all counts what failed beside what went well, and no more than one did."""
    last = scene.record.last_line
    if scene.dead or last is None or last.number <= words.number:
        return False
    return counts_failed(message(last.text).text) == 1


def _ends_in_death(fault: Fault, scene: Scene) -> bool:
    """Whether a launcher or a shell speaks of a death after the last progress."""
    return any(
        other.severity > WEAK
        and other.row.explains <= DEATH
        and other.number > fault.number
        and not is_a_tally(other, scene)
        and scene.attempt.progress - other.progress_before <= 1
        for other in scene.attempt.faults
    )


def _is_shown(fault: Fault) -> bool:
    """Whether the program seems to have shown an exception itself: without a traceback, or with one that begins in a
    function of its own.
    """
    return fault.trace.is_shown if fault.trace is not None else bool(_OF_PYTHON.match(message(fault.text).text))


def _asks_to_end(fault: Fault, scene: Scene) -> bool:
    """Whether somebody asked the run to end. Where the log shows hardly a step, those before it were not written."""
    near = abs(fault.row.explains - ASKED) <= NEARLY_ASKED
    at_work = fault.progress_before or scene.attempt.progress <= SURVIVED_ASKED
    return fault.severity > WEAK and bool(at_work) and near


def _has_done_its_work(scene: Scene) -> bool:
    return scene.attempt.reached_end or closing_outcome(scene.record) is Outcome.MADE


def _left_nothing(fault: Fault, scene: Scene) -> bool:
    return fault.severity > WEAK and fault.row.explains > SUMMARY and nothing_came(scene.record.tail)


def _had_enough(fault: Fault, scene: Scene) -> bool:
    """Whether the reader of its output went away, as `head` does, and what followed is there."""
    if fault.row.id != "reader-gone" or scene.record.last_line is None:
        return False
    return closing_outcome(scene.record) is Outcome.MADE or is_success(message(scene.record.last_line.text).text)


def _was_taken_up(fault: Fault, scene: Scene) -> bool:
    return _asks_to_end(fault, scene) and scene.attempt.reached_end and scene.attempt.signs_after(fault) > 0


def _was_cancelled(fault: Fault, scene: Scene) -> bool:
    says_nothing = _NAMES_NO_REASON.match(message(fault.text).text)
    within = SUMMED_UP_WITHIN if says_nothing else CANCELLED_WITHIN
    return bool(fault.row.explains < ASKED or says_nothing) and any(
        0 < fault.number - one.number <= within and one.row.id == "cancelled" and not one.handled
        for one in scene.attempt.faults
    )


GROUNDS: tuple[Ground, ...] = (
    Ground(False, "one step of a job was cancelled, and the last line of all says that the work is there",
           lambda f, s: bool(OF_A_STEP.search(f.text)) and closing_outcome(s.record) is Outcome.MADE),
    Ground(True, "Slurm has ended the whole job, and what follows was on its way by then", was_ended_as_a_job),
    Ground(True, "a batch system's report, above the output that it tells of",
           lambda f, s: f.number < s.attempt.report_ends and f.severity > WEAK),
    Ground(False, "its end was announced: who has done its work ends its helpers",
           lambda f, s: _has_done_its_work(s) and is_meant(f, s.record.tail)),
    Ground(True, "the last lines say that nothing came of the work", _left_nothing),
    Ground(False, "the job or its step was cancelled right before: so its processes are killed", _was_cancelled),
    Ground(False, "a row of many that the program numbers, and it told more behind them", is_numbered_row),
    Ground(False, "torchrun told of it, and started all ranks once more, which work", was_started_once_more),
    Ground(False, "its reader had read enough, and the last line of all says that the work is there", _had_enough),
    Ground(True, "the report of a test suite, and behind it no word of success", _ends_with_failed_tests),
    Ground(False, "a count of what went well and what did not, as the last line of all", is_a_tally),
    Ground(False, "one of the last lines counts just what has failed, beside what went well", is_tallied),
    Ground(True, "a runtime or a shell says that it is dead, and nobody worked since", is_dead_for_sure),
    Ground(True, "nothing more could be written, and nobody tells of a way on", could_not_write),
    Ground(True, "a step of a script ended with it, and the script took the next one without a word", ended_its_step),
    Ground(False, "the last line of all tells what came of the work", ends_with_the_work),
    Ground(False, "a bare complaint, and a result was saved as the last thing of all", closes_with_result),
    Ground(False, "Python's own library had it in hand when another exception came", was_in_its_librarys_hand),
    Ground(False, "a file is missing that a dead program was to write", follows_a_death),
    Ground(False, "a tool reads what the shell could not start", reads_an_empty_pipe),
    Ground(False, "a launcher has reported the death, and a tool complains behind its report", follows_a_report),
    Ground(False, "a container is stopped because another one has ended", is_ended_with_another),
    Ground(False, "a peer has gone because a rank has aborted all", misses_an_aborted_rank),
    Ground(True, "a container has ended with a code, and was not started again", is_of_an_ended_container),
    Ground(False, "words so vague count in the last lines only", is_vague_and_far),
    Ground(False, "a part, and the last line of all counts how many of them did well", is_a_counted_part),
    Ground(False, "a server tells of a request that it could not answer", is_of_a_request),
    Ground(False, "one piece, and the last line of all counts every one of them", is_one_of_all),
    Ground(False, "a piece that failed, and a driver that sums up all of them", is_a_lost_piece),
    Ground(False, "a trial that a search counts as errored, and the program told more", is_of_an_errored_trial),
    Ground(True, "the last line of all says that the work will not be there",
           lambda f, s: gave_up(f, s) and not was_written_before(f, s)),
    Ground(False, "a bare complaint, and the last line of all says that the work is there", closes_with_work),
    Ground(False, "the shell that started what complains shows its next commands, and works on", _a_shell_goes_on),
    Ground(False, "the program prints below what it printed above, or a result as its last line", _went_on),
    Ground(False, "the program's own lines count on from where they stood", counts_on),
    Ground(False, "what it complains of is fine in a later line", _is_fine_later),
    Ground(False, "a worker of a pool crashed, and the last line of all is a result", is_of_a_worker),
    Ground(False, "a thread died, behind what says that the work is there", is_of_a_thread_after_the_work),
    Ground(False, "somebody asked it to end, and it was taken up again, up to its end", _was_taken_up),
    Ground(True, "what follows it had waited in a full buffer", was_overtaken),
    Ground(True, "a word of success follows, from one who was stopped or has lost what it made",
           lambda f, s: was_before_success(f, s) and outlives_success(f, s.attempt)),
    Ground(False, "a word of success follows", was_before_success),
    Ground(False, "a bare complaint or one in hand, and loggers tell what the program does next", is_worked_on),
    Ground(False, "a peer that was lost, and its coordinator tells of much more work", is_a_peers),
    Ground(False, "a bare complaint or one in hand, and a logger tells again what it told before", does_it_again),
    Ground(False, "one in hand, which it had again and again at the same place, and worked on", is_outlived_before),
    Ground(False, "one piece of many, shown as an earlier one was, and then the next was taken", is_next_of_its_kind),
    Ground(False, "it was written down as often before, and the run went on each time", was_written_before),
    Ground(False, "the same came several times before, and the program worked on until the next", comes_all_the_time),
    Ground(False, "a command line that was refused, and another program ended behind it", ended_another),
    Ground(False, "a vague complaint, made before in the same words and outlived", is_made_again),
    Ground(False, "a bare complaint, and the last line of all says done", ends_with_done),
    Ground(False, "the exit code of one step, a later one ended well, and the work is there", is_of_one_step),
    Ground(False, "a bare complaint or one in hand, and none of the many lines since complains", is_long_past),
    Ground(True, "the work was done, and the log ends with an exception of the program, which nobody caught",
           ends_with_exception),
    Ground(False, "the work was done, and it names no reason",
           lambda f, s: came_after_the_work(f, s) and names_no_reason(f, s)),
    Ground(True, "the work was done, and it names a reason", came_after_the_work),
    Ground(False, "who has done its work, or ended with 0, ends its helpers", ends_its_helpers),
    Ground(True, "the loss is still no number",
           lambda f, s: f.row.explains == DIVERGED and f.severity > WEAK and s.attempt.lost is not None),
)  # fmt: skip


PATIENCE: tuple[Patience, ...] = (
    Patience(SURVIVED_DEATH, "nobody caught it, and the log ends with a death",
             lambda f, s: is_uncaught(f) and _ends_in_death(f, s)),
    Patience(1, "nobody caught it, as several times before", lambda f, s: is_uncaught(f) and is_habit(f, s)),
    Patience(SURVIVED_SHOWN, "the program shows it: Python begins what nobody caught with the module",
             lambda f, _: is_uncaught(f) and _is_shown(f)),
    Patience(SURVIVED_PROVEN, "nobody caught it: other ranks and bars show a step more", lambda f, _: is_uncaught(f)),
    Patience(SURVIVED_PROVEN, "an interrupt: who is asked to end finishes its step",
             lambda f, _: f.severity > WEAK and not f.handled and bool(_INTERRUPT.search(f.text))),
    Patience(SURVIVED_ASKED, "a signal, which may have asked for a checkpoint only", _asks_to_end),
    Patience(SURVIVED_PROVEN, "a remark, where the process is known to have ended badly", lambda _, s: s.dead),
    Patience(1, "a remark, or an error that somebody wrote down", lambda *_: True),
)  # fmt: skip
