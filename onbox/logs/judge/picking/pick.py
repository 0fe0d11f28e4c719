"""Which of a log's counters is the run's own, and which one goes on inside it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.picking.aside import is_earlier_stage, without_those_aside
from onbox.logs.judge.picking.estimated import estimated_anew
from onbox.logs.judge.picking.grounds import LOOKS, MOVES, Scene, counts
from onbox.logs.judge.picking.headings import closes_bars, heads_bars, numbers_each_bar, numbers_each_loop
from onbox.logs.judge.picking.in_turn import as_one
from onbox.logs.judge.picking.maximum import AGAIN, maximum_of
from onbox.logs.judge.picking.nesting import is_inner, is_open
from onbox.logs.line.words import LONE_UNITS, STEP_UNITS
from onbox.logs.loops import (
    NEARLY,
    is_bar_around,
    is_heading_around,
    is_told_around,
    outermost,
    taking_turns,
)
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.logs.counter import Counter
    from onbox.logs.track import Track

PARTS_MAX = 2  # times that a bar with a name began again, until it is one of an unknown number
GOES_ON = 8  # times that a fraction after any words went on, until it counts as much as a unit
LONGER_SECONDS = 10  # of two that are over, the one that was at work for so much longer is the work
HEADINGS = (numbers_each_bar, numbers_each_loop, heads_bars)  # what stands around the work below it


class Pick(NamedTuple):
    """The run's counter, and the one inside it. maximum: None if no exact one is known."""

    counter: Counter
    maximum: int | None
    inner: Counter | None = None

    @property
    def is_last_from_zero(self) -> bool:
        """Whether the last one is told, of a loop that counts from 0: `29/30`."""
        return self.counter.minimum == 0 and self.maximum == self.counter.current + 1


def pick_of(scene: Scene) -> Pick | None:
    track = scene.track
    current = [counter for counter in track.counters.values() if counter.last >= track.started]
    everything = list(track.counters.values())
    counters = current or everything
    current, counters, everything = (_around(estimated_anew(as_one(some))) for some in (current, counters, everything))
    # Loading or validating in the new run, before it has trained: what the training had reached still holds.
    for kinds, among in ((("own",), counters), (("train",), current), (("train",), counters), (("train",), everything),
                         (("bare",), counters), (("moving",), counters),
                         (("setting",), counters), (("done",), counters), (("aux", "val"), counters)):  # fmt: skip
        pick = _best_of(track, [c for c in among if c.kind == "outer" or (_kind(c) in kinds and counts(c, scene))])
        if pick is not None:
            beside = _bounded_beside(pick, counters, track) or _told_in(pick, counters)
            return beside or _at_the_end_of_a_bar(pick, counters, track) or pick
    repeated = [c for c in counters if c.kind == "outer" and not c.resets and _goes_on_by_itself(c)]
    last = max(repeated, key=lambda counter: counter.last, default=None)
    if last is None:
        return None
    around = next((one for one in counters if _stands_around(one, last)), None)
    return Pick(last, last.maximum) if around is None else Pick(around, around.maximum, last)


def _goes_on_by_itself(one: Counter) -> bool:
    """Whether a repetition is more than a remark, though no loop is seen in it: `Fold 1 of 9`, `Fold 2 of 9` head what
    stands below them.
    """
    heads = one.rule == "repeated-first" and one.minimum == 1 and one.maximum is not None
    return one.current >= one.minimum + (1 if heads else MOVES)


def _stands_around(one: Counter, last: Counter) -> bool:
    """`rung 1/4 config 24/27`, on each line: the first of two repetitions, which stands while the other goes on."""
    beside = (one.first, one.seen, one.last) == (last.first, last.seen, last.last)
    return one.kind == "outer" and beside and one.maximum is not None and one.advances < last.advances


def _bounded_beside(pick: Pick, counters: list[Counter], track: Track) -> Pick | None:
    """`t_env: 342195 / 2050000` beside `Episode: 7604`: what tells how much there is goes before what does not."""
    if pick.maximum is not None or pick.counter.kind == "own":
        return None
    least = MOVES if pick.counter.unit in ("batch", "round") else GOES_ON  # these are of something
    beside = [
        counter
        for counter in counters
        if counter.kind == "moving" and not counter.resets and not counter.stretched
        if counter.advances >= max(least if counter.last <= pick.counter.last else MOVES, pick.counter.advances // 2)
        if pick.counter.unit != "epoch" or counter.unit == "timestep"  # whose `ep` may be an episode
        if (maximum_of(track, counter) or 0) > counter.current
        if not _is_a_level(counter, pick.counter)
    ]
    return Pick(beside[0], maximum_of(track, beside[0])) if len(beside) == 1 else None


def _at_the_end_of_a_bar(pick: Pick, counters: list[Counter], track: Track) -> Pick | None:
    """`2%| 31/2000` of a bar that was drawn no more, and in the last lines `step=2000`, counted from 1."""
    if pick.maximum is not None or pick.counter.kind == "own":
        return None
    ends = {bar.maximum for bar in counters if bar.made and bar.kind == "train" and not bar.resets}
    told = [
        one
        for one in counters
        if one.maximum is None and one.current in ends and one.minimum == 1 and one.last >= pick.counter.last
        if not one.resets and one.advances > LOOKS
    ]
    return Pick(told[0], int(told[0].current)) if told and track.crashed < told[0].last else None


def _told_in(pick: Pick, counters: list[Counter]) -> Pick | None:
    """`flushed 360 records` while the bar `Encoding` goes on: what is said to be done on the way to an end that the bar
    knows.
    """
    said = pick.counter
    if said.rule != "done-any" or pick.maximum is not None:
        return None
    bars = [
        bar
        for bar in counters
        if bar.made and bar.kind == "aux" and bar.maximum is not None and not bar.resets and bar.advances >= MOVES
        if bar.first <= said.first < bar.changed and said.last - bar.last <= 1
    ]
    return Pick(bars[0], bars[0].maximum) if len(bars) == 1 else None


def _is_a_level(counter: Counter, begun: Counter) -> bool:
    """`cycle 0 (pool: 200/5000)`, `cycle 1 (pool: 350/5000)`: what stood far from its beginning when the count beside
    it began.
    """
    stride = (counter.current - counter.minimum) / max(1, counter.advances)
    return begun.minimum <= 1 and counter.first <= begun.first and counter.minimum > stride


def _around(counters: list[Counter]) -> list[Counter]:
    """The counters, where what is around others is the work itself: `shards`, and the rows of each."""
    inside = taking_turns(counters)
    counters = [counter._replace(kind="aux") if counter in inside else counter for counter in counters]
    counters = [
        counter._replace(kind="outer") if any(heads(counter, counters) for heads in HEADINGS) else counter
        for counter in counters
    ]
    return [
        counter._replace(kind="train")
        if (counter.kind == "aux" and is_bar_around(counter, counters))
        or is_heading_around(counter, counters)
        or closes_bars(counter, counters)
        or is_told_around(counter, counters)
        else counter
        for counter in counters
    ]


def _kind(counter: Counter) -> str:
    """A remark that goes on and on is a counter like any other."""
    return "train" if counter.kind == "bare" and counter.advances >= MOVES else counter.kind


def _best_of(track: Track, counters: list[Counter]) -> Pick | None:
    counters = without_those_aside(counters, track)
    loops = outermost(counters)
    through = _goes_through_stages(track, counters) if loops is not None and loops[0].unit == "stage" else None
    if through is not None:
        return through
    if loops is not None:
        told = track.maxima.get(loops[0].unit)  # `"trial": 6, "n_trials": 12`
        told = told if told is not None and told >= loops[0].current else _told_behind_each(track, loops[0])
        return Pick(loops[0], loops[0].maximum if loops[0].maximum is not None else told, loops[1])
    counters = [counter for counter in counters if counter.kind != "outer"]
    epochs = [counter for counter in counters if counter.unit == "epoch"]
    epochs = [counter for counter in epochs if not counter.inner] or epochs  # `6/12 * Epoch (train):  44%`
    others = [counter for counter in counters if counter.unit != "epoch"]
    epoch = max(epochs, key=lambda counter: (counter.maximum is not None, counter.last)) if epochs else None
    whole = [counter for counter in others if not is_inner(counter, epoch, others)]
    inside = [counter for counter in others if counter not in whole]
    inner = max(inside, key=lambda counter: counter.last) if inside else None
    if inner is not None and epoch is not None and inner.last < epoch.changed:
        inner = None
    whole = [counter for counter in whole if not is_earlier_stage(track, counter, whole + epochs)]
    bounded = [counter for counter in whole if maximum_of(track, counter) is not None]
    if bounded:
        best = max(bounded, key=lambda counter: _rank(track, counter, bounded))
        around = [counter for counter in whole if _goes_on_around(counter, best)]
        if around:
            return Pick(max(around, key=lambda counter: counter.last), None, best)
        if epoch is not None and _is_coarser(best, epoch):
            return Pick(epoch, epoch.maximum, inner)
        of_many = is_of_many(best) and not (epoch is None and _is_second_call(best))
        return Pick(best, None if of_many else maximum_of(track, best), None)
    if epoch is not None and maximum_of(track, epoch):
        return Pick(epoch, None if epoch.begun >= AGAIN else maximum_of(track, epoch), inner)
    if whole and not (epoch is not None and all(_was_passed(one, epoch, inner) for one in whole)):
        return Pick(max(whole, key=lambda counter: _rank_without_end(track, counter, whole)), None, None)
    if epoch is not None:
        return Pick(epoch, None, inner)
    if inside:
        last = max(inside, key=lambda counter: counter.last)
        return Pick(last, None if is_of_many(last) else last.maximum, None)
    return None


def _told_behind_each(track: Track, outer: Counter) -> int | None:
    """`[member 2] epoch 7`, `saved net_2.pt (3/5)`: how many there are, as a count tells behind each of them."""
    passes = outer.advances + 1
    told = {
        one.maximum
        for one in track.counters.values()
        if one.maximum is not None and one.first > max(outer.first, track.started) and not (one.resets or one.stretched)
        if one.minimum == 1 and one.current - 1 == one.advances and passes - one.current in (0, 1) and outer.advances
        if one.maximum >= passes
    }
    return told.pop() if len(told) == 1 else None


def _goes_through_stages(track: Track, counters: list[Counter]) -> Pick | None:
    """`global step 200` below `1500 steps in total`, whatever phase it is in."""
    for one in counters:
        through = one.key.startswith("global ") and one.advances >= MOVES and not one.resets
        most = maximum_of(track, one) if through else None
        if most is not None:
            return Pick(one, most)
    return None


def _is_second_call(counter: Counter) -> bool:
    """Whether batches without any epoch began again once: an evaluation, and then a prediction, each for itself."""
    return counter.rule == "keras" and counter.repeats == 1


def _is_coarser(counter: Counter, epoch: Counter) -> bool:
    """`epoch 31/40  cycle 4/4`: beside each other on each line, and the epochs go on through it. Or the same, `5/12`
    where the epoch is `6/12`.
    """
    beside = (counter.first, counter.seen, counter.last) == (epoch.first, epoch.seen, epoch.last)
    if epoch.resets or counter.maximum is None or epoch.maximum is None:
        return False
    if epoch.maximum == counter.maximum and epoch.current > counter.current and epoch.last > counter.last:
        return True  # the same, and told later
    if not beside:
        return False
    return epoch.maximum > counter.maximum and epoch.advances > counter.advances


def _was_passed(counter: Counter, epoch: Counter, inner: Counter | None) -> bool:
    """Whether the epochs went on without it: `Epoch 3, global step 3764: 'val_loss' reached 0.3`, then the batches of
    epoch 4.
    """
    goes_on = inner is not None and counter.last < epoch.changed <= inner.last
    return _never_moved(counter) and (epoch.advances >= MOVES or goes_on)


def _never_moved(counter: Counter) -> bool:
    """`round 0: [0.32, 0.16]`: named, no more."""
    return counter.current == counter.minimum


def is_of_many(counter: Counter) -> bool:
    """Whether it began again after its end; or, where its display is one of batches, again and again. A bar that has
    a name shows the end of its own part: the second seed, the third model.
    """
    named = counter.rule == "tqdm" and not counter.key.startswith(f"bar:{counter.unit}/")
    return counter.repeats > (PARTS_MAX if named else 0) or (counter.inner and counter.begun >= LOOKS)


def _goes_on_around(counter: Counter, inner: Counter) -> bool:
    """Whether a count without an end goes on beside one that begins again after each of its ends: the frames of a
    film, and the samples of each.
    """
    if not inner.repeats or counter.resets or counter.maximum is not None:
        return False
    return counter.kind == "train" and counter.last == inner.last and 0 < counter.advances <= inner.repeats + 1


def _rank(track: Track, counter: Counter, others: list[Counter]) -> tuple[bool | float, ...]:
    """Of several counters of the whole run: the one that is still moving, then the longest at work."""
    most = maximum_of(track, counter)
    same = any(maximum_of(track, other) == most and other.last < counter.last and not other.made for other in others)
    complete = most is not None and counter.current >= (NEARLY * most if counter.made else most)
    followed = any(is_open(other) and other.first > counter.last for other in others) or any(
        most is not None and other.last > counter.last and other.current < most == maximum_of(track, other)
        for other in others
    )
    done = complete and (followed or (track.line - counter.last > 3 and not same))
    done = done or any(_is_told_anew(counter, other) for other in others)
    # Not a bar that came after the last loss: an evaluation at the end.
    named = counter.unit in LONE_UNITS and counter.maximum is not None and not counter.made
    trained = counter.first <= track.loss_line or named
    moved = counter.current > counter.minimum
    own = counter.maximum is not None or moved or (same and complete)  # not a number that was named once
    stands = counter.seen >= LOOKS and not moved and not complete
    return (
        "progress" in counter.key,
        trained,
        not stands,
        not done,
        own,
        counter.maximum is not None or counter.unit in track.maxima,
        counter.resets == 0 and counter.unit != "batch",
        (counter.elapsed or 0.0) // LONGER_SECONDS,
        counter.last,
    )


def _rank_without_end(track: Track, counter: Counter, others: list[Counter]) -> tuple[bool | float, ...]:
    """As `_rank`, of those of which nobody told how many there are."""
    return (
        counter.seen < LOOKS or not _never_moved(counter),
        counter.unit in STEP_UNITS,
        counter.last >= track.line - 200,
        counter.advances > 0,
        not any(other.first > counter.last and other.advances >= MOVES for other in others),  # the next phase
        counter.current,
    )


def _is_told_anew(counter: Counter, other: Counter) -> bool:
    """`0/2571`, then `33500/40594`: the same display, where the program has found out how much there is."""
    alike = counter.made and counter.rule == other.rule != "tqdm" and counter.unit == other.unit
    grown = counter.maximum is not None and other.maximum is not None and counter.maximum < other.maximum
    return alike and grown and counter.seen == 1 and counter.last < other.first and counter.current < other.current
