"""Whether somebody went on after a certain line: the same counters, by the same writer, beyond where they stood. Pure.

Any line may come after a death: frames of a stack, a launcher that ends the others, a bar drawn once more at exit, a
colleague's last step. A life sign is a counter that rises.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.model.counts import Count, counts_of
from onbox.logs.model.lines import message, readable
from onbox.logs.model.writers import NOBODY, Writer, writer_of
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable

KEPT = 600  # newest lines of progress; what has more than that behind it has been survived
LOOK_BACK = 64
TURNS = 8  # lines of progress before a death, in which each rank that goes in step has been heard twice
ALL_PERCENT = 100
LAST = 3  # lines: launchers have a last word, too
ENOUGH = 64  # signs: more are not counted
BUFFER_BYTES = 8192  # of standard output into a file: so much of it comes at exit, behind what standard error says
ANEW = 8  # rises of a counter that began anew: what a buffer or a colleague shows late has gone on from where it stood
COLLEAGUES = 50  # lines of other ranks after the death of one: so many are no leftovers


_ANSWER = lazy(r"\"(?:GET|POST|PUT|HEAD|DELETE|PATCH) /\S{0,500} HTTP/[\d.]{1,4}\" [1-4]\d\d\b")
SHOWS_BAR = r"\d%\||\d\.?\d{0,3}(?:it/s|s/it)\b"
_OF_AN_EPOCH = lazy(rb"\b[Ee]poch \d{1,9}: {1,4}(\d{1,3})%")  # its bar is not that of the run
# What a program of its own kind counts, in a line that shows other numbers too: `problem 12 samples 8 ...`.
_THING = lazy(
    r"\W{0,4}(?!(?i:rank|worker|gpu|node|host|process|proc|pid|attempt|try|retry|thread|exit|signal|line|level|loss|port)\b)"
    r"([A-Za-z][a-z_]{2,15})[ #:=]{1,3}(\d{1,9})(?= )"
)
_BAR = lazy(SHOWS_BAR.encode())


class Step(NamedTuple):
    """A line of progress. ordinal: the how-manieth of its attempt, from 1. number: of its line."""

    ordinal: int
    number: int
    line: bytes


class Steps:
    """The newest lines of progress of an attempt. add: takes (ordinal, number, line), as `Step` names them."""

    def __init__(self) -> None:
        self.kept: deque[tuple[int, int, bytes]] = deque(maxlen=KEPT)  # plain: made for each line of progress
        self.add = self.kept.append
        self._signs: dict[tuple[int, int, str, bool], int] = {}  # each fault is weighed beside every other one

    @property
    def at_end(self) -> bool:
        """Whether the outermost counter of one of the last lines stands at the maximum that it shows, and none that has
        just begun came after it.
        """
        if self.kept and (of_an_epoch := _OF_AN_EPOCH.search(self.kept[-1][2])) and int(of_an_epoch[1]) < ALL_PERCENT:
            return False
        newest = [_read(step[2]).counts for step in list(self.kept)[-LAST:] if not _OF_AN_EPOCH.search(step[2])]
        shown = [counts[0] for counts in newest if counts and counts[0].maximum is not None]
        return any(count.at_end for count in shown) and shown[-1].value > 0

    def is_habit(self, text: str) -> bool:
        """Whether the same was said before, with other numbers: a loop's line, and no remark that holds a number."""
        shown = _read(text.encode())
        return sum(1 for step in self.kept if _read(step[2]).form == shown.form) > 1

    def signs_after(self, ordinal: int, source: str = "", *, uncaught: bool = False) -> int:
        """How many lines after the `ordinal`-th one show a counter beyond where it stood.

        source: of the writer whose death is in question. uncaught: it is surely gone, so what colleagues that go in
        step with it print is no life sign.
        """
        if not self.kept or self.kept[-1][0] <= ordinal:
            return 0
        if self.kept[0][0] > ordinal + 1:
            return KEPT
        asked = (self.kept[-1][1], ordinal, source, uncaught)
        if asked not in self._signs:
            self._signs[asked] = self._count_signs(ordinal, source, uncaught=uncaught)
        return self._signs[asked]

    def _count_signs(self, ordinal: int, source: str, *, uncaught: bool) -> int:
        writer = writer_of(source)
        steps = [Step(*step) for step in self.kept]
        before = [step for step in steps if step.ordinal <= ordinal][-LOOK_BACK:]
        after = [step for step in steps if step.ordinal > ordinal]
        if writer is NOBODY and uncaught:
            writer = _silent(before, after)
        total = _rising(before, after, writer, alone=_has_voice(writer, before, after))
        if uncaught and writer.in_step and not any(_writer(step) == writer for step in after):
            return max(0, total - COLLEAGUES)
        return total

    def signs_of(self, source: str, ordinal: int) -> int:
        """How many lines after the `ordinal`-th one this writer has written."""
        writer = writer_of(source)
        return sum(step[0] > ordinal and _read(step[2]).writer == writer for step in self.kept)

    def came_from_a_buffer(self, ordinal: int, *, cut: bool) -> bool:
        """Whether all lines after the `ordinal`-th one may have been printed before it, and written out at exit only.

        A buffer holds so many bytes, its lines were not shown before, and loggers and bars do not wait in it. cut: the
        line before was cut in the middle, as a full buffer is.
        """
        if self.kept and self.kept[0][0] > ordinal + 1:
            return False
        after = [step[2] for step in self.kept if step[0] > ordinal]
        if sum(len(line) + 1 for line in after) > BUFFER_BYTES or any(_read(line).at_once for line in after):
            return False
        before = {_read(step[2]).form for step in self.kept if step[0] <= ordinal}
        return cut or before.isdisjoint(_read(line).form for line in after)


def _has_voice(writer: Writer, before: list[Step], after: list[Step]) -> bool:
    """Whether the writer itself tells how far it is, so that the others need not be asked."""
    return writer is not NOBODY and any(_writer(step) == writer for step in [*before, *after])


def _silent(before: list[Step], after: list[Step]) -> Writer:
    """The rank that took its turn with the others until a death, and has said nothing since, while they go on."""
    took = [_writer(step) for step in before[-TURNS:]]
    since = {_writer(step) for step in after}
    gone = {writer for writer in took if writer.in_step and took.count(writer) > 1} - since
    return gone.pop() if len(gone) == 1 and since <= set(took) and len(after) > 1 else NOBODY


def _writer(step: Step) -> Writer:
    return _read(step.line).writer


class _Shown(NamedTuple):
    """A line of progress, read. form: its letters. at_once: who wrote it does not let it wait in a buffer."""

    writer: Writer
    counts: tuple[Count, ...]
    form: str
    at_once: bool


@lru_cache(2 * KEPT)
def _read(line: bytes) -> _Shown:
    said = message(readable(line))
    at_once = said.level is not None or bool(_BAR.search(line))
    if _ANSWER.search(said.text):  # a server goes on, whatever it was asked for
        return _Shown(NOBODY, (), "an answer", at_once)
    counts = counts_of(said.text)
    things = _THING.match(said.text) if counts else None
    if things is not None and things[1].lower() not in {one.unit for one in counts}:
        counts = (*counts, Count(things[1].lower(), float(things[2])))
    return _Shown(writer_of(said.source), counts, "".join(filter(str.isalpha, said.text)), at_once)


class _Standing:
    """Where each writer's counters stand. spoken: what they said without any counter. anew: where those stand that fell
    back, and how often each has risen since: the next trial, the next fold.
    """

    def __init__(self) -> None:
        self.stood: dict[tuple[Writer, str], float] = {}
        self.anew: dict[tuple[Writer, str], tuple[float, int]] = {}
        self.spoken: set[tuple[Writer, str]] = set()

    def take(self, shown: _Shown) -> bool:
        """Whether a counter of this line stands beyond where it stood; the first counter of all does. A line without
        any counter tells of life if its writer has said the same with other numbers.
        """
        if not shown.counts:
            form = (shown.writer, shown.form)
            known = form in self.spoken
            self.spoken.add(form)
            return known
        rose, outer = False, shown.counts[0].unit
        for unit, value, _ in shown.counts:
            key = (shown.writer, unit)
            stands = self.stood.get(key)
            if stands is None or value > stands:
                rose = rose or stands is not None or not self.stood
            if stands is None or value > stands or unit != outer:  # an inner loop may begin again
                self.stood[key] = value
            else:
                rose = self._rises_anew(key, value) or rose
        return rose

    def _rises_anew(self, key: tuple[Writer, str], value: float) -> bool:
        before, rises = self.anew.get(key, (value, 0))
        self.anew[key] = (value, rises + (value > before))
        return value > before and rises >= ANEW


def _rising(before: Iterable[Step], after: Iterable[Step], writer: Writer, *, alone: bool) -> int:
    standing = _Standing()
    for step in before:
        standing.take(_read(step.line))
    total, lists = 0, _lists(after)
    for step in after:
        shown = _read(step.line)
        if (alone and shown.writer != writer) or (lists and _is_row(shown)):
            continue
        total += standing.take(shown)
        if total >= ENOUGH:
            break
    return total


def _lists(steps: Iterable[Step]) -> bool:
    """Whether the numbers that lines begin with fall, too: those of a table, say of processes, that an error shows."""
    first = [shown.counts[0].value for step in steps if _is_row(shown := _read(step.line))]
    return any(next_ < one for one, next_ in pairwise(first)) and first[-1] < max(first)


def _is_row(shown: _Shown) -> bool:
    return len(shown.counts) == 1 and shown.counts[0].unit == "row"
