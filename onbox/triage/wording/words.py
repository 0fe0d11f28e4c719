"""The end of a log as a set of words, each with the place where it stands. Pure.

A word alone says little, two in a row say more (`not written`, `exit 0`), and the same words mean another thing in the
last line than above it, behind the last line that names a trouble, or where a loop has been left. What was learned from
one run must hold for the next: so a path becomes `/p`, a number `0`, `1` or `9` (for any other), and `3/5` whether that
is all of it.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onbox.triage.reading.record import SeenLine

LINES = 60  # from the end: so far above may the trouble stand that the last lines are read beside
LINE_LETTERS = 400  # of a line's end
FAR = 12  # lines behind the last trouble: as far as any
FORM_LETTERS = 40  # by which lines of one loop are told
LEFT_LINES, FAR_LEFT = 6, 8  # lines behind a loop: that are read, and as far as any
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_PART = re.compile(r"(?<![\d.])(\d{1,9}) ?(?:/|of|out of) ?(\d{1,9})(?![\d.])")
_PATH = re.compile(r"[/\\][\w./-]+")
_WORD = re.compile(
    r"[a-z_]+|[019]|[^\sa-z_0\u2500-\u259f\u2800-\u28ff]"
)  # without what bars and spinners are drawn with
# Not the words of `triage/words.py`: what follows such a line has been learned with these.
_TROUBLE = lazy(
    r"error|fail|exception|traceback|fatal|kill|abort|panic|\b(?:nan|inf|oom)\b|cannot|can't|could not|unable|denied"
    r"|refused|not found|no such|invalid|missing|corrupt|truncat|time(?:d )?out|signal|cancel|terminat|interrupt|crash"
    r"|dead|lost|unexpected|giving up|gave up|warn|out of memory|exit(?:ed)? (?:status|code)|stop"
)
_PLACES = (("last", -1, None), ("end", -5, None), ("near", -12, -3))  # a name, and the lines that it means


def words_of(tail: Sequence[SeenLine]) -> frozenset[str]:
    """The words of a log's last lines (`last:done`, `end:not written`), as the table of weights knows them. Empty for
    an empty log.
    """
    texts = [line.text for line in tail[-LINES:]]
    said = [_cleaned(text) for text in texts]
    placed = [_placed(place, text) for place, begin, end in _PLACES for text in said[begin:end]]
    return frozenset(chain(*placed, _around_trouble(said), _behind_loop(texts, said)))


def plain_words(text: str) -> list[str]:
    """The words of one line, wherever it stands: in small letters, without what differs from run to run."""
    return _cleaned(text).split()


def _cleaned(text: str) -> str:
    """A line's level and words, in small letters, with one blank between them."""
    said = message(text)
    counted = _PART.sub(_how_many, (said.text or text)[-LINE_LETTERS:].lower())
    plain = _PATH.sub("/p", _NUMBER.sub(_how_much, counted))
    words = " ".join(_WORD.findall(plain))
    return f"@{said.level} {words}" if said.level else words


def _how_many(found: re.Match[str]) -> str:
    """Of `3/5`: whether it is all, none or some of it."""
    done, whole = int(found[1]), int(found[2])
    return " all_of_it " if done == whole else " none_of_it " if done == 0 else " some_of_it "


def _how_much(found: re.Match[str]) -> str:
    """Of a number: `0`, `1`, or `9` for any other. `exit 0` and `exit 1` are not the same."""
    return "0" if not found[0].strip("0.,") else "1" if found[0] == "1" else "9"


def _placed(place: str, text: str) -> Iterator[str]:
    words = text.split()
    yield from (f"{place}:{word}" for word in words)
    yield from (f"{place}:{a} {b}" for a, b in pairwise(words))


def _around_trouble(said: list[str]) -> Iterator[str]:
    """The last line that names a trouble, how far from the end it stands, and what follows it."""
    at = next((index for index in reversed(range(len(said))) if _TROUBLE.search(said[index])), None)
    if at is None:
        return
    yield f"behind:{min(len(said) - 1 - at, FAR)}"
    yield from _placed("trouble", said[at])
    for text in said[at + 1 : at + 3]:
        yield from _placed("after", text)


def _behind_loop(texts: list[str], said: list[str]) -> Iterator[str]:
    """What stands behind the last line of a loop: one that was said before, with other numbers."""
    forms = ["".join(filter(str.isalpha, text))[:FORM_LETTERS] for text in texts]
    times = Counter(forms)
    looped = (at for at in reversed(range(len(texts))) if times[forms[at]] > 1 and any(map(str.isdigit, texts[at])))
    last = next(looped, None)
    if last is None:
        return
    yield f"left:{min(len(texts) - 1 - last, FAR_LEFT)}"
    for text in said[last + 1 :][:LEFT_LINES]:
        yield from _placed("left", text)
