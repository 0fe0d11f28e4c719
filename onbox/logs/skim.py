"""Which of a log's new bytes are read, where there are more than is worth it: the one place that decides that.

The end is read whole, as far back as `Budget` allows, and of the first look the beginning too, where maxima stand. What
lies between is skimmed: of lines that are alike but for their digits only the newest is read, and only if the end has
none like it (an epoch that is told once an hour, a loss of `nan` before a burst of chatter, a tracker's address, the
end of the training). Where hardly two lines are alike, the newest line with each of `_WORDS` is read instead, as
far back as that is cheap, and kinds are looked for now and then.

So each kind of line has its newest told; how often it came and what stood in the older ones is not. A megabyte that is
skimmed costs 1 to 7 ms, a line that is looked at closely up to 0.2 ms.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.system.places import Stretch, first_break, last_break

if TYPE_CHECKING:
    from onbox.system.places import Places

BLOCK_BYTES = 1 << 16
REST_BLOCKS_MAX = 16
HEAD_BYTES = 1 << 16
END_BYTES_LEAST = 1 << 10
LINE_BYTES = 1 << 12
UNLIKE_MAX = 240  # lines unlike each other, each of which is looked at closely
UNLIKE_PER_SECOND = 8
END_BYTES_MAX = 3 << 17
END_BYTES_PER_SECOND = 1 << 13
SKIMMED_BYTES_LEAST, SKIMMED_BYTES_MAX = 1 << 25, 1 << 28
SKIMMED_BYTES_PER_SECOND = 1 << 21
WORDS_BYTES_MAX = 1 << 23  # so much of what is skimmed is searched for words

# What tells one kind of line from another: the letters, but for those of hex digits, and of other scripts the first
# byte of each letter, but for that of the blocks of which bars are drawn.
_BREAKS = bytes(10 if byte == 13 else byte for byte in range(256))
_KEPT = b"\r\nghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ" + bytes(byte for byte in range(0xC3, 0xF0) if byte != 0xE2)
_DROPPED = bytes(byte for byte in range(256) if byte not in _KEPT)
_WORDS = (
    b" nan", b"=nan", b"NaN", b"://", b"wandb", b"poch", b"tep", b"loss", b"tart", b"esum", b"inish", b"omplete",
)  # fmt: skip
_DIGITS = b"0123456789"


class Budget(NamedTuple):
    """What a look may cost. unlike: so many lines are looked at closely at the end, and half as many before it.
    end_bytes: so much of the end is read whole. skimmed_bytes: so much before that is skimmed; what lies before is
    passed over. each: no line is cheaper for being like the one before.
    """

    unlike: int
    end_bytes: int
    skimmed_bytes: int
    each: bool = False


FIRST = Budget(UNLIKE_MAX, END_BYTES_MAX, SKIMMED_BYTES_LEAST)


def budget_after(seconds: float) -> Budget:
    """For a look that comes so long after the one before: about 1 % of a core, however often there is one."""
    seconds = max(1.0, seconds)
    return Budget(
        min(UNLIKE_MAX, int(UNLIKE_PER_SECOND * seconds)),
        min(END_BYTES_MAX, int(END_BYTES_PER_SECOND * seconds)),
        min(SKIMMED_BYTES_MAX, max(SKIMMED_BYTES_LEAST, int(SKIMMED_BYTES_PER_SECOND * seconds))),
    )


def skim(log: Places, start: int, budget: Budget) -> list[Stretch]:
    """What is to be read of the log from the offset `start` on, in its order. Raises OSError."""
    end = _end(log, start, budget)
    if end.start <= start:
        return [end] if end.data else []
    first = _head(log, end.start, budget) if start == 0 else _rest_of_line(log, start, end.start)
    after = max(first.end, end.start - budget.skimmed_bytes)
    between = _Between(log, end, budget.unlike // 2).lines(after)
    return [stretch for stretch in (first, *between, end) if stretch.data]


def _end(log: Places, start: int, budget: Budget) -> Stretch:
    """The newest lines, as many as are worth reading whole."""
    begin = max(start, log.size - budget.end_bytes)
    new = Stretch(start, log.read(start, log.size)) if begin == start else log.lines(begin, log.size)
    costly = _costly(new.data, each=budget.each)
    if len(costly) <= budget.unlike:
        return new
    cut = min(_offsets(new.data)[costly[-budget.unlike]], len(new.data) - END_BYTES_LEAST)
    return log.lines(new.start + cut - 1, log.size) if cut > 0 else new


def _head(log: Places, end: int, budget: Budget) -> Stretch:
    head = log.lines(0, min(HEAD_BYTES, end))
    costly = _costly(head.data, each=budget.each)
    return head if len(costly) <= budget.unlike else _part(head, 0, _offsets(head.data)[costly[budget.unlike]])


def _costly(data: bytes, *, each: bool) -> list[int]:
    """Which lines are looked at closely: those that are not like the one before but for their digits, or each."""
    lines = [(at, line) for at, line in enumerate(_lines(data, _DIGITS)) if line]
    return [at for (_, before), (at, line) in pairwise(lines) if each or line != before]


def _rest_of_line(log: Places, start: int, end: int) -> Stretch:
    """Of the line that was still growing at the last look."""
    data = log.read(start, min(end, start + LINE_BYTES))
    return Stretch(start, data[: first_break(data) + 1])


class _Between:
    """What is skimmed, from the end of the log backwards. end: what is read whole. kinds: of so many lines are read."""

    def __init__(self, log: Places, end: Stretch, kinds: int) -> None:
        self._log, self._end, self._left = log, end.start, kinds
        self._known = {b"", *_forms(end.data)}
        self._words = [word for word in _WORDS if word not in end.data]
        self._searched = 0  # bytes, for words
        self._rest, self._rested = 0, 0  # for how many blocks no kinds are looked for, and how many of them are over

    def lines(self, start: int) -> list[Stretch]:
        """Those between `start` and the end that are worth reading, in their order."""
        found: list[Stretch] = []
        end = self._end
        while start < end:
            block = self._log.lines(max(start, end - BLOCK_BYTES) - 1, end)
            found += reversed(self._of(block))
            end = block.start
        return found[::-1]

    def _of(self, block: Stretch) -> list[Stretch]:
        if self._rested < self._rest:
            self._rested += 1
            return self._with_words(block)
        forms = _forms(block.data)
        new = set(forms) - self._known
        if len(new) > self._left:
            self._rest, self._rested = min(REST_BLOCKS_MAX, 2 * self._rest + 1), 0
            return self._with_words(block)
        self._rest = 0
        self._left -= len(new)
        self._known |= new
        if not new:
            return []
        newest, offsets = dict(zip(forms, range(len(forms)), strict=True)), _offsets(block.data)
        return [_part(block, offsets[at], offsets[at + 1]) for at in sorted(newest[form] for form in new)]

    def _with_words(self, block: Stretch) -> list[Stretch]:
        if self._searched > WORDS_BYTES_MAX:
            return []
        self._searched += len(block.data)
        found = [word for word in self._words if word in block.data]  # three times as fast as `rfind`
        self._words = [word for word in self._words if word not in found]
        lines = {_line_around(block.data, block.data.rfind(word)) for word in found}
        return [_part(block, begin, end) for begin, end in sorted(lines)]


def _line_around(data: bytes, at: int) -> tuple[int, int]:
    """Where the line begins and ends in which `at` lies, its break included."""
    begin, end = max(0, at - LINE_BYTES), min(len(data), at + LINE_BYTES)
    behind = first_break(data[at:end])
    return begin + last_break(data[begin:at]) + 1, end if behind < 0 else at + behind + 1


def _part(block: Stretch, begin: int, end: int) -> Stretch:
    return Stretch(block.start + begin, block.data[begin:end])


def _forms(data: bytes) -> list[bytes]:
    """Of each line what tells its kind."""
    return _lines(data, _DROPPED)


def _offsets(data: bytes) -> list[int]:
    """Where each line begins, and where the last one ends (one further than the data do)."""
    return [0, *accumulate(len(line) + 1 for line in _lines(data))]


def _lines(data: bytes, without: bytes = b"") -> list[bytes]:
    """The lines without some bytes; `\\r` ends a line as well."""
    return data.translate(_BREAKS, without).split(b"\n")
