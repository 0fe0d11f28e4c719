"""How two counters of a log stand to each other: which counts inside which. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.picking.grounds import LOOKS
from onbox.logs.judge.picking.headings import heads_its_bar
from onbox.logs.line.words import INNER_UNITS, STEP_UNITS
from onbox.logs.loops import NEARLY

if TYPE_CHECKING:
    from onbox.logs.counter import Counter

HEADING_LINES = 2  # from the heading of an epoch to its bar
UNSEEN = 3  # one of so many may stand in what is not read
EPOCHS_FOR_EACH = 2  # time that a bar was begun: it is of more than one
A_TENTH = 0.1  # of an epoch
LARGE = 20_000  # steps that an epoch seldom has, but a whole run often


def is_inner(counter: Counter, epoch: Counter | None, others: list[Counter]) -> bool:
    """Whether a counter counts inside an epoch (or inside another bar), not the whole run."""
    if (
        counter.resets
        and counter.maximum is not None
        and any(
            not other.resets and other.maximum and (is_under_way(other) or other.last > counter.last)
            for other in others
        )
    ):
        return True
    if any(
        _is_global(other, counter) or _was_begun_in(other, counter) or _is_full_in_each(counter, other)
        for other in others
    ):
        return True
    if epoch is None or _counts_epochs(counter, epoch) or _is_told_behind_each(counter, epoch):
        return False
    began_again = counter.resets and not _began_again_with(epoch, counter) and not _is_seldom_begun(epoch, counter)
    inside = counter.inner or heads_its_bar(epoch, [counter])
    if inside or (began_again and (epoch.advances or not isinstance(epoch.current, float))):
        return True
    whole = float(epoch.minimum).is_integer()  # 2.9 is another view of the same run
    if counter.minimum == counter.maximum and whole and epoch.minimum < epoch.current and epoch.changed > counter.first:
        return True  # a bar that was full at once, and epochs went on: it comes with each of them
    if counter.maximum is None:
        return counter.unit == "batch"
    if counter.crossed:
        return False
    if counter.made and _comes_with_each(counter, epoch, whole=whole):
        return True
    if counter.unit in INNER_UNITS or (whole and _begins_right_behind(counter, epoch)):
        return True
    if counter.elapsed is not None and epoch.elapsed is not None and counter.elapsed < 0.9 * epoch.elapsed:
        return True  # it began after the epochs did
    if counter.beside_epoch and float(epoch.current).is_integer():
        # On one line, `Epoch 3, step 100/600`: inside the epoch, if nothing speaks for the whole run.
        return not (
            counter.key.startswith("global")
            or counter.unit == "update"
            or (not counter.made and counter.maximum >= LARGE)
        )
    return epoch.maximum is not None and not _agrees(counter, epoch)


def _counts_epochs(bar: Counter, epoch: Counter) -> bool:
    """`Epoch 148, loss 0.4: 30%| 149/500`: a bar that names the epoch it is at, and goes on as the epochs do."""
    together = bar.current - epoch.current in (0, 1) and bar.advances >= epoch.advances > 0
    return bar.made and together and not (bar.resets or epoch.resets)


def _is_told_behind_each(counter: Counter, epoch: Counter) -> bool:
    """`Episode 2/90 finished` behind the epochs of each episode: what goes on once where these begin again."""
    through = counter.maximum is not None and not counter.resets and not counter.made and counter.advances >= LOOKS
    seen = max(1, counter.advances // UNSEEN)  # of a long log, parts are read
    return through and counter.first > epoch.first and abs(epoch.resets - counter.advances) <= seen


def _began_again_with(epoch: Counter, counter: Counter) -> bool:
    """Whether the epochs began again as well, and went on while this did not: the whole run was started once more."""
    return epoch.resets >= counter.resets and counter.crossed > counter.resets


def _is_seldom_begun(epoch: Counter, counter: Counter) -> bool:
    """Whether a bar began again less often than the epochs beside it, told as fractions, came to their ends; or never
    from its own end, and is elsewhere than the epoch: the run was resumed.
    """
    if not counter.made or not isinstance(epoch.current, float):
        return False
    passed = epoch.current - epoch.minimum
    if passed >= EPOCHS_FOR_EACH * (counter.resets + 1):
        return True
    apart = abs(epoch.current % 1 - counter.current / (counter.maximum or counter.current or 1))
    return not counter.repeats and (passed > counter.resets or A_TENTH < apart < 1 - A_TENTH)


def _closes_all(bar: Counter, epoch: Counter) -> bool:
    """Whether a bar was drawn full behind the last of as many epochs: Rich draws it there alone, where it writes to no
    terminal.
    """
    full = bar.made and bar.minimum == bar.current == bar.maximum and bar.first > epoch.changed
    return full and epoch.advances > 1 and bar.maximum == epoch.current + (epoch.minimum == 0)


def _comes_with_each(counter: Counter, epoch: Counter, *, whole: bool) -> bool:
    """Whether a bar is drawn anew for each epoch: it was only ever seen at its beginning, or came when epochs were
    under way.
    """
    if _closes_all(counter, epoch) or (0 < epoch.resets <= counter.advances and not counter.resets):
        return False  # the epochs are of each of what it counts
    stands = not counter.advances and counter.seen >= max(LOOKS, epoch.advances)
    return stands or (whole and epoch.seen > 1 and epoch.first < counter.first and epoch.measured)


def _begins_right_behind(counter: Counter, epoch: Counter) -> bool:
    """Whether a bar was begun right after a heading `Epoch 1/3`: it is that epoch's."""
    heading = epoch.rule.startswith("labelled") and not epoch.made
    return heading and counter.rule == "tqdm" and 0 < counter.first - epoch.first <= HEADING_LINES


def _was_begun_in(other: Counter, counter: Counter) -> bool:
    """Whether a bar came, and was full, while another counter that had gone on stayed open: a file of many."""
    began = counter.made and counter.maximum is not None and counter.current >= counter.maximum
    return began and is_open(other) and other.current > other.minimum and other.first < counter.first


def _is_full_in_each(counter: Counter, other: Counter) -> bool:
    """Whether a bar was full at each look, and another counter went on between: `prompt 3/90`, then 4/4."""
    full = counter.made and counter.minimum == counter.current == counter.maximum and counter.seen >= LOOKS
    return full and other.maximum is not None and other.advances >= counter.seen - 1 and not other.resets


def _is_global(other: Counter, counter: Counter) -> bool:
    """Whether another counter tells how far the whole run is, where this one tells how far its part is."""
    if counter.maximum is None or other.made or other.unit not in STEP_UNITS or other.current <= counter.maximum:
        return False
    if counter.advances >= LOOKS and not counter.resets and other.minimum <= counter.maximum:
        return False  # it went by, and this one did not begin again
    if stands_beside(counter, other):
        return False
    return counter.inner or (other.key.startswith("global") and other.unit == counter.unit)


def stands_beside(counter: Counter, other: Counter) -> bool:
    """`[2/3] global_step=140`, on each line: it stands while the other goes on, so that one is inside it."""
    together = (counter.first, counter.seen, counter.last) == (other.first, other.seen, other.last)
    return together and not counter.resets and not other.resets and counter.advances < other.advances


def is_open(counter: Counter) -> bool:
    return counter.maximum is not None and counter.current < counter.maximum


def is_under_way(counter: Counter) -> bool:
    """Open, and not by a last redrawing that was never made."""
    return counter.maximum is not None and counter.current < NEARLY * counter.maximum


def _agrees(counter: Counter, epoch: Counter) -> bool:
    """Whether step and epoch can be two views of one run: 1880/2400 in epoch 8/10 can, 1/75 in epoch 4/50 cannot."""
    assert counter.maximum
    assert epoch.maximum
    share = counter.current / counter.maximum
    return (epoch.current - 1.05) / epoch.maximum <= share <= (epoch.current + 1.05) / epoch.maximum and (
        counter.maximum > epoch.maximum
    )
