"""What a log shows of its run, once a counter was picked: how far it is, and whether it is over. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.progress import Progress
from onbox.logs.judge.by_head import counted_to_head, with_end, with_likely_end
from onbox.logs.judge.over.by_counters import finished_by_counters
from onbox.logs.judge.over.by_words import has_begun_anew, over_by_words
from onbox.logs.judge.over.larger_work import is_one_of_several
from onbox.logs.judge.picking.grounds import Scene
from onbox.logs.judge.picking.maximum import maximum_of
from onbox.logs.judge.picking.pick import Pick, is_of_many, pick_of
from onbox.logs.judge.without_words import of_columns, without_words
from onbox.logs.line.words import UNITS

if TYPE_CHECKING:
    from onbox.logs.counter import Counter
    from onbox.logs.judge.ending.closing import ClosingLines
    from onbox.logs.track import Track

LONGEST_ETA_SECONDS = 10 * 365 * 86400  # what is told beyond that, is no time
WITH_LOSS = frozenset({"train", "bare", "setting", "moving", "own"})


def choose(track: Track, configured_max: int | None, ending: ClosingLines, beginning: bytes = b"") -> Progress:
    """The progress that a log shows. configured_max: wins over the log's own maximum; None if there is none.
    beginning: the log's first bytes, which may tell a maximum.
    """
    beginning = b"" if track.restarted else beginning  # which is that of an earlier run
    pick = with_end(pick_of(Scene(track, ending)), ending, beginning)
    by_head = counted_to_head(pick, ending, beginning)
    pick = pick if by_head else with_likely_end(pick, track, ending, beginning)
    progress = (
        of_columns(by_head, configured_max, track, ending)
        if by_head
        else _shown(track, pick, configured_max, ending, beginning)
    )
    if pick is None and track.again.apart and 0 < track.again.seen <= track.started:
        return progress._replace(finished=False)  # it has just begun; what stands above is of the run before
    if not progress.finished and over_by_words(progress, track, pick, ending):
        progress = progress._replace(finished=True)
    if pick is not None and progress.exact_max is None and progress.percent is None:
        told = _told_in_all(pick, ending)
        over = progress.finished or (told is not None and not track.has_crashed() and ending.sums_up(counted=True))
        progress = progress._replace(exact_max=told, finished=True) if told and over else progress
    if progress.exact_max is not None and ending.tells_all_done(progress.exact_max):
        return progress._replace(current=progress.exact_max, finished=True)
    if progress.finished and (ending.fails or ending.leaves_some):
        return progress._replace(finished=False)
    if progress.finished and has_begun_anew(track, pick, ending):
        return progress._replace(finished=False)
    if progress.finished and is_one_of_several(track, pick, exits=ending.exits):
        return progress._replace(finished=None)
    return progress


def _told_in_all(pick: Pick, ending: ClosingLines) -> int | None:
    """The maximum that the end of the log tells of what was counted, where it stands there."""
    counter = pick.counter
    words = {word for word, unit in UNITS.items() if unit == counter.unit}
    most = ending.told_in_all(words | {counter.key.rpartition(" ")[2]})
    at = {counter.current, counter.current + 1} if counter.minimum == 0 else {counter.current}
    return most if most in at and counter.advances else None


def _shown(
    track: Track, pick: Pick | None, configured_max: int | None, ending: ClosingLines, beginning: bytes
) -> Progress:
    if pick is None:
        return without_words(track, configured_max, ending, beginning)
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
        eta_seconds=_eta(track, counter),
        percent=track.percent if maximum is None and inner is None and track.percent_line >= counter.last else None,
        finished=finished_by_counters(track, pick._replace(maximum=maximum), ending),
        inner_current=inner.current if inner else None,
        inner_max=inner.maximum if inner else None,
        inner_unit=inner.unit if inner else None,
        current_rounded=counter.rounded and counter.unit != "epoch",
        rule=counter.rule,
    )


def _epoch(track: Track) -> Counter | None:
    found = track.counters.get("epoch")
    return found if found and found.last >= track.started else None


def _eta(track: Track, counter: Counter) -> float | None:
    found = counter.eta
    if found is None and (track.eta_line >= counter.last and not (counter.made and counter.rule == "tqdm")):
        found = track.eta
    return None if track.has_crashed() or (found or 0) > LONGEST_ETA_SECONDS else found
