"""What a log shows of its run where no word names a counter: numbers that belong together, a share, a number that
rises, or only how much there is to do. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.progress import Progress
from onbox.logs.judge.by_head import counted_in_rows
from onbox.logs.judge.picking.grounds import LINES_SINCE
from onbox.logs.judge.picking.maximum import RAISED_MAX
from onbox.logs.judge.told.announced import announced, announced_by_any, announced_for
from onbox.logs.judge.told.limits import limit_of
from onbox.logs.line.words import LONE_UNITS, UNITS
from onbox.logs.totals.likely import likely_end

if TYPE_CHECKING:
    from onbox.logs.judge.ending.closing import ClosingLines
    from onbox.logs.judge.unnamed.columns import Whole
    from onbox.logs.judge.unnamed.rising import Rising
    from onbox.logs.track import Track

DECLARING_LINES = 6  # of a log, in which a number of things is no result
OF_ANYTHING = frozenset({"offset", "cursor", "index", "idx", "position", "pos"})  # they go through
DECLARED = LONE_UNITS | {"fit"}  # of these, the number alone tells how much work there is


def without_words(track: Track, configured_max: int | None, ending: ClosingLines, beginning: bytes) -> Progress:
    """What the last lines show where no word names a counter: numbers that belong together, else a percentage, else
    one number that rises.
    """
    if ending.whole is not None:
        return of_columns(ending.whole, configured_max, track, ending)
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


def of_columns(seen: Whole, configured_max: int | None, track: Track, ending: ClosingLines) -> Progress:
    """What the numbers of the last lines tell that belong together."""
    most = configured_max or seen.most
    over = seen.value >= most and track.crashed <= track.started and not ending.fails
    return Progress(
        seen.value, most, "step", loss=track.loss, finished=over or _without_counter(track, ending), rule="columns"
    )


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
