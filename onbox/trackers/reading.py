"""What is known of a run at its tracker."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class TrackerRun(NamedTuple):
    """A run as its tracker tells of it; None in a field: the tracker does not say.

    run_id: the tracker's own. name: as people see it. state: running, finished, failed, crashed, killed or pending.
    step: the newest of `global_step` where the run logs one, else of the tracker's own counter of log calls (the two
    may differ by one); own_step tells which. last_at_seconds: when its newest point was logged, since the epoch. loss:
    the newest training loss; `"nan"` or `"inf"` if it is none. has_summary: whether the tracker holds last values of
    its metrics.
    """

    tracker: str
    run_id: str | None = None
    name: str | None = None
    project: str | None = None
    state: str | None = None
    step: float | None = None
    own_step: bool = False
    last_at_seconds: float | None = None
    loss: float | str | None = None
    has_summary: bool | None = None


LOSSES = ("loss", "train/loss", "train_loss", "train/train_loss")
LOSS_PLACE = 3  # of `loss`, counted from `step`
LOST = ("nan", "inf", "-inf", "infinity", "-infinity")
ENDED = frozenset({"finished", "failed", "crashed", "killed"})


def number(value: object) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def loss_of(metrics: Mapping[str, Any]) -> float | str | None:
    """The first of the usual names of a training loss: a number, or `"nan"`, `"inf"` for one that is none (W&B writes
    these as texts); None where none is logged.
    """
    for key in LOSSES:
        value = metrics.get(key)
        found = number(value)
        if found is not None:
            return found
        if str(value).lower() in LOST:
            return str(value).lower()
    return None


def run_from_list(data: object) -> TrackerRun | None:
    """The inverse; None for anything else: it was not kept, or by another version."""
    if not isinstance(data, list | tuple) or not 0 < len(data) <= len(TrackerRun._fields):
        return None
    # The loss alone may be a text among the numbers.
    texts = all(one is None or isinstance(one, str) for one in data[:5])
    rest = all(one is None or isinstance(one, int | float) for at, one in enumerate(data[5:]) if at != LOSS_PLACE)
    return TrackerRun(*data) if texts and rest and isinstance(data[0], str) else None
