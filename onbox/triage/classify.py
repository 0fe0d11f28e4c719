"""Why a run died, or that it is fine: the log and the evidence weighed together. Pure.

Evidence that proves goes first (the own timeout, a counted kill for memory, a scheduler's word); then what the log
says; a bare exit code comes last.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.in_vain import NONE_WITHIN, counts_none, misses_result
from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.around import reads_state
from onbox.triage.by_end import by_end, by_room, by_silence, is_silent, proven
from onbox.triage.classes import (
    COUNTS_NONE,
    IN_DOUBT,
    NONE_COUNTED,
    ONE_LINE,
    PROCESS_RUNS,
    READS_AS,
    READS_BADLY,
    READS_WELL,
    RESULT_MISSING,
    RULE_REMEDIES,
    SAYS,
    UNPROVEN,
    may_repeat,
)
from onbox.triage.evidence import Evidence, classify_end
from onbox.triage.meaning import ENOUGH, meaning_of
from onbox.triage.plainly import SAID_DONE, is_plainly_ill, is_plainly_well
from onbox.triage.reading.record import Fault, LogAttempt, Record, SeenLine
from onbox.triage.reading.scan import scan
from onbox.triage.reasons import told_in
from onbox.triage.rules.files import class_of_file
from onbox.triage.rules.rows import ASKED, CAUSE, DEATH, DIVERGED, SUMMARY, VAGUE, UserRow
from onbox.triage.settled import SettledClass, dress
from onbox.triage.weighing.confidence import confidence_in
from onbox.triage.weighing.deaths import tells_of_a_job
from onbox.triage.weighing.decide import Decision, decide, judged_tail
from onbox.triage.weighing.doubt import complaint_at_end, doubt_of
from onbox.triage.weighing.silence import is_said_done
from onbox.triage.weighing.went_on import TESTS_FAILED
from onbox.triage.wording.class_reading import plain_complaint, read_class
from onbox.triage.wording.second_reading import ends_in_plain_complaint, is_borne_out, is_overruled, most_telling

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onbox.logs.model.lines import Gap
    from onbox.triage.verdict import Diagnosis

SURE_WITHIN = 3  # lines from the end: of what a rule is sure of there, words know no better
FRESH_SECONDS = 30.0  # the age that the second reading takes every log for
SIGINT = 2
NO_ROOM_RULES = frozenset({"no-room-left", "no-room-to-write"})
# Rules that know it, whatever words stand around.
OWN_CLASS = NO_ROOM_RULES | {"terminated", "record-damaged", TESTS_FAILED}
NOTHING = Evidence()
NOT_KNOWN = "No fault is seen; whether the run goes on is not known: see whether its process runs, or give --age."
NOT_LOOKED_AT = "No fault is seen; nobody looked whether its process runs."
BY_ITS_CODE_ALONE = (
    "Only its exit code says that it ended well; its last lines read like those of a run that went wrong: look at its "
    "results before they are used."
)
BESIDE_A_COMPLAINT = (
    "It ended with exit code 0, and one of its last lines speaks of a trouble: read it before its results are used."
)
ENDED_WELL = "ended-well"
FAULTLESS = "no-fault-seen"
_GPU = lazy(r"gpu|cuda|hip|bfc", re.IGNORECASE)


def classify(
    log: bytes | Iterable[bytes | Gap], evidence: Evidence = NOTHING, extra_rows: Sequence[UserRow] = ()
) -> Diagnosis:
    """The verdict on a log (its bytes, or blocks of them) and what else is known.

    extra_rows: the user's own; each regex must compile. Never raises for what is in the log.
    """
    record = scan([log] if isinstance(log, bytes) else log, extra_rows)
    decision = decide(record, dead=evidence.is_dead, well=evidence.ended_well, exited_zero=evidence.exit_code == 0)
    user = _user_call(record, extra_rows, evidence, decision.attempt)
    if user is not None:
        row, call = user
        return dress(call, decision, row, record.tail)
    settled = _settle(record, decision, evidence)
    if not evidence.tells_the_end:
        settled, decision = _read_again(settled, decision, record, evidence)
    elif settled.rule == UNPROVEN and evidence.is_dead:
        settled = _by_its_words(settled, record)
    settled = _read_class(settled, decision, record)
    if evidence.process_alive and settled.state == "dead":
        settled = _of_the_living(settled, decision, record, evidence)
    if settled.rule == ENDED_WELL:
        by_itself = decide(record, dead=False, well=False, exited_zero=False)
        doubted = doubt_of(record, by_itself)
        if doubted is not None:
            by_itself = by_itself._replace(cause=doubted)
            return dress(settled._replace(rule=IN_DOUBT, confidence="low"), by_itself, None)
        settled = _beside_its_words(settled, by_itself, record)
    return dress(_beside_its_last_lines(settled, record, is_known=evidence.ended_well), decision, None, record.tail)


def _of_the_living(call: SettledClass, decision: Decision, record: Record, evidence: Evidence) -> SettledClass:
    """A process that runs has not died, whatever its log says. What ended a program by its traceback may have been a
    part of it; a mere complaint is shown beside.
    """
    if call.fault is not None and call.fault.ended_program:
        return call._replace(state="running", confidence="low", remedy=RULE_REMEDIES[PROCESS_RUNS])
    healthy = _healthy(record, decision, evidence)
    return healthy._replace(rule=PROCESS_RUNS, state="running", confidence="low", remedy=None)


def _beside_its_words(call: SettledClass, by_itself: Decision, record: Record) -> SettledClass:
    """An exit code of 0 is not sure where its log alone reads like one of a run that went wrong."""
    alone = _by_log_alone(record, by_itself)
    if alone.failure_class != "success_healthy" and alone.at is not None:
        return call._replace(confidence="low", at=alone.at, remedy=BY_ITS_CODE_ALONE)
    at = complaint_at_end(judged_tail(record))
    return call if at is None else call._replace(confidence="medium", at=at, remedy=BESIDE_A_COMPLAINT)


def _by_log_alone(record: Record, by_itself: Decision) -> SettledClass:
    """What is said of a log whose end nobody knows."""
    fresh = Evidence(log_age_seconds=FRESH_SECONDS)
    return _read_again(_settle(record, by_itself, fresh), by_itself, record, fresh)[0]


def _by_its_words(call: SettledClass, record: Record) -> SettledClass:
    """A run that is known to have failed, of which no rule knew why: by what its log alone would be said to tell."""
    alone = _by_log_alone(record, decide(record, dead=False, well=False, exited_zero=False))
    if alone.fault is not None and alone.failure_class not in ("success_healthy", "unknown"):
        rule = READS_AS if may_repeat(alone.failure_class) else alone.rule
        return alone._replace(state="dead", confidence="low", rule=rule)
    told = plain_complaint(judged_tail(record))
    return call if told is None else call._replace(rule=ONE_LINE, at=told)


_SHORT_OF = ((counts_none, COUNTS_NONE), (misses_result, RESULT_MISSING))


def _beside_its_last_lines(call: SettledClass, record: Record, *, is_known: bool) -> SettledClass:
    """A good end is none where its last lines count nothing, or miss a result. is_known: that it ended well, by its
    exit code; then it is not sure.
    """
    if call.failure_class != "success_healthy" or call.rule == READS_WELL:
        return call
    tail = judged_tail(record)[-NONE_WITHIN:]
    for look, rule in _SHORT_OF:
        told = look([line.text for line in tail])
        if told is not None:
            at = next(line for line in reversed(tail) if message(line.text).text == told)
            name = call.failure_class if is_known else _class_of_loss(rule, at)
            state = "done" if at == tail[-1] and call.state == "running" else call.state
            return call._replace(failure_class=name, rule=rule, state=state, confidence="low", at=at, remedy=None)
    return call


def _class_of_loss(rule: str, at: SeenLine) -> str:
    """Of a run whose last lines count none of what it was for, or miss a result: what the line names, or its data."""
    if rule == COUNTS_NONE:
        return "data_error"
    found = meaning_of(message(at.text).text, enough=ENOUGH)
    return "unknown" if found is None or found.rivals else found.failure_class


def _settle(record: Record, decision: Decision, evidence: Evidence) -> SettledClass:
    for step in (proven, _from_text, by_end, by_silence):
        call = step(record, decision, evidence)
        if call is not None:
            return call
    return _healthy(record, decision, evidence)


# -- what the log says


def _from_text(record: Record, decision: Decision, evidence: Evidence) -> SettledClass | None:
    cause = decision.cause
    if cause is None or (evidence.ended_well and not decision.lost):
        return None  # it is done; what its log tells of is shown beside that
    explains = cause.row.explains
    if explains <= ASKED and classify_end(evidence.end).failure_class in cause.row.rivals:
        return None  # how it ended decides between them
    if (
        explains <= SUMMARY
        and cause.row.failure_class == "code_error"
        and classify_end(evidence.end).failure_class != "unknown"
    ):
        return None  # `rc 124`, and the code itself is known
    if evidence.signal == SIGINT and explains < CAUSE:
        return None
    if evidence.exit_code == 0 and evidence.gates and explains <= DEATH:
        return None
    if (
        evidence.was_killed
        and evidence.oom_kill_delta == 0
        and explains <= DEATH
        and cause.row.failure_class == "host_oom"
    ):
        return SettledClass("unknown", NONE_COUNTED, "dead", "medium", SeenLine(cause.number, cause.text))
    without_room = by_room(record, evidence) if explains <= VAGUE + 1 and _is_of_a_write(cause) else None
    if without_room is not None:
        at = SeenLine(cause.number, cause.text)
        return without_room._replace(rule="no-room-to-write", at=at, fault=cause)
    failure_class = _finer_class(cause, decision.attempt, evidence)
    if failure_class == "data_error" and reads_state(cause, record.tail):
        failure_class = "checkpoint_corrupt"
    state = _state_of_the_lost(record, decision, evidence) if decision.lost else "dead"
    at = SeenLine(cause.number, cause.text)
    if failure_class == "inode_exhausted" and decision.attempt.no_inodes:
        at = decision.attempt.no_inodes
    sure = confidence_in(cause, decision)
    if sure == "high" and failure_class == "disk_full" and _NOT_MADE.search(cause.text):
        sure = "medium"
    return SettledClass(failure_class, cause.row.id, state, sure, at, cause)


def _state_of_the_lost(record: Record, decision: Decision, evidence: Evidence) -> str:
    """Where a run stands whose figures are lost, which ends none by itself."""
    if evidence.ended_well:
        return "done"
    if evidence.is_dead or decision.attempt.success is not None:
        return "dead"
    return "unknown" if is_silent(record, evidence) else "running"


_WRITES = lazy(r"(?i)(?<![a-z])f?(?:writ(?:e|ing|able)|sav(?:e|ing)|flush|dump|export|serializ)")


def _is_of_a_write(cause: Fault) -> bool:
    """Whether what failed was about to write, by its own words or by the code that it stopped in."""
    return bool(_WRITES.search(cause.text)) or (cause.trace is not None and cause.trace.mentions(_WRITES))


# A file that could not be made, for want of bytes or of inodes: of a write that fails, no path is told.
_NOT_MADE = lazy(r"No space left on device: ['\"b]")
_OF_ANY_FILE = ("no-number", "error-line", "said-error")


def _finer_class(cause: Fault, attempt: LogAttempt, evidence: Evidence) -> str:
    """A filesystem says "no space" for bytes and for inodes alike, XLA "exhausted" for a GPU and for a TPU, a parser
    "no number" of a setting and of data.
    """
    found = cause.row.failure_class
    if cause.row.id in _OF_ANY_FILE and cause.trace is None:
        return class_of_file(message(cause.text).text) or found
    if cause.row.id == "xla-gpu-oom" and attempt.tpu and not _GPU.search(cause.text):
        return "tpu_hbm_oom"
    if found != "disk_full":
        return found
    no_inodes = evidence.inodes_free == 0 or attempt.no_inodes is not None
    bytes_free = evidence.disk_free_bytes is None or evidence.disk_free_bytes > 0
    return "inode_exhausted" if no_inodes and bytes_free else found


# -- nothing is wrong


def _healthy(record: Record, decision: Decision, evidence: Evidence) -> SettledClass:
    attempt = decision.attempt
    late = attempt.faults[-1].number if attempt.faults else 0
    sign = record.last_line if record.last_line and record.last_line.number > late else None
    sign = sign or attempt.success or attempt.last_progress or record.last_line
    if evidence.ended_well:
        return SettledClass("success_healthy", ENDED_WELL, "done", "high" if sign else "medium", sign)
    if is_said_done(attempt):
        return SettledClass("success_healthy", SAID_DONE, "done", "medium", sign)
    if attempt.progress and (evidence.process_alive or evidence.log_age_seconds is not None):
        return SettledClass("success_healthy", "goes-on", "running", "medium", sign)
    if record.last_line is None and not evidence.process_alive:
        return SettledClass("unknown", "nothing-written", "unknown", "low")
    if evidence.process_alive:
        return SettledClass("success_healthy", FAULTLESS, "running", "low", sign)
    if evidence.log_age_seconds is not None:
        return SettledClass("success_healthy", FAULTLESS, "running", "low", sign, remedy=NOT_LOOKED_AT)
    return SettledClass("success_healthy", FAULTLESS, "unknown", "low", sign, remedy=NOT_KNOWN)


# -- a second reading, where nothing but the log tells of the end


def _read_again(
    call: SettledClass, decision: Decision, record: Record, evidence: Evidence
) -> tuple[SettledClass, Decision]:
    """The answer that the wording of the last lines bears out: the rules' own, or another one, which is never sure."""
    of_figures = call.fault is not None and call.fault.row.explains == DIVERGED and not call.rule.startswith(SAYS)
    if call.at is None or of_figures:
        return call, decision  # words say nothing of figures
    if call.fault is not None and call.fault.number < decision.attempt.report_ends:
        return call, decision  # a batch system told it, above the output
    plain = _settle(record, decision, evidence._replace(log_age_seconds=FRESH_SECONDS))  # one log, one reading of it
    if plain.failure_class == "hang_stall":
        return call, decision
    tail, ill = judged_tail(record), plain.failure_class != "success_healthy"
    faults = decision.attempt.faults
    is_known = any(fault.number == line.number for line in tail[-1:] for fault in faults)  # and was set aside
    says_ill = plain.rule == FAULTLESS and not is_known and ends_in_plain_complaint(tail)
    is_plain = (
        is_plainly_ill(call, tail, decision.attempt)
        if ill
        else not says_ill and is_plainly_well(plain.rule, record, tail, decision.attempt)
    )
    holds = is_plain or (ill and call.confidence == "high" and tail[-1].number - call.at.number < SURE_WITHIN)
    if holds or not (says_ill or is_overruled(tail, ill=ill, confidence=plain.confidence, rule=plain.rule)):
        sure = call.confidence == "high" and not is_plain
        if sure and ill and not is_borne_out(tail, confidence=plain.confidence, rule=plain.rule):
            return call._replace(confidence="medium"), decision
        return call, decision
    if ill:
        healthy = _healthy(record, decision, evidence)
        return healthy._replace(rule=READS_WELL, confidence="low", remedy=None), decision
    by_death = decide(record, dead=True, well=False, exited_zero=False)
    worst = most_telling(tail)
    by_death = by_death._replace(cause=by_death.cause or told_in(worst, decision.attempt))
    if by_death.cause is not None and by_death.cause.trace is not None and by_death.cause.trace.is_of_tracker:
        return call, decision
    failed = _from_text(record, by_death, evidence) or SettledClass("unknown", READS_BADLY, "dead", "low", worst[0])
    return failed._replace(confidence="low"), by_death


def _read_class(call: SettledClass, decision: Decision, record: Record) -> SettledClass:
    """With the class that the words of the last lines speak for, where no rule is sure of its own."""
    fault = call.fault
    if call.state != "dead" or (fault is None and call.rule not in (READS_BADLY, ONE_LINE)):
        return call  # it is well, or it was proven without the log
    if call.rule in OWN_CLASS or (fault is not None and call.failure_class == "unknown"):
        return call  # it is known by its own words or of the disk, or between two classes that are named
    if fault is not None and tells_of_a_job(fault):
        return call
    if fault is not None and (fault.row.explains == DIVERGED or fault.number < decision.attempt.report_ends):
        return call
    rule, sure = call.rule, call.confidence
    found, told = read_class(judged_tail(record), call.at, known=call.failure_class, rule=rule, confidence=sure)
    if found == call.failure_class:
        return call
    if fault is not None and fault.ended_program and "user_interrupt" in (found, call.failure_class):
        return call  # Python tells an interrupt from an error
    rule = READS_AS if fault is not None else rule
    return call._replace(failure_class=found, rule=rule, confidence="low", remedy=None, at=told or call.at)


# -- the user's own rows


def _user_call(
    record: Record, rows: Sequence[UserRow], evidence: Evidence, attempt: LogAttempt
) -> tuple[UserRow, SettledClass] | None:
    """The first row in the user's order that matched in this attempt; None if the run ended well after all."""
    if not record.user_hits or evidence.ended_well:
        return None
    began = attempt.started.number if attempt.started else 0
    live = [(index, at) for index, at in record.user_hits if at.number >= began]
    if not live or (attempt.success is not None and attempt.success.number > live[0][1].number):
        return None
    index, at = live[0]
    row = rows[index]
    return row, SettledClass(row.failure_class, f"user-{index + 1}", "dead", "high", at)
