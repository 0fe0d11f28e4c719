"""What happened to a run, on one axis of time and as a list: its stages' attempts, verdicts, what the patrol did. Pure.

A bar is `(left, width)` in percent of the axis. Nothing is drawn for a time of which nothing is known.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from onbox.chain.viewer.event_text import parts
from onbox.contract.events import Event
from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple
from onbox.system.clock import parse_utc
from onbox.triage.evidence import NO_PROOF_RULES
from patrol.page.attempts import attempts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onbox.contract.events import Record
    from patrol.page.attempts import AttemptRow
    from patrol.page.model import RunHistory, Told

ROWS = 80
STAGES = 12
STRIPES = 400
TONES = ("ok", "warning", "critical", "unknown")
_STEPS = (60, 120, 300, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400)
_TICKS = 6
_BAD = frozenset((Event.STAGE_FAILED, Event.CHAIN_FAILED, Event.GATE_REFUSED))
_GOOD = frozenset((Event.STAGE_DONE, Event.CHAIN_DONE))
_ILL = frozenset((Event.STAGE_STALLED, Event.STAGE_RETRYING, Event.STAGE_INTERRUPTED, Event.CHAIN_INTERRUPTED))


class TimelineBar(NamedTuple):
    """left, width: percent of the axis. tone: how it is coloured. text: what a pointer shows."""

    left: float
    width: float
    tone: str
    text: str


class Lane(NamedTuple):
    name: str
    bars: tuple[TimelineBar, ...]


class Tick(NamedTuple):
    left: float
    text: str


class TimelineRow(NamedTuple):
    """One thing that happened. who: a stage, "chain", "patrol". proof: the line that proves it; ""."""

    at: float
    who: str
    what: str
    text: str
    tone: str
    proof: str = ""


class Timeline(NamedTuple):
    lanes: tuple[Lane, ...]
    ticks: tuple[Tick, ...]
    rows: tuple[TimelineRow, ...]
    left_out: int


def timeline_of(run: RunHistory, holes: Sequence[tuple[int, int]]) -> Timeline:
    """holes: when the run was not seen."""
    attempts = attempts_of(run)
    rows = sorted((*_event_rows(run.events), *_flip_rows(run), *_act_rows(run)), key=lambda row: -row.at)
    times = [at for attempt in attempts for at in (attempt.began_at, attempt.ended_at or run.seen_at) if at is not None]
    times += [point[0] for point in (*run.points[:1], *run.points[-1:])]
    times += [ended for _, ended in holes[-1:]]
    if not times or max(times) - min(times) < 1.0:
        return Timeline((), (), tuple(rows[:ROWS]), max(0, len(rows) - ROWS))
    axis = _Axis(min(times), max(times))
    lanes = [Lane("verdict", (*_stripes(run.points, axis), *_hole_bars(holes, axis)))] if run.points else []
    for stage in list(dict.fromkeys(attempt.stage for attempt in attempts))[:STAGES]:
        bars = [_bar(attempt, run, axis) for attempt in attempts if attempt.stage == stage]
        lanes.append(Lane(stage, tuple(bars)))
    return Timeline(tuple(lanes), axis.ticks(), tuple(rows[:ROWS]), max(0, len(rows) - ROWS))


class _Axis:
    def __init__(self, first: float, last: float) -> None:
        self.first, self.last = first, last

    def percent(self, at: float) -> float:
        return round(min(max(100.0 * (at - self.first) / (self.last - self.first), 0.0), 100.0), 3)

    def bar(self, began: float, ended: float, tone: str, text: str) -> TimelineBar:
        left = self.percent(began)
        return TimelineBar(left, max(round(self.percent(ended) - left, 3), 0.15), tone, text)

    def ticks(self) -> tuple[Tick, ...]:
        """Round local times; days where the steps are days."""
        span = self.last - self.first
        step = next((one for one in _STEPS if span / one <= _TICKS), _STEPS[-1])
        form = "%d %b" if step >= 86400 else "%d %b %H:%M" if span > 86400 else "%H:%M"
        offset = time.localtime(self.first).tm_gmtoff
        at, found = ((self.first + offset) // step + 1) * step - offset, []
        while at < self.last:
            if 4 < self.percent(at) < 96:
                found.append(Tick(self.percent(at), time.strftime(form, time.localtime(at))))
            at += step
        return tuple(found[:20])


# -- lanes


def _bar(attempt: AttemptRow, run: RunHistory, axis: _Axis) -> TimelineBar:
    name = f"{attempt.stage}, attempt {attempt.number}"
    ended = attempt.ended_at if attempt.ended_at is not None else run.seen_at or axis.last
    took = format_duration(max(0.0, ended - attempt.began_at))
    return axis.bar(attempt.began_at, ended, attempt.tone, f"{name}: {attempt.how}, {took}")


def _stripes(points: Sequence[Told], axis: _Axis) -> list[TimelineBar]:
    """One bar per change of what was said."""
    found: list[TimelineBar] = []
    begin = 0
    for number in range(1, len(points) + 1):
        if number < len(points) and points[number][1:3] == points[begin][1:3]:
            continue
        at, rule, severity, _ = points[begin]
        until = points[min(number, len(points) - 1)][0]
        found.append(axis.bar(at, until, TONES[severity if severity in range(4) else 3], rule))
        begin = number
    return found[-STRIPES:]


def _hole_bars(holes: Sequence[tuple[int, int]], axis: _Axis) -> list[TimelineBar]:
    return [axis.bar(began, ended, "hole", "not seen") for began, ended in holes]


# -- the list


def _event_rows(events: Iterable[Record]) -> list[TimelineRow]:
    found = []
    for event in events:
        at, told = parse_utc(str(event.get("at"))), parts(event)
        if at is None or told is None:
            continue
        who, what, text = told
        found.append(TimelineRow(at, who, what.lower(), text, _tone(event["event"]), _proof(event)))
    return found


def _tone(event: str) -> str:
    if event in _BAD:
        return "critical"
    if event in _GOOD:
        return "done"
    return "warning" if event in _ILL else "plain"


def _proof(event: Record) -> str:
    """The line of the log that proves a failure; what proves nothing is not shown as a proof."""
    proof = event.get("proof")
    if not isinstance(proof, str) or event.get("rule") in NO_PROOF_RULES:
        return ""
    where = event.get("where")
    return f"{proof}  [{where}]" if isinstance(where, str) and where else proof


def _flip_rows(run: RunHistory) -> list[TimelineRow]:
    found = []
    for flip in run.flips:
        was = f" (was {flip.rule_before})" if flip.rule_before else " (first look)"
        tone = TONES[flip.severity if flip.severity in range(4) else 3]
        found.append(TimelineRow(flip.at, "patrol", f"says {flip.rule}", f"{flip.say}{was}", tone))
    return found


def _act_rows(run: RunHistory) -> list[TimelineRow]:
    return [
        TimelineRow(act.at, "patrol", act.kind, " · ".join(filter(None, (act.outcome, act.detail))), "plain")
        for act in run.acts
    ]
