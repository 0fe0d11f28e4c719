"""What triage and `onbox progress` say of one log, beside each other: one answer to whether it has ended. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.short import stops_short
from onbox.regex import lazy
from onbox.triage.case_remedies import remedy_of
from onbox.triage.classes import COUNTS_NONE, RESULT_MISSING, may_repeat
from onbox.triage.classify import ENDED_WELL, FAULTLESS, NOT_KNOWN
from onbox.triage.plainly import SAID_DONE
from onbox.triage.signature import signature
from onbox.triage.weighing.silence import is_step
from onbox.triage.weighing.went_on import TESTS_FAILED

if TYPE_CHECKING:
    from onbox.contract.progress import Progress
    from onbox.triage.verdict import Diagnosis


_OF_TESTS = lazy(
    r"(?:^|[\s/\\(.])(?:test_\w{1,60}|\w{1,60}_test|\w{0,60}Tests?|\w{1,60}[._]spec)\.\w{1,5}\b"
    r"|(?i:\btests?\b.{0,60}\bfail|\bfail(?:ed|ure)?\b.{0,40}\btests?\b)|^E {3}"
    r"|\b\d{1,6} (?:failed|passed), (?:\d{1,6} \w{1,12}, ){0,3}\d{1,6} (?:failed|passed)\b"
)  # a file of tests, a report of failed ones, and what pytest writes before an exception
CLAIMS = frozenset({ENDED_WELL, SAID_DONE})  # rules by which it is over: the progress may speak against them


def with_progress(verdict: Diagnosis, progress: Progress) -> Diagnosis:
    """A verdict beside what `onbox progress` says of the same log: where its loop is over, a healthy run is done, and a
    silent one has ended and does not hang.
    """
    if _lost_its_loss(verdict) or verdict.rule in (COUNTS_NONE, RESULT_MISSING):
        return verdict._replace(state="done") if progress.finished else verdict
    if verdict.rule == ENDED_WELL:
        return _short_of_its_end(verdict, progress)
    if verdict.rule == SAID_DONE:
        return _under_way(verdict) if _is_shown_before_its_end(progress) else verdict
    if not may_be_done(verdict):
        return verdict
    is_silent = verdict.rule == "silent-log"
    at_end = progress.current is not None and progress.current == progress.exact_max and not is_step(verdict.line or "")
    if not progress.finished and not (is_silent and at_end):
        return verdict
    name, rule = "success_healthy", "progress-finished"
    confidence = "low" if is_silent else verdict.confidence
    remedy, retry = remedy_of(name, rule, verdict.line), may_repeat(name)
    return verdict._replace(
        failure_class=name, state="done", rule=rule, confidence=confidence, remedy=remedy, retry=retry,
        signature=signature(name, None),
    )  # fmt: skip


def _short_of_its_end(verdict: Diagnosis, progress: Progress) -> Diagnosis:
    """The exit code is 0, and the counter never came to its end: nothing says that it was meant to stop there."""
    if not stops_short(progress):
        return verdict
    at = f"{progress.percent:g}%" if progress.current is None else f"{progress.current}/{progress.exact_max}"
    remedy = f"It is said to have ended well, but the log stops at {at}: see whether it was meant to."
    return verdict._replace(confidence="low", remedy=remedy)


def with_verdict(progress: Progress, verdict: Diagnosis) -> Progress:
    """A progress beside the verdict on the same log: what died of a fault has not come to its own end, however full its
    counter is. A suite of which tests failed has.
    """
    died = verdict.state == "dead" and verdict.failure_class != "success_healthy" and not _is_of_tests(verdict)
    return progress._replace(finished=False) if progress.finished and died else progress


def _is_of_tests(verdict: Diagnosis) -> bool:
    """Whether the fault is that of a test in a suite, which runs the others all the same."""
    told = (verdict.line or "", verdict.where or "", *verdict.traceback)
    return verdict.rule == TESTS_FAILED or any(map(_OF_TESTS.search, told))


def _is_shown_before_its_end(progress: Progress) -> bool:
    """`[ 60%] Building ...`, below the word of a part that is done."""
    in_the_midst = progress.current is None and progress.percent is not None and progress.percent < 100
    return progress.finished is False and (in_the_midst or stops_short(progress))


def _under_way(verdict: Diagnosis) -> Diagnosis:
    return verdict._replace(state="unknown", rule=FAULTLESS, confidence="low", remedy=NOT_KNOWN)


def _lost_its_loss(verdict: Diagnosis) -> bool:
    return verdict.failure_class == "divergence" and verdict.state in ("running", "unknown")


def may_be_done(verdict: Diagnosis) -> bool:
    """Whether the progress may tell more than the words did: nothing in them is wrong, and no end is told, or one that
    may be that of a part.
    """
    if verdict.rule == "silent-log" or verdict.rule in CLAIMS or _lost_its_loss(verdict):
        return True
    return verdict.failure_class == "success_healthy" and verdict.state in ("running", "unknown")
