"""Counters that stand aside: another one tells the same work better, or they only name what it is of. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.picking.grounds import MOVES
from onbox.logs.judge.picking.headings import heads_its_bar
from onbox.logs.judge.picking.maximum import maximum_of
from onbox.logs.line.words import LONE_UNITS

if TYPE_CHECKING:
    from onbox.logs.counter import Counter
    from onbox.logs.track import Track

AT_ONCE = "replica"  # unless they go on one after the other
NEARLY_ALL = 0.9  # of a counter that is told each tenth time: its end may not have been told


def without_those_aside(counters: list[Counter], track: Track) -> list[Counter]:
    """The counters but for those that stand aside."""
    counters = [counter for counter in counters if not _is_one_of_one(counter, counters)] or counters
    counters = [counter for counter in counters if not _is_the_only_epoch(track, counter, counters)]
    counters = [counter for counter in counters if not _names_the_piece(counter, counters)]
    counters = [counter for counter in counters if not _is_told_late(counter, counters)]
    counters = [counter for counter in counters if not _is_told_beside_its_bar(counter, counters)]
    counters = [counter for counter in counters if not _goes_on_with_a_name(counter, counters)]
    if any(counter.advances for counter in counters):
        counters = [counter for counter in counters if not _is_share(counter)]
    return counters


def _is_one_of_one(counter: Counter, others: list[Counter]) -> bool:
    """One of one tells nothing, where more is counted than epochs in fractions, which are another view of the same; but
    two epochs that count from 0 are not one.
    """
    if counter.maximum != 1 or all(other is counter or isinstance(other.current, float) for other in others):
        return False
    two = counter.unit == "epoch" and counter.advances > 0 and any(one.inner and one.beside_epoch for one in others)
    return not two and not heads_its_bar(counter, others)


def _is_the_only_epoch(track: Track, counter: Counter, counters: list[Counter]) -> bool:
    """`epochs: 1` among the settings, and a bar in it: that is the whole run."""
    alone = counter.unit == "epoch" and counter.maximum is None and track.maxima.get("epoch") == 1 == counter.current
    return alone and any(other.made and other.maximum is not None and not other.resets for other in counters)


def _is_told_late(counter: Counter, counters: list[Counter]) -> bool:
    """`Trial 4 Complete`, and then `Running Trial #5`: the word of its end is one behind."""
    return counter.kind == "bare" and any(
        other.unit == counter.unit and other.kind == "train" and other.current == counter.current + 1
        for other in counters
    )


def _is_told_beside_its_bar(counter: Counter, others: list[Counter]) -> bool:
    """`starting at step 150 / 900` above a bar to 900, or `'epoch': 3` behind one that is full: the bar goes on."""
    if counter.made or counter.advances or counter.beside_epoch or not counter.rule.startswith("labelled"):
        return False
    bars = [one for one in others if one.made and one.kind == "train" and one.advances and not one.repeats]
    same = any(one.first > counter.first and one.maximum == counter.maximum for one in bars)
    told = counter.seen == 1 and counter.maximum is not None and same
    at_end = counter.unit == "epoch" and counter.maximum is None and counter.seen > 1
    return told or (
        at_end and any(one.first < counter.first and one.maximum == one.current and not one.inner for one in bars)
    )


def _goes_on_with_a_name(counter: Counter, others: list[Counter]) -> bool:
    """`0/1200` of a bar, and then `Epoch [0] loss 0.3: 200/1200`: the bar has got its description."""
    if not counter.made or counter.current or counter.advances or counter.maximum is None:
        return False
    return any(
        other.made and other.rule == counter.rule and other.maximum == counter.maximum and other.advances
        for other in others
        if other.first > counter.last
    )


def _names_the_piece(counter: Counter, others: list[Counter]) -> bool:
    """`iterations=500 split 9/10`: named once above the counter that goes on, and not the first one: which piece of a
    larger work this log is about. Of replicas all are at work at once.
    """
    if counter.unit == AT_ONCE and not counter.advances:
        return True
    if counter.current > counter.minimum or counter.made or counter.maximum is None or counter.current <= 1:
        return False
    if counter.rule == "repeated-first":
        return False
    return any(
        (other.first > counter.first or counter.seen == 1)
        and other.advances >= MOVES
        and not other.resets
        and other.kind == "train"
        for other in others
    )


def _is_share(counter: Counter) -> bool:
    """`Direct execution  6/6 (100%)`: a display that never moved may be a row of a summary."""
    return counter.rule in ("fraction-percent", "percent-fraction") and counter.current == counter.minimum


def is_earlier_stage(track: Track, counter: Counter, others: list[Counter]) -> bool:
    """Whether a counter of things (samples, files) was complete before the counter of the work itself began; or one
    whose end was only told when it was there, and another goes on.
    """
    if counter.maximum is None and counter.current == maximum_of(track, counter):
        return any(other.first > counter.last and other.advances >= MOVES for other in others)
    if counter.made and any(_trains_behind(other, counter) for other in others):
        return counter.maximum is not None and counter.current >= NEARLY_ALL * counter.maximum
    if counter.unit in LONE_UNITS or counter.maximum is None or counter.current < counter.maximum:
        return False
    return any(other.unit in LONE_UNITS and other.first > counter.last for other in others)


def _trains_behind(epoch: Counter, bar: Counter) -> bool:
    """Whether epochs began when a bar was over, and went on: it prepared them."""
    whole = float(epoch.minimum).is_integer()  # 0.07 is another view of the same run
    moves = epoch.advances >= MOVES or (epoch.advances > 0 and epoch.maximum is not None)
    return whole and epoch.unit == "epoch" and epoch.first > bar.last and moves
