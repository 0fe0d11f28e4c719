"""What is kept of ticks, boxes and runs, as values. Pure; `memory.py` stores them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.series.point import Point as SeriesPoint
    from patrol.memory.history import Before, BoxBefore
    from patrol.memory.run_memory import Memories


class MemoryTrouble(Exception):
    """The memory could not be read or written (disk full, rights, busy). The file itself is not known to be damaged."""


class Past(NamedTuple):
    """What a tick needs to know of the earlier ones. runs: by (box, run). memories: by box, then run, as the text that
    `run_codec.memories_of` reads: each look reads those of its own box, while the box answers.
    """

    runs: dict[tuple[str, str], Before]
    boxes: dict[str, BoxBefore]
    memories: dict[str, dict[str, str]]


class TickPoint(NamedTuple):
    """The numbers of one run at one tick, for plots; None: not known. Shares are whole percents."""

    current: float | None = None
    loss: float | None = None
    memory_percent: int | None = None
    disk_percent: int | None = None
    inodes_percent: int | None = None
    gpu_percent: int | None = None


class RunNote(NamedTuple):
    """What is kept of one run after a tick. verdict: as JSON. state, severity, rule, say: of the verdict, for the list
    of changes. rule_before: None at the first sight. flag: the worst rule that is told beside it, with what it says; ""
    where none is worse than the rule itself.
    """

    box: str
    run: str
    at: float
    before: Before
    line: str
    verdict: str
    state: str
    severity: int
    rule: str
    say: str
    rule_before: str | None
    point: TickPoint | None
    flag: str = ""
    flag_says: str = ""
    flag_before: str = ""


class BoxNote(NamedTuple):
    """What is kept of one box after a tick. look: as JSON. memories: None: it was not reached, they stay as they
    were. left: runs that onbox.toml asks for no more; they are forgotten. records: by run, as JSON. series: by run, the
    new points of its series.
    """

    box: str
    at: float
    before: BoxBefore
    look: str
    memories: Memories | None
    left: tuple[str, ...] = ()
    records: tuple[tuple[str, str], ...] = ()
    series: tuple[tuple[str, tuple[SeriesPoint, ...]], ...] = ()


class TickNote(NamedTuple):
    """One tick. note: trouble of its own, in words, or ""."""

    began_at: float
    ended_at: float
    exit_code: int
    boxes: tuple[BoxNote, ...]
    runs: tuple[RunNote, ...]
    note: str = ""


class LastWord(NamedTuple):
    """What the last tick that knew of a run said. verdict: as JSON."""

    box: str
    run: str
    at: float
    line: str
    verdict: str


class Flip(NamedTuple):
    """A change of what is said of a run (or of a box: run is "")."""

    at: float
    box: str
    run: str
    rule_before: str | None
    rule: str
    severity: int
    state: str
    say: str


class PatrolAct(NamedTuple):
    """Something that the patrol did. kind: resume, relay, ack, silence, ...; subject: what must not be done twice."""

    at: float
    box: str
    run: str
    kind: str
    subject: str
    outcome: str
    detail: str


class PastTick(NamedTuple):
    began_at: float
    ended_at: float
    exit_code: int
    boxes: int
    runs: int
    note: str


def must_be_text(notes: Sequence[RunNote]) -> None:
    """Raises UnicodeEncodeError where a note holds half a character: no store and no file takes that."""
    for note in notes:
        for value in note:
            if isinstance(value, str):
                value.encode("utf-8")
