"""What a decision says of one run, or of a box. Pure."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.contract.states import RunState


DEALT_WITH_SECONDS = 86400.0
ENDED_STATES = frozenset(("done", "failed", "stopped", "interrupted"))


class Severity(IntEnum):
    """How bad it is, numbered as the exit codes of `patrol tick` (and of Nagios plugins)."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3

    @property
    def rank(self) -> int:
        """For "the worst of": a known catastrophe is worse than not knowing, not knowing is worse than a warning."""
        return (0, 1, 3, 2)[self]


class Finding(NamedTuple):
    """One rule that fired. say: the message, with its numbers. remedy: what to do, one sentence.

    command: what to type next, complete, for a shell in the project's directory on the local side; "" where nothing
    is to be typed.
    """

    rule: str
    severity: Severity
    say: str
    remedy: str = ""
    command: str = ""


class Verdict(NamedTuple):
    """What is said of one run (or of a box whose runs could not be looked at: then run is "").

    finding: of the first rule that fired; it names the verdict. further: of the rules behind it, worst first (a run can
    be healthy while its disk fills). state: the run's. since: when it happened, by what the run itself shows
    (`happened`), else when a look saw it first; seconds since the epoch. changed: whether the rule differs from the
    last tick's. soft: seen too few times in a row to be believed. acknowledged, silenced_until: a person's word; it
    changes what is told, never what is seen.
    may_resume: whether the table allows `onbox resume` for this finding (that it is wanted and within the budget is
    decided elsewhere).
    signs: names of what was seen beside the state, as `onbox.runs.next_step` takes it. step: its row there; the
    finding's command is that step's. then, never: its sentences. asked: what is done only with a person's word, and
    the command for it. look: what the worst rule says to look at. last_known: of a run that was not seen, what it was
    when it was seen last, in words; the finding says why it was not. acknowledged_by: who did, and why, in words.
    """

    box: str
    run: str
    state: RunState
    finding: Finding
    further: tuple[Finding, ...] = ()
    since: float = 0.0
    happened: bool = False
    changed: bool = False
    soft: bool = False
    acknowledged: bool = False
    silenced_until: float | None = None
    may_resume: bool = False
    signs: tuple[str, ...] = ()
    step: str = ""
    then: str = ""
    never: str = ""
    asked: tuple[tuple[str, str], ...] = ()
    look: str = ""
    last_known: str = ""
    acknowledged_by: str = ""

    @property
    def flag(self) -> Finding | None:
        """What is told beside the rule and is worse than it, the worst of that; None: the rule says the worst."""
        worst = max(self.further, key=lambda finding: finding.severity.rank, default=None)
        return worst if worst is not None and worst.severity.rank > self.finding.severity.rank else None

    @property
    def severity(self) -> Severity:
        """The worst of all findings."""
        return max((finding.severity for finding in (self.finding, *self.further)), key=lambda severity: severity.rank)

    def is_dealt_with(self, now: float) -> bool:
        """Whether it ended and a person acknowledged that more than a day ago: nobody needs to read of it any more."""
        if not self.acknowledged or now - self.since <= DEALT_WITH_SECONDS:
            return False
        return self.state.value in ENDED_STATES or self.finding.rule == "ended-unproven"

    def severity_told(self, now: float) -> Severity:
        """As `severity`, but OK once a person has acknowledged or silenced it: for exit codes, Nagios and metrics."""
        quiet = self.acknowledged or (self.silenced_until or 0.0) > now
        return Severity.OK if quiet else self.severity


def worst_severity(verdicts: Iterable[Verdict], now: float) -> Severity:
    """The worst that is told, by rank; UNKNOWN where there is no verdict at all."""
    return max(
        (one.severity_told(now) for one in verdicts), key=lambda severity: severity.rank, default=Severity.UNKNOWN
    )
