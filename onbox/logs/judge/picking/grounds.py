"""Whether a number that a log shows is the progress of its run: what speaks for it, and what against. Pure.

One table decides. A number counts that has `NEEDED` points; what it counts, and of how many, is `choose`'s question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.picking.headings import heads_its_bar
from onbox.logs.line.shapes import DRAWN, MEASURED, named_with
from onbox.logs.line.words import LONE_UNITS, SELDOM_UNITS, STEP_UNITS
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.logs.counter import Counter
    from onbox.logs.judge.ending.closing import ClosingLines
    from onbox.logs.track import Track

NEEDED = 2
NEVER = -9  # outweighs a display and a measure; not the log's own word of the end, nor the user's own expression
LOOKS = 3  # at a number that has not moved: it names one of several
MOVES = 2  # of a number whose words say little, until it is taken for a counter
ADVANCES = 2  # of things done by a verb that is seldom said of the work itself
PIECES = 4  # times that `shard 5/16` went on: it may be named as what one of several works on
LOADS = ("bar:load", "bar:fetch")  # what keys of preparations begin with
OF_A_MODEL = ("bar:loading weights", "bar:loading checkpoint", "bar:loading pipeline")  # for what comes behind them
LEFT = "done, left"  # of what is done and left in each of several pieces
COMPLETE = 100  # percent
OFTEN = 2  # times that a number went back
MOST_STAGES = 20  # that a script numbers itself
HEADINGS = (SELDOM_UNITS - {"draw", "game"}) | {"stage"}
FEW_PARTS = 12  # of each of several things
STAGES = 3  # more than a server shows while it starts
LINES_SINCE = 12  # behind a number that was named once, with nothing measured beside it
_DRAWN = named_with(DRAWN)
_MEASURED = named_with(MEASURED) | {  # and what rows are called
    "table", "catboost", "boosting", "tagged", "leading", "leading-share", "states", "rsync", "saved", "epoch-inner",
    "figures",
}  # fmt: skip
_SHARES = frozenset({"fraction-percent", "percent-fraction", "counter-bar"})
_TOLD_ONCE = frozenset({"done-of", "fraction-unit", "fraction-percent", "percent-fraction"})


class Scene(NamedTuple):
    """Where a counter stands: what its log has shown besides, and how it ends."""

    track: Track
    ending: ClosingLines

    def behind(self, counter: Counter) -> int:
        """How many lines stand behind the last one that shows it, as far as they were looked at."""
        return max(self.track.line - counter.last, self.ending.lines_behind)


class Ground(NamedTuple):
    """points: for it, or against it where they are less than 0."""

    points: int
    what: str
    holds: Callable[[Counter, Scene], bool]


def is_full(counter: Counter) -> bool:
    """Whether nothing is known to be left: it has reached its maximum, or none was told."""
    return counter.maximum is None or counter.current >= counter.maximum


def _moved(counter: Counter, _: Scene) -> bool:
    if counter.rule in ("weak", "solver-time"):
        return counter.advances >= LOOKS
    if counter.rule == "done-any":
        return counter.advances >= ADVANCES
    if counter.rule == "piece":
        one_by_one = counter.minimum == 1 and counter.current - 1 == counter.advances and not is_full(counter)
        return counter.advances >= (ADVANCES if one_by_one else PIECES) and not counter.resets
    return counter.current > counter.minimum or counter.repeats > 0


def _heads_work(counter: Counter, _: Scene) -> bool:
    return counter.unit in HEADINGS and counter.rule == "labelled-max" and (counter.maximum or 0) > 1


def _is_status(counter: Counter, scene: Scene) -> bool:
    """`ok 200 GET /`: not the protocol of tests, which counts from 1."""
    told_seldom = counter.advances >= PIECES and not counter.resets and "test" in scene.track.maxima
    return counter.rule == "tap" and counter.minimum != 1 and not told_seldom


def _is_newest(counter: Counter, scene: Scene) -> bool:
    return counter.seen == 1 and scene.behind(counter) == 0


def _says_little(counter: Counter, _: Scene) -> bool:
    return counter.kind in ("bare", "moving", "done") or counter.rule in ("moving", "drawn", "piece")


def _is_last_word(counter: Counter, scene: Scene) -> bool:
    return counter.last == scene.track.ended and counter.kind in ("bare", "done")


def _is_settled(counter: Counter, scene: Scene) -> bool:
    once = counter.rule == "settings" or scene.behind(counter) > 0
    return counter.kind == "setting" and (counter.seen > 1 or once)


def _stands_still(counter: Counter, scene: Scene) -> bool:
    if counter.unit in LONE_UNITS or counter.rule in _DRAWN:
        return False
    moves = _moved(counter, scene) or counter.stretched
    return counter.seen >= LOOKS and not moves and counter.current != counter.maximum


def _is_length(counter: Counter, scene: Scene) -> bool:
    """`epoch: 17 step: 1335`, `epoch: 18 step: 1335`: how many there are in each."""
    if counter.unit not in STEP_UNITS or counter.seen < LOOKS or counter.made or _moved(counter, scene):
        return False
    epoch = scene.track.counters.get("epoch")
    if epoch is None or not epoch.advances:
        return False
    return counter.beside_epoch or (epoch.seen, epoch.last) == (counter.seen, counter.last)


def _is_size_of_batch(counter: Counter, scene: Scene) -> bool:
    """`POST /predict 200 41.8ms batch=8`: how many are in one."""
    told = counter.unit == "batch" and counter.maximum is None and not counter.made
    if told and counter.resets >= LOOKS and 3 * counter.resets > counter.advances:
        return True  # each request brings as many as it likes
    if told and scene.ending.tries_sizes(counter.key):
        return True
    once = counter.first == counter.last  # `mini_batch = 4, batch = 64`
    return told and (once or counter.current == counter.minimum) and (counter.seen > 1 or scene.behind(counter) > 0)


def _is_left_behind(counter: Counter, scene: Scene) -> bool:
    """`Transferred 448/499 items`: told once, of things, and the log went on."""
    if counter.seen > 1 or counter.rule not in _TOLD_ONCE or is_full(counter):
        return False
    works = counter.unit in LONE_UNITS and (counter.unit != "step" or "step" in counter.key)  # said, not assumed
    works = works or "progress" in counter.key
    return not works and (scene.behind(counter) > 0 or counter.rule == "fraction-unit")


def _is_always_full(counter: Counter, scene: Scene) -> bool:
    """`client 31: local loss 0.75 (5/5 epochs)`: each tells that it has done its own, while another counter goes on."""
    full = counter.minimum == counter.current == counter.maximum and counter.seen >= LOOKS
    things = counter.rule in _TOLD_ONCE or (counter.rule == "labelled-max" and counter.unit not in LONE_UNITS)
    return full and things and any(one.advances for one in scene.track.counters.values())


def _was_full_at_once(counter: Counter, scene: Scene) -> bool:
    """`rows 1/1`: it never moved."""
    full = is_full(counter) and not counter.made and counter.minimum == counter.maximum
    return full and counter.unit not in LONE_UNITS and scene.behind(counter) > 0


def _is_one_of_one(counter: Counter, scene: Scene) -> bool:
    """`FLOPs: 1.82 G (batch 1/1)`: told once, and it tells nothing."""
    others = [other for other in scene.track.counters.values() if other is not counter]
    alike = any(other.maximum == 1 and other.seen == 1 for other in others)
    followed = any(other.first > counter.last and (other.maximum or 0) > 1 for other in others)
    once = (
        counter.maximum == 1
        and counter.seen == 1
        and (alike or followed or not counter.made or counter.rule in _TOLD_ONCE)
    )
    ends_in_share = counter.rule == "fraction-percent" and scene.behind(counter) == 0  # `1 of 1 steps (100%) done`
    once = once and not ends_in_share and not heads_its_bar(counter, others)
    return once and not any(other.advances for other in others)


def _was_prepared(counter: Counter, scene: Scene) -> bool:
    """What was loaded or written is complete, and the log went on, with no summary of the run behind it. Long before,
    it was complete, or else the last look at it was.
    """
    behind = scene.behind(counter)
    if (behind <= LINES_SINCE or scene.track.crashed > counter.last) and _is_all_there_is(scene):
        return False
    left = behind > LINES_SINCE and scene.track.crashed < counter.last
    if counter.rule == "sized" and behind <= LINES_SINCE:
        return False
    if counter.kind != "aux" or behind == 0 or not (is_full(counter) or left):
        return False
    followed = any(other.first > counter.last and other.advances for other in scene.track.counters.values())
    if _numbers_stages(counter) and not followed:
        return False  # what stands behind is of its newest stage
    told = (
        (not counter.key.startswith(OF_A_MODEL) and (scene.ending.sums_up(counted=True) or scene.ending.says_made))
        or (counter.maximum and scene.ending.tells_all_done(counter.maximum))
        or (counter.maximum and scene.ending.tells_made(counter.maximum))
    )
    return counter.rounded or followed or left or not told


def _numbers_stages(counter: Counter) -> bool:
    """`[1/5] Assembling`, `[2/5] Compiling`: each of a few, told once when it begins."""
    few = counter.maximum is not None and counter.maximum <= MOST_STAGES
    each = counter.minimum == 1 and counter.advances == counter.seen - 1 == counter.current - 1 > 0
    return counter.rule == "leading-bracket" and few and each


def _is_first_loaded(counter: Counter, _: Scene) -> bool:
    """`Loading checkpoint shards: 0/2`: what it is for begins behind it."""
    return counter.kind == "aux" and counter.key.startswith(OF_A_MODEL) and counter.current == 0


def _is_all_there_is(scene: Scene) -> bool:
    """Whether a job does nothing but prepare: several bars of such work and no other, or one and no other number, but
    for what a line says to have been done behind it: `flushed 540 records`.
    """
    counters = [one for one in scene.track.counters.values() if one.rule != "sized" and not _is_remark(one)]
    bars = [counter for counter in counters if counter.made]
    alone = len(counters) == 1 and not counters[0].rounded and not counters[0].key.startswith(LOADS)
    return (
        (alone or len(bars) >= STAGES)
        and bool(bars)
        and all(counter.kind == "aux" and counter.advances for counter in bars)
    )


def _is_remark(counter: Counter) -> bool:
    return counter.rule in ("done-any", "done-count") and counter.kind == "done" and counter.seen == 1


def _was_named_once(counter: Counter, scene: Scene) -> bool:
    if counter.seen > 1 or counter.maximum is not None or not counter.rule.startswith("labelled"):
        return False
    since = 0 if counter.rule == "labelled-alone" else LINES_SINCE
    if counter.kind == "val" and scene.behind(counter) > since:
        return True  # `Number of Fisher Scoring iterations: 8`
    others = [other for other in scene.track.counters.values() if not other.made and other.kind not in ("val", "aux")]
    went_on = any(other.first > counter.last and other.advances >= LOOKS for other in others)
    if scene.behind(counter) <= LINES_SINCE:
        return went_on and counter.rule == "labelled-alone"
    return went_on or counter.rule == "labelled-alone"


def _was_drawn_once(counter: Counter, scene: Scene) -> bool:
    """`-- 20 of 23` in a text: what looks like a bar was not drawn again, and the log went on."""
    once = counter.seen == 1 and counter.rule in ("bar", "transfers") and not is_full(counter)
    return once and scene.behind(counter) > LINES_SINCE and scene.track.crashed < counter.last


def _was_overtaken(counter: Counter, scene: Scene) -> bool:
    """`(xfr#27/40)`, and then all bytes without it: rclone tells of files only while some are left."""
    if counter.rule != "transfers" or scene.track.percent != COMPLETE:
        return False
    bytes_told = (one.last for one in scene.track.counters.values() if one.rule == "sized")
    return scene.track.percent_line in bytes_told and scene.track.percent_line > counter.last


def _began_again(counter: Counter, _: Scene) -> bool:
    if counter.rule == "done-of" and counter.begun >= LOOKS:
        return True
    if counter.kind == "bare" and counter.maximum is None and counter.begun >= LOOKS:
        return True
    if counter.kind == "moving" and counter.resets == counter.repeats and (counter.maximum or 0) > FEW_PARTS:
        return False  # always from its end: so many in each
    return bool(counter.resets) and (counter.unit == "byte" or counter.kind in ("moving", "done"))


def _jumps(counter: Counter, _: Scene) -> bool:
    """`episode 380  steps 30`: how many it took, which is less more often than more. `pass@1 79/164`: a score, which
    goes back to anywhere.
    """
    if counter.key == LEFT:
        return counter.resets - counter.repeats >= OFTEN
    if counter.rule in _TOLD_ONCE and 3 * counter.resets > counter.advances:
        return counter.resets - max(counter.begun, counter.repeats) >= OFTEN
    if counter.maximum is not None or counter.made or counter.resets < OFTEN:
        return False
    # and not to its beginning
    anywhere = counter.rule.startswith("labelled") and counter.resets - counter.begun >= OFTEN
    return counter.resets > counter.advances or (anywhere and counter.resets == counter.advances)


def _is_of_all_so_far(counter: Counter, _: Scene) -> bool:
    """`WER 6.79% (349 / 5140)`: a rate, and the two counts that it is made of, both of which rise."""
    return counter.rule == "percent-fraction" and counter.stretched > counter.advances


def _is_result(counter: Counter, scene: Scene) -> bool:
    """`NVDA  75%  3/4`, a row of a table of results: others like it stay below their ends too, one after the other."""
    if counter.rule not in _SHARES or counter.advances >= LOOKS or "progress" in counter.key:
        return False
    shares = [other for other in scene.track.counters.values() if other.rule in _SHARES and other is not counter]
    return sum(not is_full(other) and other.advances < LOOKS for other in shares) >= LOOKS


GROUNDS: tuple[Ground, ...] = (
    Ground(3, "a display made for progress: a bar, a percentage, a rate", lambda c, _: c.rule in _DRAWN),
    Ground(2, "other numbers are measured beside it", lambda c, _: c.measured or c.rule in _MEASURED),
    Ground(2, "its word is one of work: epoch, step, round", lambda c, _: c.unit in LONE_UNITS),
    Ground(2, "its word is one of work, and it tells of how many: pass 1 of 3", _heads_work),
    Ground(2, "it has gone on", _moved),
    Ground(2, "it is the log's newest line", _is_newest),
    Ground(6, "it stands in the log's word of the end", _is_last_word),
    Ground(9, "the user's own expression names it", lambda c, _: c.kind == "own"),
    Ground(-6, "a remark, any n of m: unless it goes on", lambda c, s: _says_little(c, s) and not _moved(c, s)),
    Ground(-4, "it was looked at several times, and stands still", _stands_still),
    Ground(NEVER, "a setting that was told again, or before", _is_settled),
    Ground(NEVER, "the same in each epoch's line: how many there are in one", _is_length),
    Ground(NEVER, "the same batch in each line: how much is in one", _is_size_of_batch),
    Ground(NEVER, "several writers tell it, each of its own work", lambda c, _: c.apart > 1),
    Ground(NEVER, "told once of things, and the log went on", _is_left_behind),
    Ground(NEVER, "full when it was first seen, and the log went on", _was_full_at_once),
    Ground(NEVER, "full in each line that tells it, and another one goes on", _is_always_full),
    Ground(NEVER, "one of one, told once", _is_one_of_one),
    Ground(NEVER, "what was prepared is ready, and the log went on", _was_prepared),
    Ground(NEVER, "a model of which nothing is loaded yet", _is_first_loaded),
    Ground(NEVER, "named once, without a measure or before another number went on", _was_named_once),
    Ground(NEVER, "what looks like a bar was seen once, long before", _was_drawn_once),
    Ground(NEVER, "files of which no more are left, as the bytes tell", _was_overtaken),
    Ground(NEVER, "bytes, words or things done that begin again and again", _began_again),
    Ground(NEVER, "bytes of which nobody told how many there are",
           lambda c, s: c.rule == "dots" and "byte" not in s.track.maxima),
    Ground(NEVER, "a status, which is no number of a test", _is_status),
    Ground(NEVER, "it goes back more often than on: a measure", _jumps),
    Ground(NEVER, "a rate beside the counts that make it", _is_of_all_so_far),
    Ground(NEVER, "it stands below a name of results, in a table",
           lambda c, s: c.kind == "moving" and c.rule in ("moving", "piece") and s.ending.counts_results),
    Ground(NEVER, "a share as in a table of results: several stand below their ends", _is_result),
)  # fmt: skip


def counts(counter: Counter, scene: Scene) -> bool:
    """Whether a counter is one of the run's."""
    return sum(ground.points for ground in GROUNDS if ground.holds(counter, scene)) >= NEEDED
