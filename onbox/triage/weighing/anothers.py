"""Whether a fault is another's: a part of the work, a worker, a thread, a peer, a library, an earlier program. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.logs.model.writers import writer_of
from onbox.logs.outcome import Outcome, counts_both
from onbox.regex import lazy
from onbox.triage.meaning import without_none
from onbox.triage.reading import signs
from onbox.triage.reading.match import BAD_LEVELS
from onbox.triage.reading.outcome import closing_outcome, outcome_of
from onbox.triage.reading.record import CONTAINER_ENDED, LOGGED, PROVEN, WEAK
from onbox.triage.reading.success import counts_failed
from onbox.triage.reading.tracebacks import OF_REQUEST
from onbox.triage.rules.rows import DEATH, DIVERGED, PEER, SUMMARY
from onbox.triage.weighing.outputs import complains, is_result
from onbox.triage.weighing.unproven import TOLD_MUCH
from onbox.triage.weighing.went_on import first_line, names_piece, took_the_next

if TYPE_CHECKING:
    from onbox.triage.reading.record import Fault
    from onbox.triage.weighing.scene import Scene

_ENDED_ALL = lazy(r"\bfailed \(exitcode: ?-?[1-9]\d{0,2}\) local_rank: ")
STEPS_SINCE = 3
STACK_LINES = 40  # of a crash
_MISSED_BY = 10  # lines behind a death, in which a script misses what the dead program was to write
_PIPED_WITHIN = 4  # lines between what a shell could not start and who was to read from it
_OF_A_LAUNCHER = lazy(r"\b(?:srun|slurmstepd|mpirun|mpiexec|prun|prterun|torchrun|deepspeed|pdsh|rank)\b")
_OF_A_SEARCH = lazy(r"(?i)\b(?:trial|candidate|config|seed|experiment)\b")
_OF_A_POOL = lazy(r"^\s+File \".{1,300}\", line \d{1,7} in (?:_process_worker|_bootstrap|_worker_loop|worker)$")
_LOST_ONE = lazy(r"(?i)\b(?:lost|removed|removing) (?:the )?(?:executor|task|worker)\b|\bExecutorLostFailure\b")
TOLD_OF_OTHERS = 5  # lines of loggers
_TRIALS_ERRORED = lazy(r"\bERROR\b.{1,40}-- Trials did not complete: \[")
_ABORTED = lazy(r"\bMPI_ABORT was invoked|\bcalled MPI_Abort\b")
_OF_A_THREAD = lazy(r"^Exception in thread ")
_STDLIB = lazy(r"[\\/](?:lib[\\/]python[\d.]+|Lib)[\\/](?!(?:site|dist)-packages)|^<frozen ")
# `31 of 31 volumes`, `31 good, 0 bad`: all that there was.
_COUNTS_ALL = lazy(
    r"(?<!step )(?<!stage )(?<!phase )(?<![\d.,/])(?P<all>[2-9]|[1-9]\d{1,8}) ?(?:of|/|out of) ?(?P=all)(?![\d./%])"
    r"(?!.{0,60}\b(?:fail|lost|dead|bad|could|not)\w*)"
    r"|\b[1-9]\d{0,8} (?:good|ok|fine|passed),? (?:and )?0 (?:bad|failed|errors?|broken)\W{0,3}$",
    re.IGNORECASE,
)
_OF_A_BAR = lazy(
    r"\d%\||\[0x[0-9a-f]{6,16}\]|\[\d\d:\d\d|^\W{0,4}(?:load|download|fetch|import|install)\w{0,3}ing\b", re.IGNORECASE
)


def is_of_a_piece(fault: Fault) -> bool:
    """`trial 9: FAILED rc=1`, and no launcher's word of one of its processes."""
    return names_piece(fault.text) and not _OF_A_LAUNCHER.search(fault.text)


def is_a_lost_piece(fault: Fault, scene: Scene) -> bool:
    """Whether a driver counts one of its pieces as failed, or a search one of its trials as diverged, and takes the
    next one, or tells at its end which was best, or what it saved.
    """
    last = scene.record.last_line
    if scene.dead or last is None or not is_of_a_piece(fault):
        return False
    if fault.row.explains > SUMMARY and not (fault.row.explains == DIVERGED and _OF_A_SEARCH.search(fault.text)):
        return False
    if took_the_next(fault, scene):
        return True
    return last.number > fault.number and is_result(last.text, sure=True)


def is_a_tally(fault: Fault, scene: Scene) -> bool:
    """Whether a launcher's word of a failure is its last line of all, which counts what went well, too."""
    if fault.row.explains > SUMMARY or scene.dead or fault.number != scene.end:
        return False
    return counts_failed(message(fault.text).text) > 0


# How many of the parts did well, in a line that tells what came of all.
_TALLY = lazy(
    r"\b[1-9]\d{0,8} (?:out )?of \d{1,9}\b(?: [a-z]{3,16})? (?:usable|ok|good|passed|solved|succeeded|successful"
    r"|correct|valid|converged)\b|\bpass@\d|\bfailed,? as (?:allowed|expected|designed|planned|intended|wanted)\b",
    re.IGNORECASE,
)


def is_a_counted_part(fault: Fault, scene: Scene) -> bool:
    """Whether the last line of all tells what came of the work, and counts how many of its parts did well."""
    last = scene.record.last_line
    if last is None or last.number <= fault.number:
        return False
    return _TALLY.search(message(last.text).text) is not None and outcome_of(last.text) is Outcome.MADE


def is_one_of_all(fault: Fault, scene: Scene) -> bool:
    """Whether it complains of a piece, and the last line of all counts every one of them, or those that went well
    beside those that did not.
    """
    last = scene.record.last_line
    if scene.dead or last is None or last.number <= fault.number or fault.ended_program:
        return False
    if fault.row.explains == DIVERGED:
        return False  # a loop comes to its end with any figures
    said = message(last.text).text
    if counts_both(said):
        return True
    found = _COUNTS_ALL.search(said)
    if found is None or scene.attempt.steps.is_habit(last.text) or _OF_A_BAR.search(said):
        return False
    return not complains(without_none(said))


def is_of_a_request(fault: Fault, scene: Scene) -> bool:
    """Whether a server tells of a request that it could not answer: it answers the next one."""
    if scene.dead or fault.trace is None or not fault.trace.caught:
        return False
    return OF_REQUEST.search(fault.trace.before) is not None


def is_of_an_errored_trial(fault: Fault, scene: Scene) -> bool:
    """Whether Ray Tune logs which trials have errored, below a fault, and the program went on to tell of the others:
    where it does not mean to, it raises `TuneError`.
    """
    summed_up = next((line.number for line in scene.record.tail if _TRIALS_ERRORED.search(line.text)), 0)
    if scene.dead or fault.number > summed_up:
        return False
    goes_on = any(line.number > summed_up for line in scene.record.tail)
    return goes_on and not any(one.number > summed_up for one in scene.attempt.faults)


def follows_a_death(fault: Fault, scene: Scene) -> bool:
    """Whether a file is missing that a program was to write which had been killed right before."""
    if fault.row.id != "no-such-file" or fault.trace is not None:
        return False
    return any(
        other.severity == PROVEN
        and SUMMARY < other.row.explains <= DEATH
        and 0 < fault.number - other.number <= _MISSED_BY
        and scene.attempt.signs_after(other) <= 1  # the headline of the next part
        for other in scene.attempt.faults
    )


# An epilogue shows what the kernel wrote meanwhile.
_OF_THE_KERNEL = lazy(r"\bNVRM: |\bkernel: |\bOut of memory: Killed process\b|\boom-kill:")


def follows_a_report(fault: Fault, scene: Scene) -> bool:
    """Whether a launcher has told at length of a death that an error explains, and a tool complains behind that."""
    if scene.dead or fault.trace is not None or fault.source or fault.row.explains <= DEATH:
        return False
    if _OF_THE_KERNEL.search(fault.text):
        return False
    reports = [one.number for one in scene.attempt.faults if one.row.id == "launcher" and one.trace is not None]
    report = next((number for number in reports if number < fault.number), 0)
    return any(
        one.number < report and one.severity > WEAK and one.row.explains > DEATH and not scene.attempt.signs_after(one)
        for one in scene.attempt.faults
    )


# What a shell says of a command that it could not start, or of a name that is not set.
_NOT_STARTED = lazy(r"\S{1,200}: (?:line \d{1,6}: )?\S{1,80}: (?:command not found|unbound variable|not found)$")
_FROM_A_PIPE = lazy(r"\bstdin\b|\btar: (?:This does not look like|Unexpected EOF)|\bunexpected end of (?:file|input)\b")


def reads_an_empty_pipe(fault: Fault, scene: Scene) -> bool:
    """Whether a tool had nothing to read, because the shell could not start what was to write it."""
    if fault.trace is not None or not _FROM_A_PIPE.search(fault.text):
        return False
    above = (line for line in scene.record.tail if 0 < fault.number - line.number <= _PIPED_WITHIN)
    return any(_NOT_STARTED.match(line.text.strip()) for line in above)


def is_of_a_worker(fault: Fault, scene: Scene) -> bool:
    """Whether the stack of a crash is that of a pool's worker, and what its program says last is a result."""
    if scene.dead or fault.trace is not None or fault.row.explains != DEATH or fault.number >= scene.end:
        return False
    below = [line.text for line in scene.record.tail if 0 < line.number - fault.number <= STACK_LINES]
    if not any(_OF_A_POOL.search(text) for text in below):
        return False
    last = scene.record.tail[-1].text
    return closing_outcome(scene.record) is Outcome.MADE or is_result(last, sure=False)


def is_of_a_thread_after_the_work(fault: Fault, scene: Scene) -> bool:
    """Whether an exception ended a thread alone, and the last line before it says that the work is there."""
    if fault.trace is None or not fault.trace.follows(_OF_A_THREAD):
        return False
    above = [line.text for line in scene.record.tail if line.number < first_line(fault) - 1]
    return bool(above) and outcome_of(above[-1]) is Outcome.MADE and not signs.MIDWAY.search(above[-1])


def misses_an_aborted_rank(fault: Fault, scene: Scene) -> bool:
    """Whether MPI tells of a peer that has gone, behind the abort of one of its ranks."""
    if fault.row.explains > PEER or fault.row.failure_class != "nccl_or_distributed":
        return False
    return any(one.number < fault.number and _ABORTED.search(one.text) for one in scene.attempt.faults)


def was_started_once_more(fault: Fault, scene: Scene) -> bool:
    """Whether torchrun told of a rank's death, and the ranks, which it then started once more, showed steps since."""
    told = [one for one in scene.attempt.faults if one.number >= fault.number and _ENDED_ALL.search(one.text)]
    return bool(told) and scene.attempt.progress - told[-1].progress_before >= STEPS_SINCE


def is_of_an_ended_container(fault: Fault, scene: Scene) -> bool:
    """Whether a container's own refusal of its command line, or what docker compose tells of its end, is the last that
    is heard of it.
    """
    if not fault.ended_writer or scene.exited_zero:
        return False
    since = (line for line in scene.record.tail if line.number > fault.number)
    return not any(writer_of(message(line.text).source) == writer_of(fault.ended_writer) for line in since)


def is_ended_with_another(fault: Fault, scene: Scene) -> bool:
    """Whether docker compose stops a container because another one has ended with a code of failure."""
    if fault.row.failure_class != "user_interrupt":
        return False
    above = (line.text for line in scene.record.tail if line.number < fault.number)
    return any(CONTAINER_ENDED.search(text.strip()) for text in above)


def is_a_peers(fault: Fault, scene: Scene) -> bool:
    """Whether a coordinator writes down that it has lost somebody, and tells of much more work since; of one that gives
    his tasks to others, of some.
    """
    gives_on = _LOST_ONE.search(fault.text) is not None
    level = message(fault.text).level
    if scene.dead or fault.trace is not None or not (gives_on or (fault.severity == LOGGED and level in BAD_LEVELS)):
        return False
    told = scene.attempt.informed - fault.informed_before
    if gives_on:
        return told >= TOLD_OF_OTHERS
    return fault.row.failure_class == "nccl_or_distributed" and told >= TOLD_MUCH


def was_in_its_librarys_hand(fault: Fault, scene: Scene) -> bool:
    """Whether Python's own library raised and caught it, as a cache that misses does: another exception came while it
    handled that, and tells what happened.
    """
    trace = fault.trace
    if trace is None or not trace.frames or not all(_STDLIB.search(frame.file) for frame in trace.frames):
        return False
    return any(other.trace is not None and other.trace.cause is trace for other in scene.attempt.faults)


def ended_another(fault: Fault, scene: Scene) -> bool:
    """Whether a command line was refused, so that its program ended at once, and another program ended behind it."""
    if fault.row.id != "usage" or fault.trace is not None:
        return False
    return any(
        other.number > fault.number and other.trace and other.trace.ends_program and other.row.explains > SUMMARY
        for other in scene.attempt.faults
        if other.severity == PROVEN and other.source == fault.source
    )
