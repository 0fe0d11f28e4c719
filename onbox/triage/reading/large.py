"""The parts of a large log that decide why a run died: its beginning, its end, looks between, and what a search finds.

What the run survived does not count, so an end that shows the run at work explains itself. Where it does not (a flood
of the same complaint, say), more of it is read, and the middle is searched for the words that deaths are told by.
Lines that are not read are counted: every line keeps its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.model.lines import Gap, blocks
from onbox.named_tuple import NamedTuple
from onbox.system.places import Places, Stretch, apart, spread
from onbox.triage.reading.scan import Scanner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SMALL_BYTES, WHOLE_BYTES = 3 << 17, 3 << 19  # so much is read from the first byte to the last, if lines are alike
HEAD_BYTES = 1 << 18
TAIL_BYTES = 1 << 19
END_BYTES = 1 << 16  # of the tail, its end tells whether more is needed
GROWN_BYTES = 1 << 23  # of an end that shows too little, if its lines are alike
FORMS_MAX = 250  # of lines in the end; with more it does not grow: each costs a closer look
COSTLY_SHARE = 4  # of an end at work in which hardly two lines are alike, so small a part is read
SAMPLES, SAMPLE_BYTES = 8, 1 << 14
AROUND = (1 << 13, 1 << 15)  # bytes before and behind a word that is found
AT_WORK = 10  # lines of progress: more than a death is survived by
WORDS = (
    b"Traceback (most recent call last)",
    b"out of memory",
    b"CUDA error",
    b"No space left on device",
    b"illed process",
    b"NCCL error",
    b"Segmentation fault",
    b" FATAL",
)
LOST = (b" nan", b" NaN", b"=nan", b":nan")
BLOCK_BYTES = 1 << 20


class Excerpt:
    """What is to be read of a log. Where the lines of the rest could change the verdict, and once all has been read:
    only_searched_bytes were looked through for words, unread_bytes had gone by in a pipe.
    """

    def __init__(self, log: Places) -> None:
        self.log = log
        self.only_searched_bytes = 0
        self.unread_bytes = 0

    def parts(self) -> Iterator[bytes | Gap]:
        """In the order of the file. Raises OSError."""
        done = 0
        for place in self._places():
            if place.start > done:
                yield Gap(self.log.count_lines(done, place.start))
            for at in range(0, len(place.data), BLOCK_BYTES):
                yield place.data[at : at + BLOCK_BYTES]
            done = place.end

    def _places(self) -> Iterable[Stretch]:
        log = self.log
        if log.size <= SMALL_BYTES:
            return [Stretch(0, log.read(0, log.size))]
        shown = _shown(log.lines(log.size - END_BYTES, log.size).data)
        is_costly = shown.forms > FORMS_MAX and shown.progress >= AT_WORK
        if log.size <= WHOLE_BYTES and not is_costly:
            return [Stretch(0, log.read(0, log.size))]
        share = COSTLY_SHARE if is_costly else 1
        tail = log.lines(log.size - TAIL_BYTES // share, log.size)
        head = log.lines(0, HEAD_BYTES // share)
        between = spread(SAMPLES, head.end, log.size - TAIL_BYTES, SAMPLE_BYTES // share)
        samples = [place for place in (log.lines(*ends) for ends in between) if place.data]
        words: tuple[bytes, ...] = LOST if shown.lost else ()
        if shown.progress < AT_WORK:
            words += WORDS
            if shown.forms <= FORMS_MAX:
                tail = log.lines(max(head.end, log.size - GROWN_BYTES), log.size)
        found = [place for word in words for place in _around(log, word, head.end, tail.start)]
        places = apart([head, *samples, *found, tail])
        if shown.progress < AT_WORK:
            first_gone, after_gone = log.gone
            self.unread_bytes = after_gone - first_gone
            self.only_searched_bytes = log.size - self.unread_bytes - sum(len(place.data) for place in places)
        return places


class Shown(NamedTuple):
    """What the end shows. progress: lines of it. forms: of lines. lost: the loss is not a number any more."""

    progress: int
    forms: int
    lost: bool


def _shown(data: bytes) -> Shown:
    scanner = Scanner()
    for block in blocks([data]):
        scanner.feed(block.first, block.lines)
    return Shown(scanner.attempt.progress, len(scanner.known), scanner.attempt.lost is not None)


def _around(log: Places, word: bytes, start: int, end: int) -> list[Stretch]:
    """What stands around the first and the last `word`."""
    last = next(log.backwards((word,), start, end), None)
    if last is None:
        return []
    first = log.forwards(word, start, end)
    hits = {last, last if first is None else first}
    return [log.lines(max(start, at - AROUND[0]), min(end, at + AROUND[1])) for at in sorted(hits)]
