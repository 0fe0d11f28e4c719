"""The daily message: the patrol is alive, what runs, what waits, what needs somebody. Pure.

What needs somebody stands first: it is read on a phone, before breakfast.
"""

from __future__ import annotations

import time
from collections import Counter
from datetime import date, timedelta
from typing import TYPE_CHECKING

from onbox.contract.readings import observed
from onbox.contract.states import RunState
from onbox.model.units import format_duration
from patrol.decide.phrases import clean, word
from patrol.report.lines import name_of
from patrol.report.short import cause_in_short
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patrol.judge import Judged
    from patrol.verdict import Verdict

LINES_LIMIT = 12
SAY_LIMIT = 160


def is_due(last_at: float, now: float, minute_of_day: int) -> bool:
    """Whether the time of day (of this machine's zone) came since the last one; also where this machine slept then."""
    return _day_of(last_at, minute_of_day) < _day_of(now, minute_of_day)


def _day_of(at: float, minute_of_day: int) -> date:
    """Of a day that begins at that time. An hour that a change of summer time repeats does not begin it again."""
    local = time.localtime(at)
    today = date(local.tm_year, local.tm_mon, local.tm_mday)
    begun = local.tm_hour * 60 + local.tm_min >= minute_of_day
    return today if begun else today - timedelta(days=1)


def digest_counts(runs: Sequence[Judged]) -> str:
    """`1 FAILED, 2 running, 1 pending`: what needs somebody first."""
    words = Counter(_word(run) for run in _worst_first(runs))
    return ", ".join(f"{count} {word}" for word, count in words.items()) or "nothing runs"


def digest_lines(runs: Sequence[Judged], now: float) -> list[str]:
    """One line for each run, what needs somebody first."""
    ordered = _worst_first(runs)
    lines = [_line(run, now) for run in ordered[:LINES_LIMIT]]
    more = len(ordered) - LINES_LIMIT
    return lines + ([f"and {more} more: patrol status"] if more > 0 else [])


def _worst_first(runs: Sequence[Judged]) -> list[Judged]:
    return sorted(
        runs, key=lambda run: (_is_dealt_with(run), -run.verdict.severity.rank, _ORDER.index(run.verdict.state))
    )


def _is_dealt_with(run: Judged) -> bool:
    return run.verdict.acknowledged or run.verdict.silenced_until is not None


_ORDER = (
    RunState.FAILED, RunState.INTERRUPTED, RunState.STALLED, RunState.UNKNOWN, RunState.DEGRADED, RunState.STOPPED,
    RunState.RUNNING, RunState.PENDING, RunState.DONE,
)  # fmt: skip


def _word(run: Judged) -> str:
    """In capitals what needs somebody, as in the lines of a tick."""
    verdict = run.verdict
    if verdict.finding.rule == "unreachable":
        return "UNREACHABLE"
    if not verdict.run:
        return "without a run"
    word = verdict.state.value
    return word.upper() if verdict.severity is not Severity.OK and not _is_dealt_with(run) else word


def how_long(verdict: Verdict, now: float) -> str:
    """`for 7h12m`, or, where only the looks tell it, `since the look 7h12m ago`."""
    age = format_duration(max(0.0, round(now - verdict.since)))
    return f"for {age}" if verdict.happened else f"since the look {age} ago"


def _line(run: Judged, now: float) -> str:
    verdict = run.verdict
    worst = max((verdict.finding, *verdict.further), key=lambda finding: finding.severity.rank)
    head = f"{name_of(verdict)} {_word(run)}"
    if _is_dealt_with(run):
        return f"{head} ({'acknowledged' if verdict.acknowledged else 'silenced'})"
    if worst.severity is not Severity.OK:
        return f"{head} {how_long(verdict, now)}: {clean(cause_in_short(worst, verdict, run.look), SAY_LIMIT)}"
    if verdict.state is RunState.DONE:
        return f"{head} {how_long(verdict, now)}"
    say = clean(verdict.finding.say, SAY_LIMIT)
    stage = observed(run.look.stage) if run.look is not None else None
    return " ".join(filter(None, (head, word(stage, 40) if stage else "", say)))
