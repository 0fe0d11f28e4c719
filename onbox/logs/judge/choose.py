"""What a log shows of its run, once a counter was picked: how far it is, and whether it is over. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.progress import Progress
from onbox.logs.judge.by_head import counted_in_rows, counted_to_head, with_end, with_likely_end
from onbox.logs.judge.over.larger_work import is_one_of_several
from onbox.logs.judge.picking.grounds import LINES_SINCE, LOADS, Scene
from onbox.logs.judge.picking.nesting import is_open, is_under_way, stands_beside
from onbox.logs.judge.picking.pick import AGAIN, MOVES, RAISED_MAX, Pick, is_of_many, maximum_of, pick_of
from onbox.logs.judge.told.announced import announced, announced_by_any, announced_for
from onbox.logs.judge.told.limits import limit_of
from onbox.logs.line.words import BUDGET_IS_OVER, LONE_UNITS, UNITS
from onbox.logs.loops import NEARLY
from onbox.logs.totals.likely import likely_end
from onbox.regex import lazy

if TYPE_CHECKING:
    from onbox.logs.counter import Counter
    from onbox.logs.judge.ending.closing import ClosingLines
    from onbox.logs.judge.unnamed.columns import Whole
    from onbox.logs.judge.unnamed.rising import Rising
    from onbox.logs.track import Track

DRAWN_AGAIN = 2  # lines of a display after a trainer said that it is at its limit
MOST_PERCENT = 90  # of a display that tells nothing else: its next look would be behind the end
NEAR_THE_END = 0.9  # of the maximum: what is left may be less than one stride
DECLARING_LINES = 6  # of a log, in which a number of things is no result
TELLS_THE_LAST = ("boosting", "catboost")  # whatever the period in which they tell the others
STRIDES = 4  # or so many of them were made
OF_ANYTHING = frozenset({"offset", "cursor", "index", "idx", "position", "pos"})  # they go through
LONGEST_ETA_SECONDS = 10 * 365 * 86400  # what is told beyond that, is no time
WITH_LOSS = frozenset({"train", "bare", "setting", "moving", "own"})
DECLARED = LONE_UNITS | {"fit"}  # of these, the number alone tells how much work there is
_AT_WORK = lazy(r"(?:\.\.\.|\u2026)\s{0,4}$")  # `Processing shard 12/12 ...`
_BEGINS_ONE = lazy(r"moving (?!train|work|runn)[a-z]{3,14}ing (?!done|ok)")  # `Getting block 8 of 8`
_CONVERGED = lazy(
    r"(?i)^\W*(?:\w{1,20} )?converged (?:at|after|in)\b"
    rf"|{BUDGET_IS_OVER}"
    r"|^\W*(?:problem |task |environment )?solved\b"
    r"|\bstop(?:s|ped|ping)(?: the)? (?:training|run|loop|search|optimi[sz]ation|fit)\b"
)
PARTS = frozenset({"done-of", "fraction-unit"})  # what is told of each part of a work: `Done 5 out of 5`


def choose(track: Track, configured_max: int | None, ending: ClosingLines, beginning: bytes = b"") -> Progress:
    """The progress that a log shows. configured_max: wins over the log's own maximum; None if there is none.
    beginning: the log's first bytes, which may tell a maximum.
    """
    beginning = b"" if track.restarted else beginning  # which is that of an earlier run
    pick = with_end(pick_of(Scene(track, ending)), ending, beginning)
    by_head = counted_to_head(pick, ending, beginning)
    pick = pick if by_head else with_likely_end(pick, track, ending, beginning)
    progress = (
        _of_columns(by_head, configured_max, track, ending)
        if by_head
        else _shown(track, pick, configured_max, ending, beginning)
    )
    if pick is None and track.again.apart and 0 < track.again.seen <= track.started:
        return progress._replace(finished=False)  # it has just begun; what stands above is of the run before
    may_be_over = _may_be_over(progress, pick, ending) or _ran_out_of_patience(track, pick, ending)
    may_be_over = may_be_over and not (_is_first_of_many(pick) and ending.ends_in_evaluation)
    looped = progress.current is not None and ending.stopped_early and not _counts_in_last_line(track, pick, ending)
    stops = progress.current is not None and (ending.stops_at(progress.current) or ending.stopped_behind)
    stops = stops or _told_the_last(pick, ending)
    is_told = looped or stops or ending.tells_early_stop or ending.ends_a_process
    over = is_told or (may_be_over and (_made_the_last(pick, ending) or _is_over(progress, ending)))
    if not progress.finished and over:
        progress = progress._replace(finished=True)
    if pick is not None and progress.exact_max is None and progress.percent is None:
        told = _told_in_all(pick, ending)
        over = progress.finished or (told is not None and not track.has_crashed() and ending.sums_up(counted=True))
        progress = progress._replace(exact_max=told, finished=True) if told and over else progress
    if progress.exact_max is not None and ending.tells_all_done(progress.exact_max):
        return progress._replace(current=progress.exact_max, finished=True)
    if progress.finished and (ending.fails or ending.leaves_some):
        return progress._replace(finished=False)
    if progress.finished and _has_begun_anew(track, pick, ending):
        return progress._replace(finished=False)
    if progress.finished and is_one_of_several(track, pick, exits=ending.exits):
        return progress._replace(finished=None)
    return progress


def _is_first_of_many(pick: Pick | None) -> bool:
    """Whether only one epoch was seen, and nobody told of how many: the evaluation behind it may be that of each."""
    if pick is None or pick.inner is None or pick.maximum is not None:
        return False
    return pick.counter.unit == "epoch" and not pick.counter.advances


def _told_in_all(pick: Pick, ending: ClosingLines) -> int | None:
    """The maximum that the end of the log tells of what was counted, where it stands there."""
    counter = pick.counter
    words = {word for word, unit in UNITS.items() if unit == counter.unit}
    most = ending.told_in_all(words | {counter.key.rpartition(" ")[2]})
    at = {counter.current, counter.current + 1} if counter.minimum == 0 else {counter.current}
    return most if most in at and counter.advances else None


def _counts_in_last_line(track: Track, pick: Pick | None, ending: ClosingLines) -> bool:
    """Whether the last line of all shows how much is left."""
    if pick is None or pick.maximum is None or pick.counter.last < track.line or ending.lines_behind:
        return False
    return pick.counter.current + 1 < pick.maximum


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


def _has_begun_anew(track: Track, pick: Pick | None, ending: ClosingLines) -> bool:
    """Whether a line says that a run starts, behind all that was counted, and few others follow."""
    begun = pick is not None and pick.counter.last < track.started and track.ended < track.started
    near = begun and track.line - track.started < LINES_SINCE
    return near and ending.tells_of_a_start and not ending.sums_up(counted=True) and not ending.says_made


def _ran_out_of_patience(track: Track, pick: Pick | None, ending: ClosingLines) -> bool:
    """Whether the step that it ends with is as far behind the best one as the run has told that it would wait."""
    if pick is None or track.patience is None:
        return False
    return any(abs(pick.counter.current - best - track.patience) <= 1 for best in ending.best)


def _shown(
    track: Track, pick: Pick | None, configured_max: int | None, ending: ClosingLines, beginning: bytes
) -> Progress:
    if pick is None:
        return _without_words(track, configured_max, ending, beginning)
    counter, inner = pick.counter, pick.inner
    maximum = configured_max or pick.maximum
    if maximum is None and counter.rule != "states" and not is_of_many(counter):  # of which more may come
        maximum = ending.whole.most if ending.whole and ending.whole.value == counter.current else None
    epoch = _epoch(track) if counter.unit != "epoch" or isinstance(counter.current, float) else None
    return Progress(
        current=counter.current,
        exact_max=maximum,
        unit=counter.unit,
        epoch_current=epoch.current if epoch else None,
        epoch_max=maximum_of(track, epoch) if epoch else None,
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
    most = track.maxima.get("fit")
    fits = ending.fits_ended(most)
    if fits is not None:
        return Progress(fits, most, "fit", finished=fits == most, rule="fits")
    over = _without_counter(track, ending)
    limit = ending.limit_reached
    if limit is not None and over:
        return Progress(limit.number, limit.number, limit.unit, loss=track.loss, finished=True, rule="limit")
    if track.percent is not None and track.percent_line >= track.started:
        return Progress(percent=track.percent, exact_max=_in_all(track), finished=over)
    if ending.rising is None and ending.ticking is not None:
        return Progress(ending.ticking, None, "second", loss=track.loss, finished=over, rule="ticking")
    if ending.rising is None:
        alone = ending.rising_alone if beginning else None
        most = announced(beginning, alone.noun, _so_many_before(alone)) if alone else None
        most = most or (_of_things(beginning, alone) if alone else None)
        most = most or limit_of(beginning, alone.value) if alone else None
        if alone and most:
            return Progress(alone.value, most, "step", loss=track.loss, finished=over, rule="rising")
        most = _declared(track) if ending.is_looping else None
        most = None if most is None or ending.tells_behind_loop(most) else most
        return Progress(exact_max=most, loss=track.loss, finished=over)
    count, most = ending.rising.value, _declared(track)
    if most is None or most < count:
        most = announced(beginning, ending.rising.noun, _so_many_before(ending.rising)) or _told_of(
            track, ending.rising, beginning
        )
    most = (
        most
        or limit_of(beginning, count, ending.rising.noun)
        or _of_things(beginning, ending.rising)
        or likely_end(beginning, counted_in_rows(ending.rising, track))
    )
    whole = most == count and ending.lines_behind > 0 and track.crashed <= track.started and not ending.fails
    return Progress(count, most, "step", loss=track.loss, finished=whole or over, rule="rising")


def _in_all(track: Track) -> int | None:
    """What the head of a download, or of a run of tests, tells of that which only a percentage is shown of."""
    return track.maxima.get("byte") or track.maxima.get("test")


def _so_many_before(seen: Rising) -> int:
    """How many it was at least when the last batch began, which may have gone beyond the end."""
    return seen.value - max(0, seen.stride - 1)


def _of_things(beginning: bytes, seen: Rising) -> int | None:
    """How many things the head tells of, where the lines name none, or what is done to them: `embedded 30000`."""
    if seen.noun in OF_ANYTHING or seen.noun.endswith("ed"):
        return announced_by_any(beginning, _so_many_before(seen))
    return None if seen.noun else announced_for(beginning, _so_many_before(seen))


def _told_of(track: Track, seen: Rising, beginning: bytes) -> int | None:
    """The maximum that a line has told of such things: `target frames: 1000000`; not how many there were in all."""
    unit = UNITS.get(seen.noun, "")
    most = track.maxima.get(unit)
    if most is None or most < seen.value or track.raised.get(unit, 0) >= RAISED_MAX:
        return None
    head = b"\n".join(beginning.split(b"\n")[:DECLARING_LINES])
    return most if most > seen.value or str(most).encode() in head else None


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
    if pick is None or pick.maximum != pick.counter.current + 1 or pick.counter.minimum != 0:
        return False
    whole = pick.inner is not None and pick.inner.maximum is not None and pick.inner.current == pick.inner.maximum
    told = pick.counter.measured and pick.counter.advances >= MOVES and (whole or ending.stride(pick.counter.key) == 1)
    return told and ending.follows_something_new


def _told_the_last(pick: Pick | None, ending: ClosingLines) -> bool:
    """`[25]`, `[30]`, `[34]`, and then something else: the last round is told out of its turn."""
    if pick is None or pick.counter.rule not in TELLS_THE_LAST:
        return False
    return ending.ends_off_grid(pick.counter.key) and ending.follows_something_new


def _stride(pick: Pick | None, ending: ClosingLines) -> float:
    """How far the counter went between the last two lines that show it; 0 where that cannot be told."""
    if pick is not None:
        return ending.stride(pick.counter.key)
    return ending.rising.stride if ending.whole is None and ending.rising is not None else 0


def _declared(track: Track) -> int | None:
    """The maximum that the log tells where its rows show no counter; None if it tells several."""
    told = {most for unit, most in track.maxima.items() if unit in DECLARED and track.raised.get(unit, 0) == 0}
    return next(iter(told)) if len(told) == 1 else None


def _without_counter(track: Track, ending: ClosingLines) -> bool | None:
    if track.percent is not None and track.percent >= 100:
        return (ending.ends_in_whole_share and track.crashed <= track.started) or None  # or it was that of a part
    over = track.ended > max(track.crashed, track.started) and track.ended >= track.percent_line
    if over and (track.ended_before or track.line - track.ended > LINES_SINCE or ending.went_on or ending.counts_on):
        return None  # each of many jobs ends with the same words; or it went on
    return over


def _epoch(track: Track) -> Counter | None:
    found = track.counters.get("epoch")
    return found if found and found.last >= track.started else None


def _eta(track: Track, counter: Counter, _inner: Counter | None) -> float | None:
    found = counter.eta
    if found is None and (track.eta_line >= counter.last and not (counter.made and counter.rule == "tqdm")):
        found = track.eta
    return None if track.has_crashed() or (found or 0) > LONGEST_ETA_SECONDS else found


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


def _is_end(track: Track, pick: Pick, ending: ClosingLines) -> bool | None:
    """Whether the word of an end that stands behind the counter is the run's."""
    counter, inner = pick.counter, pick.inner
    if track.ended_vaguely and pick.maximum is not None and counter.current + 1 < pick.maximum:
        return None
    tells_itself = track.ended == counter.last and not _CONVERGED.search(track.text)
    if tells_itself and _counts_in_last_line(track, pick, ending):
        return False  # `sim_059 finished in 0.02s  -- 59 done, 37 left`
    if inner is not None and inner.changed > track.ended and inner.advances and is_under_way(inner):
        return False
    complete = pick.maximum is not None and counter.current >= pick.maximum
    behind = (other for other in track.counters.values() if _works_behind(other, counter, track))
    if complete and any(map(is_under_way, behind)):
        return None  # an evaluation of what was trained, perhaps
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


def _closes_the_last(other: Counter, pick: Pick) -> bool:
    """`member 4 epoch 7`, `saved net_4.pt (5/5)`: what is told of each when it is there, and now of the last one."""
    counter = pick.counter
    last = counter.minimum == 0 and pick.maximum == counter.current + 1 == other.current == other.maximum
    return last and other.last > counter.last and other.advances == counter.advances and not other.resets


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


def _complete_is_end(track: Track, pick: Pick, ending: ClosingLines) -> bool | None:
    """Whether nothing is left where the counter stands at its maximum."""
    counter, inner = pick.counter, pick.inner
    if _is_a_part(track, counter):
        return None
    if counter.rule in ("moving", "leading-bracket") and counter.last == track.line and ending.has_more_inside:
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
    if any(_goes_on_beside(other, counter, track) or (last and stands_beside(counter, other)) for other in others):
        return False
    if counter.last == track.line and counter.unit == "epoch" and ending.shows_share and ending.lines_behind == 0:
        return False  # `Epoch 30/30 [####....]  45%`
    told = counter.measured and ending.lines_behind > 0  # with what it came to, and the log went on
    if counter.unit == "epoch" and _is_heading(counter) and counter.last == track.line and not told:
        return None  # in the last epoch, perhaps
    if any(_goes_on_inside(other, counter, track) for other in track.counters.values()):
        return False
    if _heads_the_last(counter, track):
        return False
    if any(_works_behind(other, counter, track) for other in track.counters.values()):
        return None  # an evaluation, perhaps, and nobody said that it is the last
    if counter.made and inner is not None and counter.last > inner.last:
        return True  # which is drawn no more
    whole = inner is None or inner.maximum is None or inner.current >= NEARLY * inner.maximum
    return whole or ending.ends_pass(counter.key)


def _finished(track: Track, pick: Pick, ending: ClosingLines) -> bool | None:
    counter, inner = pick.counter, pick.inner
    if track.crashed > max(track.ended, counter.changed):
        return False
    if track.ended + DRAWN_AGAIN * track.ended_surely >= counter.changed and track.ended > track.started:
        return _is_end(track, pick, ending)
    if pick.maximum is not None and counter.current > pick.maximum:
        return (counter.made and counter.eta == 0) or None
    complete = pick.maximum is not None and counter.current >= pick.maximum
    if not complete and pick.maximum == counter.current + 1 and ending.ends_item(int(counter.current)):
        return _counts_from_zero(track, counter) or None
    if not complete and pick.maximum == counter.current + 1 and counter.minimum == 0 and ending.ends_pass(counter.key):
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
