"""How much work there is, where only the log's head tells it of the counter that was picked. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.picking.pick import is_of_many
from onbox.logs.judge.told.announced import announced, announced_by_any, announced_for, announced_in_list
from onbox.logs.judge.told.limits import limit_of
from onbox.logs.judge.unnamed.columns import Whole
from onbox.logs.line.done import BARE_DONE
from onbox.logs.line.words import UNITS
from onbox.logs.totals.features import Counted
from onbox.logs.totals.likely import likely_end
from onbox.regex import lazy

if TYPE_CHECKING:
    from onbox.logs.judge.ending.closing import ClosingLines
    from onbox.logs.judge.picking.pick import Pick
    from onbox.logs.judge.unnamed.rising import Rising
    from onbox.logs.track import Track

ROUNDED = ("tqdm", "labelled-max")  # rules of counters whose maximum may stand beside them, rounded
STEPS = 4  # of a number, until a mere convention tells its end
IN_PIECES = ("batch", "chunk", "page")  # that are worked through, of an unknown number
OF_THINGS = ("moving", "done", "outer")  # kinds of counters that are named by what they count
OF_A_POOL = ("done task", "done job")  # which calls all it does so
_NOUN = lazy(r"(?<![a-z])[a-z]+$")  # of a counter's key


def with_end(pick: Pick | None, ending: ClosingLines, beginning: bytes) -> Pick | None:
    """As it was picked, with the maximum that the log's first lines tell of it."""
    if pick is None or pick.maximum is not None:
        return pick
    if pick.counter.rounded and pick.counter.rule in ROUNDED:
        return pick._replace(maximum=ending.exact_of(beginning))
    most = _announced(pick, beginning)
    return pick._replace(maximum=most if most is not None else _limit(pick, beginning))


def with_likely_end(pick: Pick | None, track: Track, ending: ClosingLines, beginning: bytes) -> Pick | None:
    """As it was picked, with the number of the head that is likely its maximum, where no rule tells one."""
    counted = counted_of(pick, track, ending) if pick is not None and pick.maximum is None else None
    if pick is None or counted is None:
        return pick
    return pick._replace(maximum=likely_end(beginning, counted))


def counted_of(pick: Pick, track: Track, ending: ClosingLines) -> Counted | None:
    """What its counter is to the numbers of the head; None where none of them can be its end, or may be that of one of
    several stages.
    """
    counter = pick.counter
    measured = counter.unit == "byte" or counter.rounded or not float(counter.current).is_integer()
    stands = counter.kind == "setting" and not counter.advances  # its own line would tell its end
    if counter.kind == "own" or measured or counter.begun or stands or is_of_many(counter):
        return None
    noun = None if counter.key.startswith("bar:") else _NOUN.search(counter.key)
    return Counted(
        value=counter.current,
        noun=noun[0] if noun else "",
        unit=counter.unit,
        others=frozenset(other.unit for other in track.counters.values() if other.unit != counter.unit),
        stride=ending.stride(counter.key),
        from_zero=counter.minimum == 0,
        over=track.ended > track.started,
    )


def counted_in_rows(rising: Rising, track: Track) -> Counted:
    """As `counted_of`, of a number that goes on from row to row."""
    return Counted(
        value=rising.value,
        noun=rising.noun,
        unit=UNITS.get(rising.noun, ""),
        others=frozenset(other.unit for other in track.counters.values()),
        stride=rising.stride,
        over=track.ended > track.started,
    )


def counted_to_head(pick: Pick | None, ending: ClosingLines, beginning: bytes) -> Whole | None:
    """What the last lines count up to a number of the log's head, where no counter is known to have an end."""
    if pick is None:
        if ending.whole:
            return None
        return ending.whole_of(beginning) or ending.led_of(beginning) or ending.falling_of(beginning)
    counter = pick.counter
    open_ended = pick.maximum is None and pick.inner is None and counter.unit != "epoch"
    if not open_ended or counter.kind == "own":
        return None
    whole = None if counter.resets else ending.whole_of(beginning)
    return whole or (_things_beside(pick, ending, beginning) if counter.unit in IN_PIECES else None)


def _things_beside(pick: Pick, ending: ClosingLines, beginning: bytes) -> Whole | None:
    """`committed batch 19: rows 144001..152000` below `240,000 rows`: the things of which batches are made."""
    for seen in ending.risings:
        least = seen.value - max(0, seen.stride - 1)
        most = announced(beginning, seen.noun, least) if seen.value > pick.counter.current and seen.noun else None
        if most is not None:
            return Whole(seen.value, most, seen.lines)
    return None


def _announced(pick: Pick, beginning: bytes) -> int | None:
    """How many of the things that are counted there are to be."""
    counter = pick.counter
    if counter.rule == "leading" and counter.kind == "bare":  # rows of which nobody says what they count
        return announced(beginning, "", int(counter.current))
    if counter.kind not in OF_THINGS or (pick.inner is not None and counter.kind != "outer"):
        return None
    noun = _NOUN.search(counter.key)
    if noun is None:
        return None
    if counter.key == BARE_DONE:
        return announced_by_any(beginning, int(counter.current))
    listed = announced_in_list(beginning, noun[0], int(counter.current)) if counter.kind == "outer" else None
    listed = listed or announced(beginning, noun[0], int(counter.current))
    return listed or (announced_for(beginning, int(counter.current)) if counter.key in OF_A_POOL else None)


def _limit(pick: Pick, beginning: bytes) -> int | None:
    """The end that is set by a name which loops have for it."""
    counter = pick.counter
    if pick.inner is not None or counter.unit in ("epoch", "byte") or counter.kind == "own":
        return None
    goes_on = counter.advances >= STEPS and not counter.resets and not counter.made
    noun = _NOUN.search(counter.key)
    return limit_of(beginning, counter.current, noun[0] if noun else "") if goes_on else None
