"""A run as a row of a table: what each column says of it, and what is told of the one that is selected. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onbox.contract.progress import words_of_progress
from onbox.contract.readings import observed
from onbox.contract.states import RunState
from onbox.model.screen import SEPARATOR
from onbox.model.units import format_duration
from onbox.named_tuple import NamedTuple
from patrol.cost import cost_of, cost_words
from patrol.decide.phrases import ago, clean, sound
from patrol.report.lines import details, name_of, resources, state_word
from patrol.report.short import MOVING, remarks, took
from patrol.snapshot import BoxLook
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.progress import Progress
    from patrol.snapshot import RunLook, Snapshot
    from patrol.verdict import Verdict

NAME_LIMIT = 48
CURVE_LEAST = 3


class ReportRow(NamedTuple):
    """One run, or a box that has none to speak of. Texts are clean; "" where there is nothing to say.

    severity: with a person's word counted. how_far: of a run that is done, how long it took; else the counter, to its
    maximum. share: None: not known. losses: oldest first. seen_at: when that was so, local time. next_command: what to
    type where something is wrong.
    """

    name: str
    state: RunState
    state_word: str
    severity: Severity
    stage: str
    how_far: str
    share: float | None
    eta: str
    loss: str
    losses: tuple[float | None, ...]
    remark: str
    seen_at: float
    next_command: str


class RowSource(NamedTuple):
    """What a row is made of. look, snapshot: None where nothing was seen. losses: so far, oldest first."""

    verdict: Verdict
    look: RunLook | None
    snapshot: Snapshot | None
    losses: Sequence[float | None]
    seen_at: float


def row_of(subject: RowSource, now: float) -> ReportRow:
    verdict, look = subject.verdict, subject.look
    progress = _progress(look)
    words = words_of_progress(progress) if progress is not None else None
    severity = verdict.severity_told(now)
    done = verdict.state is RunState.DONE
    said = remarks(verdict, look)
    if done and look is not None:
        said = said[1:]  # how long it took, which has a column
    return ReportRow(
        name=name_of(verdict, NAME_LIMIT),
        state=verdict.state,
        state_word=state_word(verdict),
        severity=severity,
        stage=clean(observed(look.stage) or "", 20) if look is not None else "",
        how_far=took(look) if done and look is not None else words.counter.removeprefix("~") if words else "",
        share=1.0 if done else _share(look, progress),
        eta=words.eta.removeprefix("eta ") if words and verdict.state in MOVING else "",
        loss=words.loss.removeprefix("loss ") if words else "",
        losses=_curve(subject.losses),
        remark=SEPARATOR.join(said),
        seen_at=subject.seen_at,
        next_command=verdict.finding.command if severity is not Severity.OK else "",
    )


def _progress(look: RunLook | None) -> Progress | None:
    progress = observed(look.progress) if look is not None else None
    return None if progress is None else sound(progress)


def _share(look: RunLook | None, progress: Progress | None) -> float | None:
    cells = observed(look.cells) if look is not None else None
    if cells is not None:
        return cells.done / cells.total if cells.total else None
    if progress is None:
        return None
    if progress.current is not None and progress.exact_max:
        return progress.current / progress.exact_max
    return None if progress.percent is None else progress.percent / 100


def _curve(losses: Sequence[float | None]) -> tuple[float | None, ...]:
    """Looks that showed none leave a gap. () for fewer than three: two make no curve."""
    found = [loss if loss is not None and math.isfinite(loss) else None for loss in losses]
    first = next((number for number, loss in enumerate(found) if loss is not None), len(found))
    known = sum(loss is not None for loss in found)
    return tuple(found[first:]) if known >= CURVE_LEAST else ()


def facts(subject: RowSource, now: float) -> list[tuple[str, str]]:
    """What is known of one run beside its row, as label and text; what is wrong and what to do are `details`."""
    look, snapshot = subject.look, subject.snapshot
    box = snapshot if isinstance(snapshot, BoxLook) else None
    found = (
        [("progress", SEPARATOR.join(_how_far_words(look, moves=subject.verdict.state in MOVING)))]
        if look is not None
        else []
    )
    if box is not None:
        cost = cost_of(box, now)
        paid = [cost_words(cost)] if cost is not None else []
        found.append(("box", SEPARATOR.join(filter(None, [*resources(box), *paid]))))
    log = observed(look.log) if look is not None else None
    if log is not None:
        age = ago(max(0.0, log.written_age_seconds))
        found.append(("log", f"{age} ago: {clean(log.last_line, 300)}" if log.last_line else f"{age} ago, empty"))
    if subject.verdict.last_known and look is None:
        found.append(("before", subject.verdict.last_known))
    return [one for one in found if one[1]]


def _how_far_words(look: RunLook, *, moves: bool) -> list[str]:
    progress, rate = _progress(look), observed(look.steps_per_second)
    words = words_of_progress(progress) if progress is not None else None
    attempt, age = observed(look.attempt) or 1, observed(look.stage_began_age_seconds)
    counted = " ".join(filter(None, (words.counter, words.share, words.eta if moves else ""))) if words else ""
    stage = clean(observed(look.stage) or "", 20)
    return list(
        filter(
            None,
            (
                f"{stage} {counted}".strip(),
                words.loss if words else "",
                "" if rate is None or not math.isfinite(rate) else f"{rate:.3g} steps/s",
                f"attempt {attempt}" if attempt > 1 else "",
                "" if age is None or not moves else f"for {format_duration(max(0.0, age))}",
            ),
        )
    )


def advice(subject: RowSource, now: float) -> list[str]:
    """What is wrong with it and what to do, as below the line of a tick."""
    return details(subject.verdict, subject.look, now, wide=True)
