"""What is known of a run at its tracker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class TrackerRun(NamedTuple):
    """A run as its tracker tells of it; None in a field: the tracker does not say.

    run_id: the tracker's own. name: as people see it. state: running, finished, failed, crashed, killed or pending.
    step: the newest of `global_step` where the run logs one, else of the tracker's own counter of log calls (the two
    may differ by one); own_step tells which. last_at_seconds: when its newest point was logged, since the epoch. loss:
    the newest training loss, which may be no number. has_summary: whether the tracker holds last values of its metrics.
    """

    tracker: str
    run_id: str | None = None
    name: str | None = None
    project: str | None = None
    state: str | None = None
    step: float | None = None
    own_step: bool = False
    last_at_seconds: float | None = None
    loss: float | None = None
    has_summary: bool | None = None


LOSSES = ("loss", "train/loss", "train_loss", "train/train_loss")
ENDED = frozenset({"finished", "failed", "crashed", "killed"})


def number(value: object) -> float | None:
    """A metric's value as a number; W&B writes those that are none as texts (`"NaN"`). None: it is no number at all."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float) or value in ("NaN", "Infinity", "-Infinity"):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def loss_of(metrics: Mapping[str, Any]) -> float | None:
    """The first of the usual names of a training loss; None where none is logged."""
    return next((found for key in LOSSES if (found := number(metrics.get(key))) is not None), None)


def run_to_list(run: TrackerRun) -> list[Any]:
    """As it is kept between two looks."""
    return list(run)


def run_from_list(data: object) -> TrackerRun | None:
    """The inverse; None for anything else: it was not kept, or by another version."""
    if not isinstance(data, list | tuple) or not 0 < len(data) <= len(TrackerRun._fields):
        return None
    texts = all(one is None or isinstance(one, str) for one in data[:5])
    rest = all(one is None or isinstance(one, int | float) for one in data[5:])
    return TrackerRun(*data) if texts and rest and isinstance(data[0], str) else None
