"""Lines that stand above bars, and tell which of several pieces of work each of these is. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.logs.line.words import SELDOM_UNITS, TRAINING
from onbox.logs.loops import BARS_AROUND, LOOPS

BELOW_HEADINGS = ("tqdm", "bar", "fraction-unit")
TABLES = 3  # that were begun below a heading
BEFORE_THE_FIRST = 3  # tables of a solver

if TYPE_CHECKING:
    from onbox.logs.counter import Counter


def numbers_each_bar(counter: Counter, others: list[Counter]) -> bool:
    """`batch 3` above a bar that begins again below each: which of them it is; of how many nobody may say. Where it is
    `scoring model 2/5`, that is the work.
    """
    if counter.kind not in ("moving", "val") or counter.resets or counter.measured:
        return False
    if counter.maximum is None:
        enough = counter.kind == "moving" and counter.advances >= BARS_AROUND
    else:
        enough = counter.maximum > 1 and counter.current - counter.minimum == counter.advances > 0
    return enough and any(
        bar.made and bar.kind != "val" and bar.repeats == counter.advances and counter.first < bar.first
        for bar in others
    )


def numbers_each_loop(counter: Counter, others: list[Counter]) -> bool:
    """`cycle 3: difficulty 0.3`, `seed 2` above epochs that begin again below each: which of them it is."""
    if counter.kind == "heading" and any(_tells_the_whole(one, counter) for one in others):
        return False
    named = counter.kind == "heading" or (counter.kind == "moving" and counter.unit in SELDOM_UNITS)
    if not named or counter.maximum is not None or counter.resets:
        return False
    if counter.kind == "heading" and counter.current - counter.minimum > 2 * counter.advances:
        return False  # `seed 11`, `seed 22`: names
    inside = (one for one in others if one.unit in LOOPS and one.kind == "train" and counter.first < one.first)
    enough = counter.advances >= (1 if counter.unit in SELDOM_UNITS else BARS_AROUND)
    if enough and any(_begins_in_each(one, counter) for one in inside):
        return True
    tables = (one for one in others if one.rule == "table")
    return counter.advances >= TABLES and any(_begins_below_each(one, counter) for one in tables)


def _begins_in_each(loop: Counter, heading: Counter) -> bool:
    """Whether the loop began again below each heading, but perhaps for the newest one, below which nothing stands."""
    awaited = heading.changed > loop.last
    return loop.begun == loop.resets == heading.advances - awaited and loop.advances > 0


def _begins_below_each(table: Counter, heading: Counter) -> bool:
    """`... CYCLE 12 ...`, and below it a table of the solver's own steps; before the first one there may be another."""
    one_by_one = heading.current - heading.minimum == heading.advances
    return one_by_one and table.last >= heading.changed and 0 <= table.resets - heading.advances <= BEFORE_THE_FIRST


def _tells_the_whole(one: Counter, heading: Counter) -> bool:
    """`overall 1700/2400`: it goes on through all that the heading heads, and knows how much there is. So does
    `Fold 5 of 8` of `fold 4 r2 = 0.98`.
    """
    if one.maximum is None or one.resets:
        return False
    return (one.kind == "train" and one.advances > heading.advances) or (
        one.kind == "outer" and one.unit == heading.unit and one.advances >= heading.advances
    )


def heads_bars(heading: Counter, others: list[Counter]) -> bool:
    """`[2/5] task: b`, and below each such heading one bar with a name of its own, none of which is a training's. Where
    the heading says `Evaluating task 2/5`, that is the work.
    """
    named = heading.rule == "labelled-max" and heading.unit not in LOOPS and heading.kind == "val"
    headed = (named or heading.rule in ("leading-bracket", "moving")) and heading.maximum is not None
    if not headed or heading.resets:
        return False
    alike = heading.rule == "moving" or heading.minimum == 1  # in the same words, or from the first one on
    goes_on = heading.advances >= (1 if alike else BARS_AROUND)
    goes_on = goes_on or (named and (heading.maximum or 0) > 1)
    if not goes_on or heading.stretched:
        return False
    bars = sorted((one for one in others if one.made and one.rule in BELOW_HEADINGS), key=lambda one: one.first)
    if not bars or any(bar.resets or bar.kind == "val" or TRAINING.search(bar.key) for bar in bars):
        return False
    in_turn = all(bar.maximum == bar.current and bar.last < next_.first for bar, next_ in pairwise(bars))
    awaited = heading.changed > bars[-1].first  # the newest one has not been drawn yet
    return in_turn and heading.first < bars[0].first and len(bars) + awaited == heading.current - heading.minimum + 1


def closes_bars(closing: Counter, others: list[Counter]) -> bool:
    """`oak: 40/40 trees`, `[2/5] oak: 0.91`: told behind each of several counts with names of their own, one by one."""
    told = closing.rule in ("leading-bracket", "moving") and closing.maximum is not None and closing.minimum == 1
    if not told or closing.resets or closing.current - 1 != closing.advances or not closing.advances:
        return False
    bars = [one for one in others if one.made and one is not closing and one.rule in BELOW_HEADINGS]
    over = [bar for bar in bars if bar.current == bar.maximum and bar.last < closing.last and not bar.resets]
    return len(over) == closing.current and len(bars) - len(over) in (0, 1) and over[0].last < closing.first


def heads_its_bar(epoch: Counter, others: list[Counter]) -> bool:
    """`Epoch 1/1 ---- 50/50`, as Rich draws it: the bar of that epoch, on its line. Its epochs are counted from 0."""
    beside = (bar for bar in others if (bar.rule, bar.key) == ("bar", "bar:epoch"))
    return epoch.unit == "epoch" and epoch.maximum is not None and any(bar.last == epoch.last for bar in beside)
