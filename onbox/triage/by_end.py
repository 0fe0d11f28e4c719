"""What is known of a run besides the faults in its log: a proof, how its process ended, the room on its disk, its
silence. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.outcome import Outcome
from onbox.model.units import format_duration
from onbox.regex import lazy
from onbox.triage.classes import UNPROVEN
from onbox.triage.evidence import Evidence, classify_end
from onbox.triage.reading.outcome import closing_outcome
from onbox.triage.reading.record import Record, SeenLine
from onbox.triage.rules.rows import BUG
from onbox.triage.scheduler_states import CLASS_OF, ending
from onbox.triage.settled import SettledClass
from onbox.triage.weighing.silence import is_said_done, line_of_the_work

if TYPE_CHECKING:
    from onbox.triage.weighing.decide import Decision

STALE_SECONDS = 1800.0
STALE_CADENCES = 10
NO_ROOM_BYTES = 1 << 16  # free: less than a buffer's worth of log
DONE_YET_DEAD = (
    "Its log says that it is done, yet it is known to have failed: see what ran behind that line, and whether the "
    "results are whole."
)

WROTE_NOTHING = (
    "It wrote nothing before it failed: type its command by hand in its folder to see what it says, look where it "
    "sends its output (`> FILE`, its own log), and resume only when the cause is understood."
)


def proven(record: Record, decision: Decision, evidence: Evidence) -> SettledClass | None:
    """What needs no log: the runner's own reason, a counted kill for memory, a scheduler's word. None: nothing does."""
    end = evidence.end
    if end.cause in ("timeout", "stalled", "diverged", "detected", "not_started"):
        row = classify_end(end)
        if row.failure_class == "hang_stall" and evidence.process_alive:
            return SettledClass(row.failure_class, "stands-still", "stalled", "high", record.last_line)
        return SettledClass(row.failure_class, row.rule, "dead", "high", record.last_line)
    row = classify_end(end)
    if row.rule == "loss-not-finite":
        return SettledClass(
            "divergence", row.rule, "dead", "high", _line_of("divergence", decision) or record.last_line
        )
    if evidence.oom_kill_delta and (evidence.was_killed or (_may_follow_a_kill(decision) and evidence.is_dead)):
        at = decision.cause if decision.cause and decision.cause.row.failure_class == "host_oom" else None
        return SettledClass(
            "host_oom", "counted-oom-kill", "dead", "high", SeenLine(at.number, at.text) if at else record.last_line, at
        )
    stated = CLASS_OF.get(ending(evidence.scheduler_state or "") or "")
    if stated:
        return SettledClass(stated, "scheduler-state", "dead", "high", _line_of(stated, decision) or record.last_line)
    return None


def _line_of(failure_class: str, decision: Decision) -> SeenLine | None:
    for fault in (*((decision.cause,) if decision.cause else ()), *decision.others):
        if fault.row.failure_class == failure_class:
            return SeenLine(fault.number, fault.text)
    return None


def by_end(record: Record, decision: Decision, evidence: Evidence) -> SettledClass | None:
    """What an exit code or a signal says. None where nobody knows of one, or it is that of a good end."""
    word = (evidence.scheduler_state or "").upper()
    if word.startswith("CANCELLED"):
        return SettledClass("user_interrupt", "scheduler-state", "dead", "medium", record.last_line)
    end = evidence.end
    if end.exit_code is None and end.signal is None and end.cause == "exit" and not word.startswith("FAILED"):
        if evidence.process_alive is False and decision.attempt.success is None:
            return by_room(record, evidence) or SettledClass("unknown", UNPROVEN, "dead", "low", record.last_line)
        return None
    if end.exit_code == 0 and not evidence.gates:
        return None
    row = classify_end(end)
    if row.rule == "cut-off":
        return by_room(record, evidence) or SettledClass(
            row.failure_class, row.rule, "dead", "medium", record.last_line
        )
    if row.failure_class == "unknown" and end.signal is None:
        says_done = decision.attempt.success is not None or closing_outcome(record) is Outcome.MADE
        is_unread = record.last_line is None and row.rule == UNPROVEN
        remedy = DONE_YET_DEAD if says_done else WROTE_NOTHING if is_unread else None
        plain = SettledClass("unknown", row.rule, "dead", "low", record.last_line, remedy=remedy)
        return by_room(record, evidence) or plain
    if row.rule == "usage" and decision.attempt.progress:  # its command line was good enough to begin with
        return SettledClass("unknown", UNPROVEN, "dead", "low", record.last_line)
    return SettledClass(
        row.failure_class, row.rule, "dead", "low" if row.failure_class == "unknown" else "medium", record.last_line
    )


def by_room(record: Record, evidence: Evidence) -> SettledClass | None:
    """A disk without room takes no last words: then how much was free says what the log cannot."""
    if evidence.disk_free_bytes is not None and evidence.disk_free_bytes < NO_ROOM_BYTES:
        return SettledClass("disk_full", "no-room-left", "dead", "medium", record.last_line)
    if evidence.inodes_free == 0:
        return SettledClass("inode_exhausted", "no-room-left", "dead", "medium", record.last_line)
    return None


# Raised by a program for reasons of its own; none of them follows from the death of a child.
_OWN_REASONS = lazy(r"\b(?:Value|Assertion|NotImplemented|ZeroDivision|FloatingPoint|Unicode\w*|JSONDecode)Error\b")


def _may_follow_a_kill(decision: Decision) -> bool:
    """Whether what the log ends with may come of a killed child: the counter is the group's, and somebody else in it
    may have been the victim.
    """
    cause = decision.cause
    return cause is None or (cause.row.explains < BUG and not _OWN_REASONS.search(cause.text))


def by_silence(record: Record, decision: Decision, evidence: Evidence) -> SettledClass | None:
    """A log that just stops is a stall only if something besides the text says so."""
    age = evidence.log_age_seconds
    if age is None or not is_silent(record, evidence) or is_said_done(decision.attempt) or evidence.ended_well:
        return None
    if evidence.process_alive:
        return SettledClass("hang_stall", "silent-log", "stalled", "medium", record.last_line)
    if record.last_line is None:
        return None  # it may write elsewhere
    work = line_of_the_work(record, decision.attempt)
    if work is not None:
        return SettledClass("success_healthy", "work-is-there", "done", "low", work)
    remedy = (
        f"Nothing was written for {format_duration(age)}: see whether its process runs. If so, take a stack dump, then"
        " stop and resume; if not, it ended without a word: look at its results."
    )
    return SettledClass("hang_stall", "silent-log", "stalled", "low", record.last_line, remedy=remedy)


def is_silent(record: Record, evidence: Evidence) -> bool:
    """Whether the log is old, beside the pace at which it was written."""
    age = evidence.log_age_seconds
    return age is not None and age >= _stale_after(record)


def _stale_after(record: Record) -> float:
    pace = record.seconds_per_line
    return max(STALE_SECONDS, STALE_CADENCES * pace) if pace else STALE_SECONDS
