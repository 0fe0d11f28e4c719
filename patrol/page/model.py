"""What the page is made of, as values: what the memory holds of each run, and of the patrol itself. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.contract.events import Record
    from onbox.series.point import Point as SeriesPoint
    from patrol.memory.history import Before, BoxBefore
    from patrol.memory.rows import Flip, LastWord, PatrolAct, TickPoint
    from patrol.snapshot import BoxLook, RunLook
    from patrol.verdict import Verdict

Told = tuple[int, str, int, "TickPoint"]  # at, rule, severity, the numbers


class RunHistory(NamedTuple):
    """One run, or with run "" a box that has none to speak of.

    verdict: of the last tick; None: it cannot be read any more, its line can. look: the newest one that saw the run, at
    seen_at; None: none is kept. box: what that same look brought of the box. seen_now: whether the last tick saw it.
    points: oldest first. flips, acts: newest first. events: of its journal, oldest first. tail: the newest lines of its
    log. series: what its own runner saw, oldest first; () where there is none.
    """

    word: LastWord
    verdict: Verdict | None
    look: RunLook | None = None
    box: BoxLook | None = None
    seen_at: float | None = None
    seen_now: bool = False
    points: tuple[Told, ...] = ()
    flips: tuple[Flip, ...] = ()
    acts: tuple[PatrolAct, ...] = ()
    events: tuple[Record, ...] = ()
    tail: tuple[str, ...] = ()
    series: tuple[SeriesPoint, ...] = ()
    before: Before | None = None
    box_before: BoxBefore | None = None

    @property
    def name(self) -> str:
        """`box/run`, or the box alone."""
        return f"{self.word.box}/{self.word.run}" if self.word.run else self.word.box


class PageHead(NamedTuple):
    """The patrol itself. last_tick_at: None: none is known. renews: whether the page is written anew after each tick;
    then next_due_at says when the next one comes. timed: whether something is known to fire the ticks;
    None: nobody has looked.
    """

    made_at: float
    last_tick_at: float | None
    next_due_at: float | None
    cadence_seconds: float
    renews: bool = False
    timed: bool | None = None


class PageHistory(NamedTuple):
    """Everything. notes: what stood in the way."""

    title: str
    place: str
    since: float
    standing: PageHead
    runs: tuple[RunHistory, ...]
    notes: tuple[str, ...] = ()
