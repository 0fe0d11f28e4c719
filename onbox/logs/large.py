"""How far a run is, from a log of any size: what is declared at its beginning, where it stands at its end, and a few
looks between. Costs the same for a megabyte and for a terabyte.

The end decides. A counter that the beginning shows and the end does not (an epoch that is told once an hour) and the
last start of a run are searched for backwards from the end, as far as `SEARCH_BYTES`; a counter that the looks between
show is then sought by halving what is left. What was not found so is not told: a number from the beginning of a log is
no news of where the run is now.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.alike import PROBE_BYTES, hardly_alike
from onbox.logs.line.read import read_line
from onbox.logs.line.remarks import turn_of
from onbox.logs.progress import ProgressReader, ProgressSettings
from onbox.logs.shown_text import clean_text
from onbox.named_tuple import NamedTuple
from onbox.system.places import Stretch, apart, spread

if TYPE_CHECKING:
    from onbox.contract.progress import Progress
    from onbox.system.places import Places

WHOLE_BYTES = 1 << 20  # so much is read from the first byte to the last
HEAD_BYTES = 1 << 16
TAIL_BYTES = (1 << 16, 1 << 18, 1 << 21, 1 << 23)  # the next one where no counter is seen in so much
AMPLE_BYTES = 1 << 18  # so much of the end is read even where a counter is seen in less
LOOKS_MAX = 1200  # of lines that must be looked at closely, no more are taken in to learn what is known already
SAMPLES, SAMPLE_BYTES = 8, 1 << 13
SEARCH_BYTES = 1 << 25
START_BYTES = 1 << 15  # of a run that started between: its banner tells its maxima
HITS_MAX = 64
KEYS_MAX = 4
LINE_BYTES = 500
WORD_BYTES = 4  # of the letters that a line is searched by
_STARTS = (b"Running training", b"tarting training", b"esuming", b"esumed", b"estart", b"ttempt ", b"elaunch")
_WORDS = re.compile(rb"[^\d\r\n]+")


class LargeLogReading(NamedTuple):
    """unread_bytes: of the log, between its beginning and its end. matters: what they hold could change the answer."""

    progress: Progress
    unread_bytes: int
    matters: bool


def read_large(log: Places, settings: ProgressSettings) -> LargeLogReading:
    """The progress that a log shows. Raises OSError."""
    if log.size <= TAIL_BYTES[0]:
        return _read_whole(log, settings)
    read = _Read(log, settings, TAIL_BYTES[0] // (2 if _is_costly(log, log.size - PROBE_BYTES) else 1))
    if log.size <= WHOLE_BYTES and read.is_cheap(log.size):
        return _read_whole(log, settings)
    for tail_bytes in TAIL_BYTES[1:]:
        known = read.shows_counter and tail_bytes > AMPLE_BYTES
        if known or not read.is_cheap(tail_bytes) or read.tail_bytes + HEAD_BYTES >= log.size:
            break
        read = _Read(log, settings, tail_bytes)
    read.look_for_the_rest()
    return read.reading()


def _read_whole(log: Places, settings: ProgressSettings) -> LargeLogReading:
    reader = ProgressReader(settings)
    reader.feed(log.read(0, log.size))
    return LargeLogReading(reader.result(), 0, matters=False)


def _is_costly(log: Places, start: int) -> bool:
    return hardly_alike(log.read(max(0, start), start + PROBE_BYTES))


class _Read:
    """One reading, with so many bytes of the log's end."""

    def __init__(self, log: Places, settings: ProgressSettings, tail_bytes: int) -> None:
        self.log, self.settings, self.tail_bytes = log, settings, tail_bytes
        head_bytes = HEAD_BYTES // (4 if _is_costly(log, PROBE_BYTES) else 1)
        head = log.lines(0, min(head_bytes, log.size - tail_bytes) if log.size > tail_bytes else 0)
        self.tail = log.lines(max(head.end, log.size - tail_bytes), log.size)
        self.before, self.kept = [head], set[str]()
        self._feed()
        if self.track.line <= LOOKS_MAX // 2:
            between = spread(SAMPLES, head.end, self.tail.start, SAMPLE_BYTES)
            self.before = apart([head, *(log.lines(*ends) for ends in between if ends[1] <= self.tail.start)])
            self._feed()

    def _feed(self) -> None:
        self.reader = ProgressReader(self.settings)
        for place in self.before:
            self.reader.feed(place.data)
            self.reader.leap()
        self.mark = self.reader.track.line
        self.reader.feed(self.tail.data)
        self.track = self.reader.ended().track

    def is_cheap(self, tail_bytes: int) -> bool:
        """Whether so much more of the end has few lines to look at closely, as far as this reading tells."""
        looks = self.track.line - self.mark
        return bool(self.settings.regex) or looks * tail_bytes <= LOOKS_MAX * self.tail_bytes

    @property
    def shows_counter(self) -> bool:
        shown = [counter.key for counter in self.track.counters.values() if counter.last > self.mark]
        if self.settings.regex:
            return "own" in shown
        return bool(shown) or self.track.percent_line > self.mark

    def look_for_the_rest(self) -> None:
        """The newest start of a run, and the counters that the end does not show, from the end backwards."""
        first = self.before[0].end
        start = max(first, self.tail.start - SEARCH_BYTES)
        found = self._start_of_run(start)
        stale = [c for c in self.track.counters.values() if c.last <= self.mark]
        for counter in sorted(stale, key=lambda counter: -counter.last)[:KEYS_MAX]:
            shown = self._last_shown(counter.key)
            if shown is None:
                continue
            place = self._last_like(shown.data, counter.key, start)
            if place is None and start > first:
                place = self._last_by_halves(counter.key, shown.start)
            if place is not None:
                found.append(place)
            if place is not None or start == first:
                self.kept.add(counter.key)
        if found:
            self.before = apart([*self.before, *found])
            self._feed()

    def _start_of_run(self, start: int) -> list[Stretch]:
        for number, at in enumerate(self.log.backwards(_STARTS, start, self.tail.start)):
            if turn_of(clean_text(self.log.line_at(at, LINE_BYTES))) == "started":
                begin = at - len(self.log.line_at(at, LINE_BYTES))
                return [self.log.lines(begin, min(at + START_BYTES, self.tail.start))]
            if number >= HITS_MAX:
                break
        return []

    def _last_shown(self, key: str) -> Stretch | None:
        """The last line before the end that shows a counter, with where its place begins."""
        for place in reversed(self.before):
            line = _last_in(place, key)
            if line is not None:
                return Stretch(place.start, line)
        return None

    def _last_like(self, line: bytes, key: str, start: int) -> Stretch | None:
        word = max(_WORDS.findall(line) or [b""], key=len)
        if len(word) < WORD_BYTES:
            return None
        for number, at in enumerate(self.log.backwards((word,), start, self.tail.start)):
            text = self.log.line_at(at, LINE_BYTES)
            if _shows(text, key):
                return Stretch(at, text)
            if number >= HITS_MAX:
                break
        return None

    def _last_by_halves(self, key: str, shown_at: int) -> Stretch | None:
        """Where a counter is told last that was told for a good part of the log, and then no more: a loop that hangs
        while something else is written. None where only the beginning shows it. shown_at: where the last place begins
        that is known to show it.
        """
        if shown_at < self.before[0].end:
            return None
        found, low, high = None, shown_at, self.tail.start
        while high - low > SAMPLE_BYTES:
            middle = (low + high) // 2
            place = self.log.lines(middle, min(middle + SAMPLE_BYTES, self.tail.start))
            if _last_in(place, key) is None:
                high = middle
            else:
                found, low = place, middle
        return found or next(place for place in self.before if place.start == shown_at)

    def reading(self) -> LargeLogReading:
        self.reader.forget(self.mark, self.kept)
        progress = self.reader.result()
        sure = any(
            c.last > self.mark and c.current == progress.current and c.maximum == progress.exact_max is not None
            for c in self.track.counters.values()
        )
        unread = self.log.size - len(self.tail.data) - sum(len(place.data) for place in self.before)
        return LargeLogReading(progress, max(0, unread), matters=unread > 0 and not sure)


def _last_in(place: Stretch, key: str) -> bytes | None:
    lines = reversed(re.split(rb"[\r\n]+", place.data))
    return next((line for line in lines if _shows(line, key)), None)


def _shows(line: bytes, key: str) -> bool:
    return any(sight.key == key for sight in read_line(clean_text(line)).sights)
