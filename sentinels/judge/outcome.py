"""How a wait can end: one table. Each outcome has its exit code and its word, and says truthfully why. Pure."""

from __future__ import annotations

from enum import Enum, IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class SentinelExit(IntEnum):
    """What `sentinel` returns to the shell."""

    LANDED = 0
    FAILED = 1
    GONE = 3
    STALLED = 5
    USAGE = 64
    UNREACHABLE = 69
    INTERNAL = 70
    STATE_NOT_WRITTEN = 74
    SUPERSEDED = 75
    CONFIG = 78
    TIMED_OUT = 124


class Outcome(str, Enum):
    """How a wait ended. The value is the word in the line and in the JSON."""

    LANDED = "landed"
    FAILED = "failed"
    GONE = "gone"
    STOPPED = "stopped"
    STALLED = "stalled"
    UNREACHABLE = "unreachable"
    SUPERSEDED = "superseded"
    TIMED_OUT = "timed-out"


class OutcomeRow(NamedTuple):
    """One outcome: its exit code, and what it means."""

    outcome: Outcome
    code: SentinelExit
    meaning: str


TABLE: tuple[OutcomeRow, ...] = (
    OutcomeRow(Outcome.LANDED, SentinelExit.LANDED, "what was waited for is there"),
    OutcomeRow(Outcome.FAILED, SentinelExit.FAILED, "a fail marker or fail line appeared, or the run failed (with class and remedy)"),
    OutcomeRow(Outcome.GONE, SentinelExit.GONE, "no process is alive and there is no marker: killed, or the box was rebooted"),
    OutcomeRow(Outcome.STOPPED, SentinelExit.GONE, "the run was stopped or interrupted, so no marker will land (what is next is said)"),
    OutcomeRow(Outcome.STALLED, SentinelExit.STALLED, "alive, but no sign of life for --stall-after (or its own stall_after)"),
    OutcomeRow(Outcome.UNREACHABLE, SentinelExit.UNREACHABLE, "the box could not be reached at the end, or at the one try of --once; of the run nothing is inferred"),
    OutcomeRow(Outcome.SUPERSEDED, SentinelExit.SUPERSEDED, "a newer wait for the same target took over, or another run took the run's place"),
    OutcomeRow(Outcome.TIMED_OUT, SentinelExit.TIMED_OUT, "the limit of the wait was reached; the box was in sight and nothing had happened"),
)  # fmt: skip

TROUBLES: tuple[tuple[SentinelExit, str], ...] = (
    (SentinelExit.USAGE, "the command line is wrong"),
    (SentinelExit.INTERNAL, "a defect in sentinel itself"),
    (SentinelExit.STATE_NOT_WRITTEN, "the register of waits could not be written"),
    (SentinelExit.CONFIG, "the configuration is wrong, not accepted (`onbox trust`), or does not know the box"),
)

_MEANINGS = (*((row.code, f"{row.outcome.value}: {row.meaning}") for row in TABLE), *TROUBLES)
EXIT_MEANINGS: tuple[tuple[int, str], ...] = tuple(sorted((int(code), meaning) for code, meaning in _MEANINGS))

CODE_OF: Mapping[Outcome, SentinelExit] = MappingProxyType({row.outcome: row.code for row in TABLE})


class WaitFinding(NamedTuple):
    """What ended the wait for one target. target: as it was typed. say: which and why, one line.

    since: when it happened, seconds since the epoch, by the clock of where it happened; None: not known.
    detail: further facts for the JSON (marker, line, failure_class, remedy, run_id, ...).
    """

    outcome: Outcome
    target: str
    say: str
    since: float | None = None
    detail: Mapping[str, Any] = MappingProxyType({})

    @property
    def code(self) -> SentinelExit:
        return CODE_OF[self.outcome]


def combine(findings: Mapping[int, WaitFinding], total: int, *, want_any: bool) -> WaitFinding | None:
    """What ends the whole wait, given how its targets (by number) ended so far; None: it goes on. Pure.

    All wanted: the first that did not land ends it; else it ends when the last one landed. Any wanted: the first that
    landed ends it; if none can land any more, the first bad end is told. findings: in the order in which they came.
    """
    bad = [one for one in findings.values() if one.outcome is not Outcome.LANDED]
    landed = [one for one in findings.values() if one.outcome is Outcome.LANDED]
    if want_any:
        if landed:
            return landed[0]
        return bad[0] if len(bad) == total else None
    if bad:
        return bad[0]
    return landed[-1] if len(landed) == total else None
