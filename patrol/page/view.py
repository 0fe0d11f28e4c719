"""The page as its template shows it: for each run a row of the overview, worst first, and a part of its own. Pure."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from onbox.contract.progress import percent_of, words_of_progress
from onbox.contract.readings import observed
from onbox.contract.states import RunState
from onbox.model.units import counted, format_duration
from onbox.named_tuple import NamedTuple
from onbox.series.point import finite
from onbox.triage.evidence import NO_PROOF_RULES
from patrol.cost import cost_of, cost_words
from patrol.decide.phrases import sound
from patrol.page.cards import (
    ABSENT,
    NEVER_SEEN,
    SEEN,
    UNSEEN,
    Card,
    CardReading,
    cards_of,
    facts_of,
    reading,
)
from patrol.page.charts import data_of, numbers_of
from patrol.page.files import Written, still_there, written_by
from patrol.page.sparkline import Sparkline, sparkline
from patrol.page.timeline import Timeline, timeline_of
from patrol.report.short import said
from patrol.verdict import Severity

if TYPE_CHECKING:
    from onbox.contract.progress import Progress
    from patrol.page.model import PageHistory, RunHistory
    from patrol.snapshot import RunLook
    from patrol.verdict import Verdict

_TONES = {Severity.WARNING: "warning", Severity.CRITICAL: "critical", Severity.UNKNOWN: "unknown"}
_WELL = {RunState.DONE: "done", RunState.RUNNING: "running", RunState.UNKNOWN: "unknown"}
SIGNS = {"done": "✓", "running": "▶", "warning": "!", "critical": "✕", "unknown": "?", "plain": "•"}


class ProgressBar(NamedTuple):
    """percent: None: the whole is not known."""

    percent: float | None
    words: str


class PageFinding(NamedTuple):
    """One thing that is wrong, or worth a word."""

    rule: str
    tone: str
    say: str
    remedy: str
    command: str


class Part(NamedTuple):
    """A run on the page. quiet: a person has acknowledged or silenced it. progress, loss: a Reading where there is no
    bar and no number. cost: () where no price is known.
    """

    number: int
    name: str
    state: str
    tone: str
    sign: str
    quiet: str
    stage: str
    short: str
    bar: ProgressBar | None
    progress: CardReading
    eta: CardReading
    eta_at: float | None
    loss: CardReading
    spark: Sparkline | None
    seen_at: float | None
    seen_now: bool
    cost: tuple[str, ...]
    command: str
    then: str
    never: str
    asked: tuple[tuple[str, str], ...]
    since: float | None
    told: tuple[PageFinding, ...]
    proof: tuple[str, str]
    traceback: tuple[str, ...]
    facts: tuple[tuple[str, CardReading], ...]
    cards: tuple[Card, ...]
    timeline: Timeline
    files: tuple[Written, ...]
    files_note: str
    results: tuple[tuple[str, str, bool], ...]
    cells: tuple[tuple[str, ...], ...]
    tail: tuple[str, ...]
    data: dict[str, Any]


class View(NamedTuple):
    """counts: how many runs of each tone, as (tone, sign, words)."""

    title: str
    place: str
    made_at: float
    last_tick_at: float | None
    next_due_at: float | None
    cadence_seconds: float
    renews: bool
    timed: bool | None
    offset_seconds: int
    zone: str
    counts: tuple[tuple[str, str, str], ...]
    parts: tuple[Part, ...]
    notes: tuple[str, ...]
    has_cost: bool


def view_of(history: PageHistory) -> View:
    """Everything that the template shows, in words and numbers."""
    standing = history.standing
    runs = sorted(history.runs, key=lambda run: (-_rank(run, standing.made_at), run.name))
    parts = tuple(_part(number, run, history) for number, run in enumerate(runs))
    here = time.localtime(standing.made_at)
    return View(
        title=history.title,
        place=history.place,
        made_at=standing.made_at,
        last_tick_at=standing.last_tick_at,
        next_due_at=standing.next_due_at,
        cadence_seconds=standing.cadence_seconds,
        renews=standing.renews,
        timed=standing.timed,
        offset_seconds=here.tm_gmtoff,
        zone=time.strftime("%Z", here),
        counts=_counts(parts),
        parts=parts,
        notes=history.notes,
        has_cost=any(part.cost for part in parts),
    )


def _rank(run: RunHistory, now: float) -> int:
    """Worst first; what a person has dealt with comes last."""
    if run.verdict is None:
        return Severity.UNKNOWN.rank * 10
    told = run.verdict.severity_told(now).rank * 10
    return told + (1 if run.verdict.state is not RunState.DONE else 0)


def _counts(parts: tuple[Part, ...]) -> tuple[tuple[str, str, str], ...]:
    words = {
        "critical": "critical",
        "unknown": "not seen",
        "warning": "warning",
        "running": "running well",
        "done": "done",
        "plain": "at rest",
    }
    found = []
    for tone, word in words.items():
        number = sum(part.tone == tone for part in parts)
        if number:
            found.append((tone, SIGNS[tone], f"{number} {word}"))
    return tuple(found)


def _part(number: int, run: RunHistory, history: PageHistory) -> Part:
    now, cadence = history.standing.made_at, history.standing.cadence_seconds
    verdict, look = run.verdict, run.look
    numbers = numbers_of(run, now, cadence)
    cards = cards_of(run, numbers.charts, cadence)
    tone = _tone(verdict)
    bar, eta, eta_at = _way(run)
    loss = next(card.latest for card in cards if card.key == "loss")
    cost = cost_of(run.box, now) if run.box is not None and run.seen_now else None
    proof, traceback = _proof(run)
    return Part(
        number=number,
        name=run.name,
        state=_state(verdict, run),
        tone=tone,
        sign=SIGNS[tone],
        quiet=_quiet(verdict, now),
        stage=_stage(run),
        short=_short(run),
        bar=bar,
        progress=cards[0].latest,
        eta=eta,
        eta_at=eta_at,
        loss=loss,
        spark=sparkline(_losses(run)),
        seen_at=run.seen_at,
        seen_now=run.seen_now,
        cost=tuple(cost_words(cost).split(" · ")) if cost is not None else (),
        command=verdict.finding.command if verdict else "",
        then=verdict.then if verdict else "",
        never=verdict.never if verdict else "",
        asked=verdict.asked if verdict else (),
        since=verdict.since if verdict else None,
        told=_told(verdict),
        proof=proof,
        traceback=traceback,
        facts=facts_of(run),
        cards=cards,
        timeline=timeline_of(run, numbers.holes),
        files=written_by(run),
        files_note=still_there(run),
        results=tuple((one.path, one.text, one.whole) for one in look.results) if look is not None else (),
        cells=_cells(run),
        tail=run.tail,
        data=data_of(numbers),
    )


def _state(verdict: Verdict | None, run: RunHistory) -> str:
    if verdict is None:
        return "unknown"
    if verdict.state is RunState.UNKNOWN and not run.seen_now:
        return "unreachable" if verdict.finding.rule == "unreachable" else "not seen"
    return verdict.state.value


def _tone(verdict: Verdict | None) -> str:
    if verdict is None:
        return "unknown"
    if verdict.severity is Severity.OK:
        return _WELL.get(verdict.state, "plain")
    return _TONES[verdict.severity]


def _quiet(verdict: Verdict | None, now: float) -> str:
    if verdict is None:
        return ""
    if verdict.acknowledged:
        return verdict.acknowledged_by or "acknowledged"
    return "silenced" if (verdict.silenced_until or 0.0) > now else ""


def _stage(run: RunHistory) -> str:
    look = run.look
    stage = observed(look.stage) if look is not None else None
    if look is None or not stage:
        return ""
    return f"{stage} · {look.stages_done} of {look.stages_total} done" if look.stages_total > 1 else stage


def _short(run: RunHistory) -> str:
    """What matters beside the other cells: what is wrong; how it was done; else where it is."""
    verdict, look = run.verdict, run.look
    if verdict is None:
        return run.word.line
    if verdict.severity is not Severity.OK:
        worst = max((verdict.finding, *verdict.further), key=lambda finding: finding.severity.rank)
        return "; ".join(filter(None, (worst.say, verdict.last_known)))
    if look is not None and verdict.state is RunState.DONE:
        return " · ".join(filter(None, said(verdict, look)))
    cells, attempt = (observed(look.cells), observed(look.attempt) or 1) if look is not None else (None, 1)
    if cells is not None:
        return cells.text
    again = f"attempt {attempt}" if attempt > 1 else ""
    return " · ".join(filter(None, (_stage(run), again))) or verdict.finding.say


def _way(run: RunHistory) -> tuple[ProgressBar | None, CardReading, float | None]:
    """How far it is, as a bar; the time left, and when that is over."""
    if run.look is None:
        return None, CardReading(UNSEEN, NEVER_SEEN), None
    cells, progress = observed(run.look.cells), observed(run.look.progress)
    if cells is not None and cells.total:
        whole = ProgressBar(100.0 * cells.done / cells.total, f"{cells.done} of {counted(cells.total, 'cell')}")
        return whole, *_time_left(run, sound(progress) if progress is not None else None)
    done = run.verdict is not None and run.verdict.state is RunState.DONE
    if done and run.look.stages_total and (progress is None or progress.current is None):
        stages = ProgressBar(100.0 * run.look.stages_done / run.look.stages_total, _stages_words(run.look))
        return stages, CardReading(ABSENT, "it is done"), None
    if progress is None:
        return None, reading(run.look.progress), None
    progress = sound(progress)
    words = words_of_progress(progress)
    percent = percent_of(progress._asdict())
    if percent is not None:
        percent = math.floor(max(0.0, min(100.0, percent)) * 10) / 10  # 100% is said at the end only
    bar = ProgressBar(percent, words.counter) if words.counter else None
    return bar, *_time_left(run, progress)


def _time_left(run: RunHistory, progress: Progress | None) -> tuple[CardReading, float | None]:
    eta = progress.eta_seconds if progress is not None and not progress.finished and run.seen_now else None
    if eta is None:
        return CardReading(ABSENT, "nothing moves, or its pace is not known"), None
    return CardReading(SEEN, format_duration(eta)), (run.seen_at or 0.0) + eta


def _losses(run: RunHistory) -> list[float | None]:
    """Of its own series, else as the looks saw it."""
    own = [finite(point.loss) for point in run.series]
    return own if any(own) else [point.loss for _, _, _, point in run.points]


def _stages_words(look: RunLook) -> str:
    return f"{look.stages_done} of {counted(look.stages_total, 'stage')}"


def _told(verdict: Verdict | None) -> tuple[PageFinding, ...]:
    """The finding that names the verdict, and what is told beside it."""
    if verdict is None:
        return ()
    return tuple(
        PageFinding(one.rule, _TONES.get(one.severity, "plain"), one.say, one.remedy, one.command if number else "")
        for number, one in enumerate((verdict.finding, *verdict.further))
    )


def _proof(run: RunHistory) -> tuple[tuple[str, str], tuple[str, ...]]:
    """The line that proves its failure and where it is from, and the whole traceback."""
    failure = observed(run.look.failure) if run.look is not None else None
    if failure is None or not failure.proof or failure.rule in NO_PROOF_RULES:
        return ("", ""), failure.traceback if failure is not None else ()
    return (failure.proof, failure.where), failure.traceback


def _cells(run: RunHistory) -> tuple[tuple[str, ...], ...]:
    cells = observed(run.look.cells) if run.look is not None else None
    return cells.rows if cells is not None else ()
