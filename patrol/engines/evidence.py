"""What a job's log at its engine says of it: how old it is, how far the job is, why it failed. Pure.

A log that comes without times is as old as the time since it was last seen to change: never older than it really is, so
that nobody is called stalled too early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from onbox.backends.base import Job, JobState
from onbox.backends.log_signs import line_worth_reading
from onbox.contract.readings import Absent, Unseen
from onbox.logs.cursor import Cursor
from onbox.logs.progress import read_progress
from onbox.logs.tail import last_line
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.triage.classes import REMEDIES, may_repeat
from onbox.triage.evidence import Evidence
from patrol.memory.run_memory import LogChange
from patrol.probe.log_fault import LINE_LIMIT, fault_of
from patrol.snapshot import Failure, LogLook

if TYPE_CHECKING:
    from onbox.backends.cluster import ClusterJob, JobLog
    from onbox.contract.progress import Progress
    from onbox.contract.readings import Maybe

OVER = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.INTERRUPTED, JobState.STOPPED})


class FromLog(NamedTuple):
    """What a look takes in, and when the log was last seen to change, to be kept for the next look."""

    log: Maybe[LogLook]
    progress: Maybe[Progress]
    failure: Maybe[Failure]
    change: LogChange | None


def read_evidence(job_id: str, engine: str, told: ClusterJob, known: LogChange | None, now: float) -> FromLog:
    """known: what an earlier look left. now: local time."""
    log = told.log
    if isinstance(log, Absent | Unseen):
        return FromLog(log, log, _failure(engine, told, ""), known)
    change = LogChange(crc32(log.text.encode("utf-8", "replace")), log.size, now)
    if known is not None and (known.crc, known.size) == (change.crc, change.size):
        change = known
    age = _age(log, told, None if known is None else max(0.0, now - change.at), now)
    progress = read_progress(log.text.encode("utf-8", "replace"))
    seen = progress.current is not None or progress.percent is not None
    look: Maybe[LogLook] = age if isinstance(age, Absent) else _look(job_id, log, age)
    return FromLog(look, progress if seen else Absent("no progress shown"), _failure(engine, told, log.text), change)


def _look(job_id: str, log: JobLog, age_seconds: float) -> LogLook:
    data = log.text.encode("utf-8", "replace")
    shown = safe_line(last_line(data[-8192:]) or "", LINE_LIMIT)
    return LogLook(f"log of {job_id}", Cursor(0, 0, log.size, ""), "grown", log.size, age_seconds, 0, 0, shown)


def _age(log: JobLog, told: ClusterJob, unchanged_seconds: float | None, now: float) -> float | Absent:
    """Seconds since it was written: by the time of its newest line, by what was seen of its growth, or by the job's
    end. Of two the smaller: a cluster's clock may be wrong. unchanged_seconds: None: this is the first look at it.
    """
    ages = [] if unchanged_seconds is None else [unchanged_seconds]
    if log.written_at is not None:
        ages.append(max(0.0, now - log.written_at))
    elif isinstance(told.word, Job) and told.word.state in OVER and told.ended_at is not None:
        ages.append(max(0.0, now - told.ended_at))
    return min(ages) if ages else Absent("its lines have no times: how old it is the next look tells")


def _failure(engine: str, told: ClusterJob, text: str) -> Maybe[Failure]:
    """Why a job ended: its engine's word where that proves a class, else what triage reads in its log."""
    word = told.word
    if not isinstance(word, Job) or word.state not in (JobState.FAILED, JobState.INTERRUPTED):
        return Absent("no failure")
    proof = line_worth_reading(engine, text) or word.reason
    if word.failure_class is not None:
        kind = word.failure_class
        said = safe_line(word.note or proof, LINE_LIMIT)
        return Failure(kind, REMEDIES.get(kind, ""), may_repeat(kind), f"{engine}: {kind}", said, "", "engine")
    from onbox.triage.classify import classify  # noqa: PLC0415 - its table takes 70 ms, and most jobs need none

    evidence = Evidence(exit_code=word.exit_code, process_alive=False)
    verdict = classify(text.encode("utf-8", "replace"), evidence)
    found = fault_of(verdict)
    if found is None:
        return Absent("its log shows no cause")
    return found._replace(proof=safe_line(verdict.line or proof, LINE_LIMIT))
