"""What one line of a log shows: its counters, and what stands beside them. Pure."""

from __future__ import annotations

from onbox.named_tuple import NamedTuple


class CounterSight(NamedTuple):
    """A counter on one line. kind: `train`, `val`, `aux`, `done`: how many things are done, without a maximum, or
    `declared`: of a configuration, never a count. maximum: None if not shown, or shown rounded. beside_epoch: an epoch
    stands on the same line. made: a display made for progress (a bar), not words of a log line. eta, elapsed: seconds,
    of this counter, None if not shown. measured: a loss or another number with a name stands beside it.
    """

    key: str
    unit: str
    kind: str
    current: int | float
    maximum: int | None
    rounded: bool
    rule: str
    eta: float | None = None
    elapsed: float | None = None
    beside_epoch: bool = False
    made: bool = False
    inner: bool = False
    measured: bool = False


class SeenOnLine(NamedTuple):
    """What one line shows. maxima: exact maxima by unit. loss: None if it shows no training loss. eta: in words of the
    line, not of a bar. percent: where only that is shown. announced: how many things are to be worked on, if that is
    said before the first of them is done.
    """

    sights: tuple[CounterSight, ...] = ()
    maxima: tuple[tuple[str, int], ...] = ()
    loss: float | str | None = None
    eta: float | None = None
    percent: float | None = None
    announced: tuple[tuple[str, int], ...] = ()
