"""Whether nothing is left to do, by where the counters stand and by the words of an end and of a crash that were read
with them. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.picking.grounds import LOADS, LOOKS, MOVES
from onbox.logs.judge.picking.maximum import AGAIN
from onbox.logs.judge.picking.nesting import is_open, is_under_way, stands_beside
from onbox.logs.line.words import BUDGET_IS_OVER
from onbox.logs.loops import NEARLY
from onbox.regex import lazy

if TYPE_CHECKING:
    from onbox.logs.counter import Counter
    from onbox.logs.judge.ending.closing import ClosingLines
    from onbox.logs.judge.picking.pick import Pick
    from onbox.logs.track import Track

DRAWN_AGAIN = 2  # lines of a display after a trainer said that it is at its limit
_VALIDATED = lazy(r"(?i)(?<![a-z])(?:val|valid|validation|test|dev)[ _/-]?[a-z]{1,12}\s?[:=]?\s{0,4}-?\d{1,9}\.\d")
_AT_WORK = lazy(r"(?:\.\.\.|\u2026)\s{0,4}$")  # `Processing shard 12/12 ...`
_BEGINS_ONE = lazy(r"moving (?!train|work|runn)[a-z]{3,14}ing (?!done|ok)")  # `Getting block 8 of 8`
_CONVERGED = lazy(
    r"(?i)^\W*(?:\w{1,20} )?converged (?:at|after|in)\b"
    rf"|{BUDGET_IS_OVER}"
    r"|^\W*(?:problem |task |environment )?solved\b"
    r"|\bstop(?:s|ped|ping)(?: the)? (?:training|run|loop|search|optimi[sz]ation|fit)\b"
)
PARTS = frozenset({"done-of", "fraction-unit"})  # what is told of each part of a work: `Done 5 out of 5`


def counts_in_last_line(track: Track, pick: Pick | None, ending: ClosingLines) -> bool:
    """Whether the last line of all shows how much is left."""
    if pick is None or pick.maximum is None or pick.counter.last < track.line or ending.lines_behind:
        return False
    return pick.counter.current + 1 < pick.maximum


def _is_heading(counter: Counter) -> bool:
    return counter.rule == "labelled" or (counter.rule == "labelled-max" and not counter.measured)


def _is_a_part(track: Track, counter: Counter) -> bool:
    """Whether what is complete was prepared only, or was one of many things that the program did."""
    if counter.kind == "aux":
        return track.line > counter.last or counter.key.startswith(LOADS)
    if counter.rule == "files-of-files":
        return True  # there may be more to find, and a snapshot to write
    if counter.rule == "moving" and _BEGINS_ONE.match(counter.key):
        return True  # the last one, which may be at work
    return counter.rule in (*PARTS, "moving") and track.line - counter.last > AGAIN


def _drawn_until(track: Track) -> int:
    """Up to which line what is drawn is drawn once more, behind the word of an end."""
    return track.ended + DRAWN_AGAIN * track.ended_surely


def _is_end(track: Track, pick: Pick, ending: ClosingLines) -> bool | None:
    """Whether the word of an end that stands behind the counter is the run's."""
    counter, inner = pick.counter, pick.inner
    if track.ended_vaguely and pick.maximum is not None and counter.current + 1 < pick.maximum:
        return None
    tells_itself = track.ended == counter.last and not _CONVERGED.search(track.text)
    if tells_itself and counts_in_last_line(track, pick, ending):
        return False  # `sim_059 finished in 0.02s  -- 59 done, 37 left`
    if inner is not None and inner.changed > track.ended and inner.advances and is_under_way(inner):
        return False
    complete = pick.maximum is not None and counter.current >= pick.maximum
    behind = (other for other in track.counters.values() if _works_behind(other, counter, track))
    if complete and any(map(is_under_way, behind)):
        return None  # an evaluation of what was trained, perhaps
    drawn = _drawn_until(track)
    if not complete and any(
        is_under_way(other) and other.made and other.changed > drawn for other in track.counters.values()
    ):
        return False  # the next part of the work
    if track.ended_vaguely and ending.went_on and not complete:
        return None
    if not complete and ending.works_on:
        return None  # what comes behind the training
    # Said before, and the counter went on: a remark of each step, which tells nothing.
    return None if track.ended_before and not counter.resets and not complete else True


def _works_behind(other: Counter, counter: Counter, track: Track) -> bool:
    """Whether another counter began when this one was complete, and is under way in the last line."""
    if other.first <= counter.last or other.last < track.line or not other.advances:
        return False
    return is_under_way(other) or (other.maximum is None and other.advances >= MOVES)


def _goes_on_in(other: Counter, counter: Counter) -> bool:
    """`Epoch [3/3] global_step=140`: what stands on each line beside the counter goes on, and is not full."""
    return stands_beside(counter, other) and (other.maximum is None or other.current < other.maximum)


def _goes_on_inside(other: Counter, counter: Counter, track: Track) -> bool:
    """`Trial 2 of 2`, and behind it the steps of that trial: it has begun, and they go on in the last line."""
    inside = other.resets > 0 and other.maximum is None and abs(other.resets - counter.advances) <= 1
    return inside and counter.last < other.changed == track.line and not counter.measured


def _heads_what_goes_on(counter: Counter, track: Track) -> bool:
    """`[Step 3/3] Launching training`, and below it the epochs of that step, up to the last line."""
    if not _is_heading(counter) or counter.unit == "epoch":
        return False
    return any(
        other.kind == "train" and other.measured and other.maximum is None
        for other in track.counters.values()
        if other.first > counter.last and other.last == track.line and other.seen >= LOOKS
    )


def _closes_the_last(other: Counter, pick: Pick) -> bool:
    """`member 4 epoch 7`, `saved net_4.pt (5/5)`: what is told of each when it is there, and now of the last one."""
    counter = pick.counter
    last = pick.is_last_from_zero and pick.maximum == other.current == other.maximum
    return last and other.last > counter.last and other.advances == counter.advances and not other.resets


def _validates_each(other: Counter, pick: Pick) -> bool:
    """`Epoch(val) [10][4952] mAP: 0.7`: once behind the batches of each epoch, and now behind the last ones that are
    told of this one.
    """
    epoch, inner = pick.counter, pick.inner
    if other.kind != "val" or other.unit != "epoch" or inner is None or inner.maximum is None:
        return False
    told = other.maximum is None and other.measured and other.seen == epoch.advances + 1 and other.last > inner.last
    return told and other.current == epoch.current and inner.maximum - inner.current < inner.minimum


def _validated_the_last(track: Track, pick: Pick) -> bool:
    """`Epoch 249 of 250 loss=0.07 val_loss=0.23` in the last line, from 0 on and once each: that epoch is whole."""
    counter = pick.counter
    if counter.unit != "epoch" or not pick.is_last_from_zero or pick.inner is not None:
        return False
    once = counter.measured and counter.advances >= LOOKS and counter.seen == counter.advances + 1
    return once and counter.last == track.line and _VALIDATED.search(track.text) is not None


def _sums_up_its_batches(pick: Pick) -> bool:
    """`Epoch[60/60], loss 0.3, time: 173.4` behind batches of that epoch, the last of which is not shown."""
    counter, inner = pick.counter, pick.inner
    return inner is not None and counter.measured and counter.changed < inner.last < counter.last


def _stands_below_its_bar(track: Track, pick: Pick) -> bool:
    """`300/300` of a bar, and below it `Epoch 29, loss 5.5`, of 30 from 0 on: so it was below each bar."""
    counter = pick.counter
    if counter.unit != "epoch" or not counter.measured or not pick.is_last_from_zero:
        return False
    return any(
        bar.made and bar.kind == "train" and bar.current == bar.maximum and bar.resets == counter.advances > 0
        for bar in track.counters.values()
        if bar.first < counter.first and bar.last < counter.changed
    )


def _is_last_of_last(pick: Pick) -> bool:
    """`[29/30][359/360]`, both from 0 on."""
    inner = pick.inner
    if inner is None or not pick.counter.advances or not pick.is_last_from_zero:
        return False
    once = inner.minimum == inner.current  # each epoch is told by its last batch
    return inner.maximum == inner.current + 1 and (once or inner.minimum == 0)


def _heads_the_last(counter: Counter, track: Track) -> bool:
    """`### Stage 3/3: full fine-tune`, in the last line: below the headings before it epochs went on."""
    if not _is_heading(counter) or counter.unit == "epoch" or counter.last < track.line or counter.seen < 2:
        return False
    return any(
        other.kind == "train" and other.advances and counter.first < other.first and other.last < counter.last
        for other in track.counters.values()
    )


def _goes_on_beside(other: Counter, counter: Counter, track: Track) -> bool:
    """`[video 12/12] 2435/3247 frames`: the last line shows another count below its end, of what began again before."""
    if other is counter or other.last < track.line or not is_under_way(other) or not other.seen > 1:
        return False
    return bool(other.resets) or counter.advances <= other.seen


def _tells_its_share(track: Track, counter: Counter) -> bool:
    """`4.98G/4.98G` of a bar, and a row of a table with a column of shares."""
    of_row = counter.rule == "table" and counter.last == track.percent_line
    return of_row or counter.rule == "sized" or (counter.rounded and counter.rule in ("tqdm", "saved"))


def _counts_from_zero(track: Track, counter: Counter) -> bool:
    return any(other.unit == counter.unit and other.minimum == 0 for other in track.counters.values())


def _has_just_begun(counter: Counter, track: Track, ending: ClosingLines) -> bool:
    """`[3/3] Merging the parts`, or beside another count below its end, in the last line."""
    if counter.rule not in ("moving", "leading-bracket") or counter.last != track.line:
        return False
    known = track.counters.get(counter.key)
    heads = counter.rule == "leading-bracket" and known is not None and known.kind == "aux"
    return ending.has_more_inside or (heads and ending.lines_behind == 0)


def _complete_is_end(track: Track, pick: Pick, ending: ClosingLines) -> bool | None:
    """Whether nothing is left where the counter stands at its maximum."""
    counter, inner = pick.counter, pick.inner
    if _is_a_part(track, counter):
        return None
    if _has_just_begun(counter, track, ending):
        return None
    drawn = counter.made and counter.rule != "leading-bracket"
    if counter.last == track.line and not drawn and _AT_WORK.search(track.text):
        return False
    if counter.made and any(
        other.made and other.rule == counter.rule and other.last > counter.last and is_under_way(other)
        for other in track.counters.values()
    ):
        return False  # one of several that are shown together
    last = ending.lines_behind == 0
    others = track.counters.values()
    if any(_goes_on_beside(other, counter, track) or (last and _goes_on_in(other, counter)) for other in others):
        return False
    if counter.last == track.line and counter.unit == "epoch" and ending.shows_share and ending.lines_behind == 0:
        return False  # `Epoch 30/30 [####....]  45%`
    told = counter.measured and ending.lines_behind > 0  # with what it came to, and the log went on
    if counter.unit == "epoch" and _is_heading(counter) and counter.last == track.line and not told:
        return None  # in the last epoch, perhaps
    if any(_goes_on_inside(other, counter, track) for other in track.counters.values()):
        return False
    if _heads_the_last(counter, track) or _heads_what_goes_on(counter, track):
        return False
    if any(_works_behind(other, counter, track) for other in track.counters.values()):
        return None  # an evaluation, perhaps, and nobody said that it is the last
    if counter.made and inner is not None and counter.last > inner.last:
        return True  # which is drawn no more
    whole = inner is None or inner.maximum is None or inner.current >= NEARLY * inner.maximum
    return (
        whole
        or _sums_up_its_batches(pick)
        or ending.ends_pass(counter.key)
        or any(_validates_each(other, pick) for other in others)
    )


def finished_by_counters(track: Track, pick: Pick, ending: ClosingLines) -> bool | None:
    counter, inner = pick.counter, pick.inner
    if track.crashed > max(track.ended, counter.changed):
        return False
    if _drawn_until(track) >= counter.changed and track.ended > track.started:
        return _is_end(track, pick, ending)
    if pick.maximum is not None and counter.current > pick.maximum:
        return (counter.made and counter.eta == 0) or None
    complete = pick.maximum is not None and counter.current >= pick.maximum
    if not complete and pick.maximum == counter.current + 1 and ending.ends_item(int(counter.current)):
        return _counts_from_zero(track, counter) or None
    if not complete and pick.is_last_from_zero and ending.ends_pass(counter.key):
        return True
    if not complete and (
        _validated_the_last(track, pick) or _stands_below_its_bar(track, pick) or _is_last_of_last(pick)
    ):
        return True
    if not complete and any(_closes_the_last(other, pick) for other in track.counters.values()):
        return True
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
