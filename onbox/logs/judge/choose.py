"""Which of a log's counters is the run's own, and what is known beside it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.progress import Progress
from onbox.logs.judge.announced import announced
from onbox.logs.judge.grounds import LINES_SINCE, LOOKS, Scene, counts
from onbox.logs.judge.nesting import is_inner, is_open, is_under_way
from onbox.logs.line.words import LONE_UNITS, STEP_UNITS
from onbox.logs.loops import NEARLY, is_bar_around, is_heading_around, outermost
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from onbox.logs.counter import Counter
    from onbox.logs.judge.closing import ClosingLines
    from onbox.logs.judge.columns import Whole
    from onbox.logs.track import Track

DRAWN_AGAIN = 2  # lines of a display after a trainer said that it is at its limit
PARTS_MAX = 2  # times that a bar with a name began again, until it is one of an unknown number
AGAIN = 5  # times that the epochs began: they are those of one of many runs
MOVES = 2  # of a number whose words say little, until it is taken for a counter
MOST_PERCENT = 90  # of a display that tells nothing else: its next look would be behind the end
NEAR_THE_END = 0.9  # of the maximum: what is left may be less than one stride
WITH_LOSS = frozenset({"train", "bare", "setting", "moving"})
WHOLE_STEPS = STEP_UNITS - {"batch", "timestep"}  # one may be told as another: `iter 300`, `max_steps: 1000`
ROUNDS = ("iter", "round")  # of boosting: `n_estimators=700`, and `[iter 25]`
RAISED_MAX = 4  # times that a run may state a larger maximum
DECLARED = LONE_UNITS | {"fit"}  # of these, the number alone tells how much work there is
LOADS = ("bar:load", "bar:fetch")
_NOUN = lazy(r"(?<![a-z])[a-z]+$")  # of a counter's key
PARTS = frozenset({"done-of", "fraction-unit"})  # what is told of each part of a work: `Done 5 out of 5`


class Pick(NamedTuple):
    """The run's counter, and the one inside it. maximum: None if no exact one is known."""

    counter: Counter
    maximum: int | None
    inner: Counter | None = None


def choose(track: Track, configured_max: int | None, ending: ClosingLines, beginning: bytes = b"") -> Progress:
    """The progress that a log shows. configured_max: wins over the log's own maximum; None if there is none.
    beginning: the log's first bytes, which may tell a maximum.
    """
    beginning = b"" if track.started else beginning  # which is that of an earlier run
    pick = _announced(_pick(Scene(track, ending)), beginning)
    progress = _shown(track, pick, configured_max, ending, beginning)
    may_be_over = _may_be_over(progress, pick, ending) or _ran_out_of_patience(track, pick, ending)
    looped = progress.current is not None and ending.stopped_early
    if not progress.finished and (looped or (may_be_over and _is_over(progress, ending))):
        progress = progress._replace(finished=True)
    if progress.exact_max is not None and ending.tells_all_done(progress.exact_max):
        return progress._replace(current=progress.exact_max, finished=True)
    if progress.finished and ending.fails:
        return progress._replace(finished=False)
    if progress.finished and any(_is_one_of_several(counter) for counter in track.counters.values()):
        return progress._replace(finished=None)
    return progress


def _announced(pick: Pick | None, beginning: bytes) -> Pick | None:
    """As it was picked, with the maximum that the log's beginning tells of a thing that is counted."""
    if pick is None or pick.maximum is not None or pick.inner is not None or pick.counter.kind != "moving":
        return pick
    noun = _NOUN.search(pick.counter.key)
    most = announced(beginning, noun[0], int(pick.counter.current)) if noun else None
    return pick if most is None else pick._replace(maximum=most)


def _is_over(progress: Progress, ending: ClosingLines) -> bool:
    counted = progress.current is not None
    if progress.rule == "table" and ending.is_framed:
        return True
    if not counted and (ending.shows_all_moved or (progress.percent == 100 and ending.ends_in_results)):
        return True
    complete = progress.percent == 100 or (counted and progress.current == progress.exact_max)
    if complete and ending.says_made:
        return True
    looped = counted or progress.exact_max is not None
    return ending.sums_up(counted=counted) or ending.is_at_prompt or (looped and ending.loop_is_over)


def _ran_out_of_patience(track: Track, pick: Pick | None, ending: ClosingLines) -> bool:
    """Whether the step that it ends with is as far behind the best one as the run has told that it would wait."""
    if pick is None or track.patience is None:
        return False
    return any(abs(pick.counter.current - best - track.patience) <= 1 for best in ending.best)


def _is_one_of_several(counter: Counter) -> bool:
    """`Fold 1/3`: what ends is this one of them."""
    told = counter.seen > 1 or counter.current > 0  # not `restarts: 0/5`
    return told and counter.kind == "outer" and counter.maximum is not None and counter.current + 1 < counter.maximum


def _shown(
    track: Track, pick: Pick | None, configured_max: int | None, ending: ClosingLines, beginning: bytes
) -> Progress:
    if pick is None:
        return _without_words(track, configured_max, ending, beginning)
    counter, inner = pick.counter, pick.inner
    maximum = configured_max or pick.maximum
    if maximum is None and not _is_of_many(counter):
        maximum = ending.whole.most if ending.whole and ending.whole.value == counter.current else None
    epoch = _epoch(track) if counter.unit != "epoch" or isinstance(counter.current, float) else None
    return Progress(
        current=counter.current,
        exact_max=maximum,
        unit=counter.unit,
        epoch_current=epoch.current if epoch else None,
        epoch_max=_maximum(track, epoch) if epoch else None,
        loss=track.loss if counter.kind in WITH_LOSS and track.loss_line >= track.started else None,
        eta_seconds=_eta(track, counter, inner),
        percent=track.percent if maximum is None and inner is None and track.percent_line >= counter.last else None,
        finished=_finished(track, pick._replace(maximum=maximum), ending),
        inner_current=inner.current if inner else None,
        inner_max=inner.maximum if inner else None,
        inner_unit=inner.unit if inner else None,
        current_rounded=counter.rounded and counter.unit != "epoch",
        rule=counter.rule,
    )


def _without_words(track: Track, configured_max: int | None, ending: ClosingLines, beginning: bytes) -> Progress:
    """What the last lines show where no word names a counter: numbers that belong together, else a percentage, else
    one number that rises.
    """
    if ending.whole is not None:
        return _of_columns(ending.whole, configured_max, track, ending)
    over = _without_counter(track, ending)
    if track.percent is not None and track.percent_line >= track.started:
        return Progress(percent=track.percent, exact_max=track.maxima.get("byte"), finished=over)
    if ending.rising is None:
        most = _declared(track) if ending.is_looping else None
        return Progress(exact_max=most, loss=track.loss, finished=over)
    count, most = ending.rising.value, _declared(track)
    most = most if most is not None and most >= count else announced(beginning, ending.rising.noun, count)
    return Progress(count, most, "step", loss=track.loss, finished=over, rule="rising")


def _of_columns(seen: Whole, configured_max: int | None, track: Track, ending: ClosingLines) -> Progress:
    """What the numbers of the last lines tell that belong together."""
    most = configured_max or seen.most
    over = seen.value >= most and track.crashed <= track.started and not ending.fails
    return Progress(
        seen.value, most, "step", loss=track.loss, finished=over or _without_counter(track, ending), rule="columns"
    )


def _may_be_over(progress: Progress, pick: Pick | None, ending: ClosingLines) -> bool:
    """Whether no counter speaks against an end that the last lines tell of: nothing is left, or less than what lies
    between two lines that tell it.
    """
    complete = progress.exact_max is not None and (progress.current or 0) >= progress.exact_max
    if progress.inner_max is not None and (progress.inner_current or 0) + 1 < progress.inner_max and not complete:
        return False
    if progress.current is None or progress.exact_max is None:
        return progress.percent is None or progress.percent >= MOST_PERCENT
    left = progress.exact_max - progress.current
    if left <= 1 or pick is None or progress.current < NEAR_THE_END * progress.exact_max:
        return left <= 1
    return left < ending.stride(pick.counter.key)


def _declared(track: Track) -> int | None:
    """The maximum that the log tells where its rows show no counter; None if it tells several."""
    told = {most for unit, most in track.maxima.items() if unit in DECLARED and track.raised.get(unit, 0) == 0}
    return next(iter(told)) if len(told) == 1 else None


def _without_counter(track: Track, ending: ClosingLines) -> bool | None:
    if track.percent is not None and track.percent >= 100:
        return None
    over = track.ended > max(track.crashed, track.started) and track.ended >= track.percent_line
    if over and (track.ended_before or track.line - track.ended > LINES_SINCE or ending.went_on):
        return None  # each of many jobs ends with the same words; or it went on
    return over


def _epoch(track: Track) -> Counter | None:
    found = track.counters.get("epoch")
    return found if found and found.last >= track.started else None


def _pick(scene: Scene) -> Pick | None:
    track = scene.track
    current = [counter for counter in track.counters.values() if counter.last >= track.started]
    everything = list(track.counters.values())
    counters = current or everything
    current, counters, everything = (_around(some) for some in (current, counters, everything))
    # Loading or validating in the new run, before it has trained: what the training had reached still holds.
    for kinds, among in ((("own",), counters), (("train",), current), (("train",), counters), (("train",), everything),
                         (("bare",), counters), (("moving",), counters),
                         (("setting",), counters), (("done",), counters), (("aux", "val"), counters)):  # fmt: skip
        pick = _pick_of(track, [c for c in among if c.kind == "outer" or (_kind(c) in kinds and counts(c, scene))])
        if pick is not None:
            return pick
    repeated = [c for c in counters if c.kind == "outer" and c.current >= c.minimum + MOVES and not c.resets]
    last = max(repeated, key=lambda counter: counter.last, default=None)
    return None if last is None else Pick(last, last.maximum)


def _around(counters: list[Counter]) -> list[Counter]:
    """The counters, where what is around others is the work itself: `shards`, and the rows of each."""
    return [
        counter._replace(kind="train")
        if (counter.kind == "aux" and is_bar_around(counter, counters)) or is_heading_around(counter, counters)
        else counter
        for counter in counters
    ]


def _kind(counter: Counter) -> str:
    """A remark that goes on and on is a counter like any other."""
    return "train" if counter.kind == "bare" and counter.advances >= MOVES else counter.kind


def _pick_of(track: Track, counters: list[Counter]) -> Pick | None:
    counters = [counter for counter in counters if counter.maximum != 1] or counters  # one of one tells nothing
    counters = [counter for counter in counters if not _names_the_piece(counter, counters)]
    if any(counter.advances for counter in counters):
        counters = [counter for counter in counters if not _is_share(counter)]
    loops = outermost(counters)
    if loops is not None:
        return Pick(loops[0], loops[0].maximum, loops[1])
    counters = [counter for counter in counters if counter.kind != "outer"]
    epochs = [counter for counter in counters if counter.unit == "epoch"]
    others = [counter for counter in counters if counter.unit != "epoch"]
    epoch = max(epochs, key=lambda counter: (counter.maximum is not None, counter.last)) if epochs else None
    whole = [counter for counter in others if not is_inner(counter, epoch, others)]
    inside = [counter for counter in others if counter not in whole]
    inner = max(inside, key=lambda counter: counter.last) if inside else None
    if inner is not None and epoch is not None and inner.last < epoch.changed:
        inner = None
    whole = [counter for counter in whole if not _is_earlier_stage(track, counter, whole + epochs)]
    bounded = [counter for counter in whole if _maximum(track, counter) is not None]
    if bounded:
        best = max(bounded, key=lambda counter: _rank(track, counter, bounded))
        around = [counter for counter in whole if _goes_on_around(counter, best)]
        if around:
            return Pick(max(around, key=lambda counter: counter.last), None, best)
        return Pick(best, None if _is_of_many(best) else _maximum(track, best), None)
    if epoch is not None and _maximum(track, epoch):
        return Pick(epoch, None if epoch.begun >= AGAIN else _maximum(track, epoch), inner)
    if whole and not (epoch is not None and epoch.advances >= MOVES and all(map(_never_moved, whole))):
        best = max(
            whole, key=lambda counter: (counter.unit in STEP_UNITS, counter.last >= track.line - 200, counter.current)
        )
        return Pick(best, None, None)
    if epoch is not None:
        return Pick(epoch, None, inner)
    if inside:
        last = max(inside, key=lambda counter: counter.last)
        return Pick(last, None if _is_of_many(last) else last.maximum, None)
    return None


def _names_the_piece(counter: Counter, others: list[Counter]) -> bool:
    """`iterations=500 split 9/10`: named once above the counter that goes on, and not the first one: which piece of a
    larger work this log is about.
    """
    if counter.seen > 1 or counter.made or counter.maximum is None or counter.current <= 1:
        return False
    return any(
        other.first > counter.first and other.advances >= MOVES and not other.resets and other.kind == "train"
        for other in others
    )


def _never_moved(counter: Counter) -> bool:
    """`round 0: [0.32, 0.16]`: named, no more."""
    return counter.current == counter.minimum


def _is_of_many(counter: Counter) -> bool:
    """Whether it began again after its end; or, where its display is one of batches, again and again. A bar that has
    a name shows the end of its own part: the second seed, the third model.
    """
    named = counter.rule == "tqdm" and not counter.key.startswith(f"bar:{counter.unit}/")
    return counter.repeats > (PARTS_MAX if named else 0) or (counter.inner and counter.begun >= LOOKS)


def _is_share(counter: Counter) -> bool:
    """`Direct execution  6/6 (100%)`: a display that never moved may be a row of a summary."""
    return counter.rule in ("fraction-percent", "percent-fraction") and counter.current == counter.minimum


def _goes_on_around(counter: Counter, inner: Counter) -> bool:
    """Whether a count without an end goes on beside one that begins again after each of its ends: the frames of a
    film, and the samples of each.
    """
    if not inner.repeats or counter.resets or counter.maximum is not None:
        return False
    return counter.kind == "train" and counter.last == inner.last and 0 < counter.advances <= inner.repeats + 1


def _rank(track: Track, counter: Counter, others: list[Counter]) -> tuple[bool | float, ...]:
    """Of several counters of the whole run: the one that is still moving, then the longest at work."""
    most = _maximum(track, counter)
    same = any(_maximum(track, other) == most and other.last < counter.last and not other.made for other in others)
    complete = most is not None and counter.current >= (NEARLY * most if counter.made else most)
    followed = any(is_open(other) and other.first > counter.last for other in others) or any(
        most is not None and other.last > counter.last and other.current < most == _maximum(track, other)
        for other in others
    )
    done = complete and (followed or (track.line - counter.last > 3 and not same))
    done = done or any(_is_told_anew(counter, other) for other in others)
    trained = counter.first <= track.loss_line  # not a bar that came after the last loss: an evaluation at the end
    moved = counter.current > counter.minimum
    own = counter.maximum is not None or moved or (same and complete)  # not a number that was named once
    stands = counter.seen >= LOOKS and not moved
    return (
        "progress" in counter.key,
        trained,
        not stands,
        not done,
        own,
        counter.maximum is not None or counter.unit in track.maxima,
        counter.resets == 0 and counter.unit != "batch",
        counter.elapsed or 0.0,
        counter.last,
    )


def _is_told_anew(counter: Counter, other: Counter) -> bool:
    """`0/2571`, then `33500/40594`: the same display, where the program has found out how much there is."""
    alike = counter.made and counter.rule == other.rule != "tqdm" and counter.unit == other.unit
    grown = counter.maximum is not None and other.maximum is not None and counter.maximum < other.maximum
    return alike and grown and counter.seen == 1 and counter.last < other.first and counter.current < other.current


def _maximum(track: Track, counter: Counter) -> int | None:
    """Of the counter itself, else one that the log told elsewhere for what it counts."""
    if counter.stretched and not counter.advances:
        return None  # `3/100`, `3/200`
    if counter.maximum is not None:
        return counter.maximum
    units = sorted(WHOLE_STEPS) if counter.unit in WHOLE_STEPS else [counter.unit]
    units = [*units, *ROUNDS] if counter.unit in ROUNDS else units
    units = [*units, "episode"] if counter.unit == "epoch" else units  # `Ep 10`
    others = [other for other in track.counters.values() if other.kind != "setting" or other.advances]
    taken = {other.unit for other in others if other.unit != counter.unit}
    for unit in (counter.unit, *(other for other in units if other not in taken)):
        most = track.maxima.get(unit)
        if most is not None and most >= counter.current and track.raised.get(unit, 0) < RAISED_MAX:
            return most
    return None


def _is_earlier_stage(track: Track, counter: Counter, others: list[Counter]) -> bool:
    """Whether a counter of things (samples, files) was complete before the counter of the work itself began; or one
    whose end was only told when it was there, and another goes on.
    """
    if counter.maximum is None and counter.current == _maximum(track, counter):
        return any(other.first > counter.last and other.advances >= MOVES for other in others)
    if counter.made and any(_trains_behind(other, counter) for other in others):
        return counter.maximum is not None and counter.current >= counter.maximum
    if counter.unit in LONE_UNITS or counter.maximum is None or counter.current < counter.maximum:
        return False
    return any(other.unit in LONE_UNITS and other.first > counter.last for other in others)


def _trains_behind(epoch: Counter, bar: Counter) -> bool:
    """Whether epochs began when a bar was over, and went on: it prepared them."""
    whole = float(epoch.minimum).is_integer()  # 0.07 is another view of the same run
    return whole and epoch.unit == "epoch" and epoch.first > bar.last and epoch.advances >= MOVES


def _eta(track: Track, counter: Counter, _inner: Counter | None) -> float | None:
    if track.has_crashed():
        return None
    if counter.eta is not None:
        return counter.eta
    if counter.made and counter.rule == "tqdm":
        return None
    if track.eta_line < counter.last or track.eta is None:
        return None
    return track.eta


def _is_heading(counter: Counter) -> bool:
    return counter.rule == "labelled" or (counter.rule == "labelled-max" and not counter.measured)


def _is_a_part(track: Track, counter: Counter) -> bool:
    """Whether what is complete was prepared only, or was one of many things that the program did."""
    if counter.kind == "aux":
        return track.line > counter.last or counter.key.startswith(LOADS)
    return counter.rule in PARTS and track.line - counter.last > AGAIN


def _is_end(track: Track, pick: Pick, ending: ClosingLines) -> bool | None:
    """Whether the word of an end that stands behind the counter is the run's."""
    counter, inner = pick.counter, pick.inner
    if track.ended_vaguely and pick.maximum is not None and counter.current + 1 < pick.maximum:
        return None
    if inner is not None and inner.changed > track.ended and inner.advances and is_under_way(inner):
        return False
    complete = pick.maximum is not None and counter.current >= pick.maximum
    if not complete and any(
        is_under_way(other) and other.made and other.changed > track.ended for other in track.counters.values()
    ):
        return False  # the next part of the work
    if track.ended_vaguely and ending.went_on and not complete:
        return None
    # Said before, and the counter went on: a remark of each step, which tells nothing.
    return None if track.ended_before and not counter.resets and not complete else True


def _works_behind(other: Counter, counter: Counter, track: Track) -> bool:
    """Whether another counter began when this one was complete, and is under way in the last line."""
    if other.first <= counter.last or other.last < track.line or not other.advances:
        return False
    return is_under_way(other) or (other.maximum is None and other.advances >= MOVES)


def _goes_on_inside(other: Counter, counter: Counter, track: Track) -> bool:
    """`Trial 2 of 2`, and behind it the steps of that trial: it has begun, and they go on in the last line."""
    inside = other.resets > 0 and other.maximum is None and abs(other.resets - counter.advances) <= 1
    return inside and counter.last < other.changed == track.line and not counter.measured


def _tells_its_share(track: Track, counter: Counter) -> bool:
    """`4.98G/4.98G` of a bar, and a row of a table with a column of shares."""
    of_row = counter.rule == "table" and counter.last == track.percent_line
    return of_row or (counter.rounded and counter.rule == "tqdm")


def _counts_from_zero(track: Track, counter: Counter) -> bool:
    return any(other.unit == counter.unit and other.minimum == 0 for other in track.counters.values())


def _complete_is_end(track: Track, pick: Pick, ending: ClosingLines) -> bool | None:
    """Whether nothing is left where the counter stands at its maximum."""
    counter, inner = pick.counter, pick.inner
    if _is_a_part(track, counter):
        return None
    if counter.rule == "moving" and counter.last == track.line and ending.has_more_inside:
        return None
    told = counter.measured and ending.lines_behind > 0  # with what it came to, and the log went on
    if counter.unit == "epoch" and _is_heading(counter) and counter.last == track.line and not told:
        return None  # in the last epoch, perhaps
    if any(_goes_on_inside(other, counter, track) for other in track.counters.values()):
        return False
    if any(_works_behind(other, counter, track) for other in track.counters.values()):
        return None  # an evaluation, perhaps, and nobody said that it is the last
    return inner is None or inner.maximum is None or inner.current >= NEARLY * inner.maximum


def _finished(track: Track, pick: Pick, ending: ClosingLines) -> bool | None:
    counter, inner = pick.counter, pick.inner
    if track.crashed > max(track.ended, counter.changed):
        return False
    if track.ended + DRAWN_AGAIN * track.ended_surely >= counter.changed and track.ended > track.started:
        return _is_end(track, pick, ending)
    if pick.maximum is not None and counter.current > pick.maximum:
        return None
    complete = pick.maximum is not None and counter.current >= pick.maximum
    if not complete and pick.maximum == counter.current + 1 and ending.ends_item(int(counter.current)):
        return _counts_from_zero(track, counter) or None
    if complete:
        return _complete_is_end(track, pick, ending)
    if pick.maximum is None and track.percent == 100 and _tells_its_share(track, counter):
        return True
    if pick.maximum is None and inner is not None and inner.maximum is not None:
        # Between two epochs, and nobody said how many there are.
        busy = any(
            other.kind == "val" and other.last > inner.last and is_open(other) for other in track.counters.values()
        )
        return False if inner.current < inner.maximum or busy else None
    if pick.maximum is None and (counter.eta == 0 or (track.percent == 100 and track.percent_line >= counter.last)):
        return None
    return False
