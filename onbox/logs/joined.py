"""What a counter is after one more line has shown it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.counter import Counter
from onbox.logs.line.words import LONE_UNITS, SELDOM_UNITS
from onbox.logs.loops import names_repetition
from onbox.logs.wrote import line_form, writer
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.logs.line.sights import CounterSight

OF_WORK = LONE_UNITS | SELDOM_UNITS


class ShownBy(NamedTuple):
    """The line that shows it. number: of the line. drawn: it was drawn over another one. epoch: in which it stands.
    ended: number of the last line before that told of an end. most: the maximum that is known of the unit, else 0.
    """

    text: str
    number: int
    drawn: bool
    epoch: float | None
    ended: int
    most: int


def begun_with(sight: CounterSight, line: ShownBy) -> Counter:
    """A counter that was not there before."""
    seen = 1 + line.drawn  # what is drawn over was shown before
    first = Counter(*sight, 0, 0, line.epoch, seen, line.number, line.number, line.number, sight.current)
    return first._replace(writer=writer(line.text), form=line_form(line.text))


def joined(old: Counter, sight: CounterSight, line: ShownBy) -> Counter:
    """The counter as it was, and what the line shows of it."""
    back = sight.current < old.current or (
        sight.elapsed is not None and old.elapsed is not None and sight.elapsed + 1 < old.elapsed
    )
    forward = (
        line.epoch is not None and old.epoch is not None and line.epoch > old.epoch and sight.current > old.current
    )
    changed = line.number if back or sight.current != old.current else old.changed
    maximum = sight.maximum if sight.maximum is not None else old.maximum
    if maximum is not None and sight.current > maximum and not sight.made:
        maximum = None  # it was that of something else
    grows = _grows_along(old, sight)
    if grows:
        maximum = None
    last = old.minimum == sight.current == 0  # `2/3` is the last one from 0 on
    same = old.maximum == sight.maximum or sight.unit not in OF_WORK  # each file has pages of its own
    full = old.maximum is not None and old.current + last >= old.maximum and same and sight.maximum is not None
    of_another_run = sight.unit == "epoch" and None not in (old.maximum, sight.maximum) and old.maximum != sight.maximum
    counts = (
        old.resets + back, old.crossed + (forward and not back), line.epoch, old.seen + 1, old.first, line.number,
        changed, min(old.minimum, sight.current), old.advances + (sight.current > old.current),
        old.repeats + (back and full and line.ended <= old.last and not names_repetition(line.text)),
    )  # fmt: skip
    shown = Counter(*sight, *counts)
    rises = sight.rule in ("table", "percent-fraction") and None is not old.maximum != sight.maximum  # it is no end
    return shown._replace(
        kind="train" if sight.kind == "setting" and _goes_on(old, sight, line) else shown.kind,
        maximum=maximum,
        writer=old.writer,
        apart=old.apart,
        begun=begins_anew(old, sight) + (0 if of_another_run else old.begun),
        stretched=old.stretched
        + 2 * rises
        + (grows or (changed != line.number and None is not old.maximum != maximum)),
        form=line_form(line.text) if changed == line.number else old.form,
        eta=sight.eta if sight.eta is not None or sight.made else old.eta,
        beside_epoch=sight.beside_epoch or old.beside_epoch,
        inner=sight.inner or old.inner,
        made=sight.made or old.made,
        measured=sight.measured or old.measured,
    )


def begins_anew(old: Counter, sight: CounterSight) -> bool:
    """Whether it went back to its beginning, as this line tells it or one that was not believed before."""
    lowest = sight.current if old.lower is None else min(sight.current, old.lower)
    return sight.current < old.current and lowest <= old.minimum


def _goes_on(old: Counter, sight: CounterSight, line: ShownBy) -> bool:
    """Whether what looks like a setting is a counter: its line comes again and again with more, alone."""
    if old.kind != "setting":
        return True
    more = sight.current > old.current and not old.resets and line_form(line.text) == old.form
    begins = old.current <= 1 and sight.current == old.current + 1 <= line.most
    return more and (old.advances > 0 or begins)


def _grows_along(old: Counter, sight: CounterSight) -> bool:
    """`3/3 trials`, then `4/4 trials`: so many there are by now, and not to be."""
    was_full = old.current == old.maximum or (old.maximum is None and old.stretched > 0)
    return was_full and sight.maximum is not None and old.current < sight.current == sight.maximum
