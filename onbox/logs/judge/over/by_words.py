"""Whether what the last lines say of an end holds for the run, though its counters do not show it. Pure.

What a line says is asked in `ending`; here it is weighed against what the counter leaves to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.over.by_counters import counts_in_last_line
from onbox.logs.judge.picking.grounds import LINES_SINCE, MOVES

if TYPE_CHECKING:
    from onbox.contract.progress import Progress
    from onbox.logs.judge.ending.closing import ClosingLines
    from onbox.logs.judge.picking.pick import Pick
    from onbox.logs.track import Track

MOST_PERCENT = 90  # of a display that tells nothing else: its next look would be behind the end
NEAR_THE_END = 0.9  # of the maximum: what is left may be less than one stride
TELLS_THE_LAST = ("boosting", "catboost")  # whatever the period in which they tell the others
STRIDES = 4  # or so many of them were made


def over_by_words(progress: Progress, track: Track, pick: Pick | None, ending: ClosingLines) -> bool:
    """Whether the last lines tell of an end, and no counter speaks against it. progress: what the counters show."""
    may_be_over = _may_be_over(progress, pick, ending) or _ran_out_of_patience(track, pick, ending)
    may_be_over = may_be_over and not (_is_first_of_many(pick) and ending.ends_in_evaluation)
    looped = progress.current is not None and ending.stopped_early and not counts_in_last_line(track, pick, ending)
    stops = progress.current is not None and (ending.stops_at(progress.current) or ending.stopped_behind)
    stops = stops or _told_the_last(pick, ending) or _stands_before_the_next(track, pick, ending)
    is_told = looped or stops or ending.tells_early_stop or ending.ends_a_process
    return is_told or (may_be_over and (_made_the_last(pick, ending) or _is_over(progress, ending)))


def _is_first_of_many(pick: Pick | None) -> bool:
    """Whether only one epoch was seen, and nobody told of how many: the evaluation behind it may be that of each."""
    if pick is None or pick.inner is None or pick.maximum is not None:
        return False
    return pick.counter.unit == "epoch" and not pick.counter.advances


def _is_over(progress: Progress, ending: ClosingLines) -> bool:
    counted = progress.current is not None
    if (progress.rule == "table" and ending.is_framed) or (counted and ending.ends_in_frame):
        return True
    if not counted and (ending.shows_all_moved or (progress.percent == 100 and ending.ends_in_results)):
        return True
    complete = progress.percent == 100 or (counted and progress.current == progress.exact_max)
    if complete and (ending.says_made or ending.ends_in_table):
        return True
    if counted and (ending.ends_as_no_loop_does or ending.ends_in_sentence):
        return True
    if counted and progress.exact_max is not None and ending.ends_in_new_results:
        return True
    looped = counted or progress.exact_max is not None
    return ending.sums_up(counted=counted) or ending.is_at_prompt or (looped and ending.loop_is_over)


def has_begun_anew(track: Track, pick: Pick | None, ending: ClosingLines) -> bool:
    """Whether a line says that a run starts, behind all that was counted, and few others follow."""
    begun = pick is not None and pick.counter.last < track.started and track.ended < track.started
    near = begun and track.line - track.started < LINES_SINCE
    return near and ending.tells_of_a_start and not ending.sums_up(counted=True) and not ending.says_made


def _ran_out_of_patience(track: Track, pick: Pick | None, ending: ClosingLines) -> bool:
    """Whether the step that it ends with is as far behind the best one as the run has told that it would wait."""
    if pick is None or track.patience is None:
        return False
    return any(abs(pick.counter.current - best - track.patience) <= 1 for best in ending.best)


def _may_be_over(progress: Progress, pick: Pick | None, ending: ClosingLines) -> bool:
    """Whether no counter speaks against an end that the last lines tell of: nothing is left, or less than what lies
    between two lines that tell it.
    """
    complete = progress.exact_max is not None and (progress.current or 0) >= progress.exact_max
    stride = ending.stride(pick.inner.key) if pick is not None and pick.inner is not None else 0
    inner_is_open = (
        progress.inner_max is not None and (progress.inner_current or 0) + max(1, stride) < progress.inner_max
    )
    if inner_is_open and not complete and not _is_told_behind(pick):
        return False
    if progress.current is None or progress.exact_max is None:
        return progress.percent is None or progress.percent >= MOST_PERCENT
    left = progress.exact_max - progress.current
    stride = _stride(pick, ending)
    if left <= 1 or not stride:
        return left <= 1
    near = progress.current >= min(NEAR_THE_END * progress.exact_max, STRIDES * stride)
    # Told each fifth time, `15` is the last of 20.
    from_zero = left == stride and pick is not None and pick.counter.minimum == 0
    return (near or from_zero) and left <= stride


def _is_told_behind(pick: Pick | None) -> bool:
    """Whether the epoch has a line of its own behind the last batch that is shown of it: it was not the last one."""
    return pick is not None and pick.inner is not None and pick.inner.last < pick.counter.last and pick.counter.measured


def _made_the_last(pick: Pick | None, ending: ClosingLines) -> bool:
    """Whether a loop that counts from 0 has told what its last step came to, and something else follows."""
    if pick is None or not pick.is_last_from_zero:
        return False
    whole = pick.inner is not None and pick.inner.maximum is not None and pick.inner.current == pick.inner.maximum
    told = pick.counter.measured and pick.counter.advances >= MOVES and (whole or ending.stride(pick.counter.key) == 1)
    return told and ending.follows_something_new


def _told_the_last(pick: Pick | None, ending: ClosingLines) -> bool:
    """`[25]`, `[30]`, `[34]`, and then something else: the last round is told out of its turn."""
    if pick is None or pick.counter.rule not in TELLS_THE_LAST:
        return False
    return ending.ends_off_grid(pick.counter.key) and ending.follows_something_new


def _stands_before_the_next(track: Track, pick: Pick | None, ending: ClosingLines) -> bool:
    """`3000`, `4000`, `4999`, and then something else: the last of 5000 from 0 on is told out of its turn."""
    if pick is None or pick.maximum not in (None, pick.counter.current + 1) or track.has_crashed():
        return False
    counter = pick.counter
    last = not counter.minimum and not counter.resets and ending.ends_before_the_next(counter.key)
    return last and ending.follows_something_new


def _stride(pick: Pick | None, ending: ClosingLines) -> float:
    """How far the counter went between the last two lines that show it; 0 where that cannot be told."""
    if pick is not None and pick.counter.rule == "table":  # whose rows tell nothing without their head
        counter = pick.counter
        return (counter.current - counter.minimum) / counter.advances if counter.advances and not counter.resets else 0
    if pick is not None:
        return ending.stride(pick.counter.key)
    whole, rising = ending.whole, ending.rising if ending.whole is None else ending.rising_alone
    return rising.stride if rising is not None and (whole is None or whole.value == rising.value) else 0
