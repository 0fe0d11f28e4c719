"""Whether the last pass of a loop has come to its end, by the line with which each pass before it did. Pure.

`* Acc@1 89.2` behind the last batches that are shown of each epoch: behind those of the last one it is the run's end.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onbox.logs.judge.ending.closing_line import form
from onbox.logs.line.read import read_line

if TYPE_CHECKING:
    from collections.abc import Sequence

PASSES = 3  # that ended so before


def ends_pass(lines: Sequence[str], counted: int, key: str) -> bool:
    """Whether a line behind those that count is of a form that stood between the passes, and nowhere else. counted: how
    many lines there are up to the last one that shows a counter. key: of the counter of the passes.
    """
    before = lines[:counted]
    times = Counter(map(form, before))
    behind = {form(line) for line in lines[counted:]}
    ends = [one for one in behind if times[one] >= PASSES and one.strip()]
    headed = _above_each(before, key)
    ends = [one for one in ends if one in headed] if headed else ends
    return bool(ends) and any(_stands_between(one, before, key) for one in ends)


def _stands_between(closing: str, lines: Sequence[str], key: str) -> bool:
    now: float | None = None
    closed: float | None = None  # the pass behind which such a line stood
    for line in lines:
        if form(line) == closing:
            if now is not None and closed == now:
                return False  # twice in one pass
            closed = now
            continue
        told = next((sight.current for sight in read_line(line).sights if sight.key == key), None)
        if told is not None and told == closed:
            return False  # the pass went on behind it
        now = told if told is not None else now
    return True


def _above_each(lines: Sequence[str], key: str) -> set[str]:
    """The forms right above the lines that tell the counter, if each pass is told once: one of these ends a pass."""
    told = [at for at, line in enumerate(lines) for sight in read_line(line).sights if sight.key == key]
    values = [sight.current for at in told for sight in read_line(lines[at]).sights if sight.key == key]
    if len(set(values)) < len(values):
        return set()
    return {form(lines[at - 1]) for at in told[1:]}
