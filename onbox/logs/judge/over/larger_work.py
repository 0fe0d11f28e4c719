"""Whether what has ended is one piece of a larger work that the log tells of. Pure.

`Fold 1/3`, and its epochs come to their end; `job 4/40: fitting`, and below it `converged`: what is over is this fold,
this job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.picking.aside import AT_ONCE
from onbox.regex import lazy

if TYPE_CHECKING:
    from onbox.logs.counter import Counter
    from onbox.logs.judge.picking.pick import Pick
    from onbox.logs.track import Track

PIECES_MAX = 1000  # a larger number is one of what was done
HEADS = ("labelled-max", "leading-bracket", "moving", "repeated-first", "repeated", "done-of", "fraction-unit", "piece")
_A_WORD = lazy(r"[a-z]{3}")  # without one, `2/4` may be of anything
_OF_THIS_JOB = lazy(r"(?<![a-z])(?:id|array)(?![a-z])")  # `ARRAY_TASK_ID=17/64`: the others have logs of their own


def is_one_of_several(track: Track, pick: Pick | None, *, exits: bool) -> bool:
    """Whether any counter tells that more of the same is to come than what has ended. exits: the process has, by the
    last lines: the others have logs of their own.
    """
    in_turn = (counter for counter in track.counters.values() if counter.unit != AT_ONCE)
    return any(
        _is_left_below(counter, pick) or (not exits and _stands_open_above(counter, pick, track)) for counter in in_turn
    )


def _stands_at(counter: Counter) -> tuple[int, int, float]:
    """By which a counter is known again in a pick, where it may have another name."""
    return counter.last, counter.seen, counter.current


def _is_left_below(counter: Counter, pick: Pick | None) -> bool:
    """A repetition of the whole work below its last one; unless it is what the run itself counts."""
    if pick is not None and counter.advances and _stands_at(counter) == _stands_at(pick.counter):
        return False
    told = counter.seen > 1 or counter.current > 0  # not `restarts: 0/5`
    return told and counter.kind == "outer" and counter.maximum is not None and counter.current + 1 < counter.maximum


def _stands_open_above(counter: Counter, pick: Pick | None, track: Track) -> bool:
    """A heading of any words, below its end, that nothing has told again since the counter below it began."""
    if counter.rule not in HEADS or counter.kind == "val" or not counter.current:
        return False
    if counter.maximum is None or counter.maximum > PIECES_MAX:
        return False
    if counter.kind == "aux" and counter.rule != "leading-bracket":
        return False  # `Transferred 434/440 items`: what was prepared, as far as it could be
    from_one = counter.minimum == 1 and counter.advances > 0
    if counter.current + (not from_one) >= counter.maximum:
        return False
    if _OF_THIS_JOB.search(counter.key) or not _A_WORD.search(counter.key.removeprefix("moving ")):
        return False
    if pick is None:
        return track.ended > counter.last
    return counter.last < pick.counter.first and counter.maximum != pick.maximum
