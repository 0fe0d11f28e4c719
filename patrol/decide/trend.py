"""What the numbers of several ticks say: when a disk is full, how fast a run is, whether it flaps. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from onbox.collectors.trend import seconds_until_empty
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patrol.memory.history import BoxBefore
    from patrol.snapshot import DiskLook

FLAP_WINDOW = 21  # ticks: as Nagios counts (xdata "flapping", MAX_STATE_HISTORY_ENTRIES)
TREND_CADENCES = 12  # a trend looks back so many ticks, at least an hour
TREND_POINTS = 5  # fewer may be the falling half of checkpoints that are written and pruned
GAPS = 3  # between artifacts, before one can be late
_FLAP_LIGHTEST, _FLAP_HEAVIEST = 0.8, 1.2


BORNE_SPANS = 4  # so many times what was looked at is near enough to wake somebody for: an hour needs a quarter of one


class Full(NamedTuple):
    """what: "bytes" or "inodes" of a mount, used up in so many seconds, if it goes on as it did in seen_seconds."""

    mount: str
    what: str
    seconds: float
    seen_seconds: float

    @property
    def is_borne(self) -> bool:
        """Whether it was looked at for long enough for what it foretells: a dataset that is unpacked, or a checkpoint
        that is written, falls as steeply for minutes, and then no more.
        """
        return self.seconds <= BORNE_SPANS * self.seen_seconds


def soon_full(disks: Sequence[DiskLook], before: BoxBefore, now: float, cadence_seconds: float) -> tuple[Full, ...]:
    """The file systems that will be full, if it goes on as it did in the last ticks, the first one first."""
    found: list[Full] = []
    window = max(3600.0, TREND_CADENCES * cadence_seconds)
    for disk in disks:
        past = [point for point in before.disks if point[1] == disk.mount and point[0] < now]
        free: list[tuple[str, list[tuple[float, float]]]] = [
            ("bytes", [*((at, float(bytes_free)) for at, _, bytes_free, _ in past), (now, float(disk.bytes_free))])
        ]
        if isinstance(disk.inodes_free, int):
            inodes = [(at, float(left)) for at, _, _, left in past if left is not None]
            free.append(("inodes", [*inodes, (now, float(disk.inodes_free))]))
        for what, points in free:
            recent = [point for point in points if point[0] >= now - window]
            left = seconds_until_empty(recent, window_seconds=window)
            if left is not None and len(recent) >= TREND_POINTS:
                found.append(Full(disk.mount, what, left, now - recent[0][0]))
    return tuple(sorted(found, key=lambda full: full.seconds))


def slow_rate(rates: Sequence[float], *, baseline_ticks: int, slow_ticks: int, slow_percent: float) -> float | None:
    """The baseline (steps per second) that the last `slow_ticks` rates are all more than `slow_percent` below.

    None: they are not, or there is no baseline yet: the median of all rates before them, `baseline_ticks` at least.
    """
    earlier, last = rates[:-slow_ticks], rates[-slow_ticks:]
    if len(earlier) < baseline_ticks or len(last) < slow_ticks:
        return None
    baseline = _median(earlier)
    return baseline if baseline > 0 and all(rate < baseline * (1 - slow_percent / 100) for rate in last) else None


def risen_loss(losses: Sequence[float], *, baseline_ticks: int, loss_ticks: int, loss_percent: float) -> float | None:
    """The baseline that the last `loss_ticks` losses are all more than `loss_percent` above.

    The baseline is the median of the `baseline_ticks` losses before them: what they came down from does not count.
    None: they are not, there is no baseline yet, or it is not above zero, where a share of it means nothing.
    """
    earlier, last = losses[:-loss_ticks][-baseline_ticks:], losses[-loss_ticks:]
    if len(earlier) < baseline_ticks or len(last) < loss_ticks:
        return None
    baseline = _median(earlier)
    return baseline if baseline > 0 and all(loss > baseline * (1 + loss_percent / 100) for loss in last) else None


def longest_gap(gaps: Sequence[float], cadence_seconds: float) -> float | None:
    """The longest time between artifacts, in seconds; at least a cadence: looks cannot tell it finer.

    None: fewer than GAPS of them were seen.
    """
    return max(*gaps, cadence_seconds) if len(gaps) >= GAPS else None


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def flap_percent(ill: Sequence[bool]) -> float:
    """The weighted share of changes between well and ill in the last 21 ticks, newest last; recent ones weigh more."""
    window = ill[-FLAP_WINDOW:]
    changes = FLAP_WINDOW - 1
    step = (_FLAP_HEAVIEST - _FLAP_LIGHTEST) / (changes - 1)
    pairs = list(pairwise(window))
    first = changes - len(pairs)
    weighted = sum(_FLAP_LIGHTEST + step * (first + at) for at, (one, other) in enumerate(pairs) if one != other)
    return 100.0 * weighted / changes
