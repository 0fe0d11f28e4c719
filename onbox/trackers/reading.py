"""What is known of a run at its tracker."""

from __future__ import annotations

from typing import NamedTuple


class TrackerRun(NamedTuple):
    """A run as its tracker tells of it; None in a field: the tracker does not say.

    run_id: the tracker's own. name: as people see it. state: running, finished, failed, crashed, killed or pending.
    step: the newest of `global_step` where the run logs one, else of the tracker's own counter of log calls (the two
    may differ by one); own_step tells which. last_at_seconds: when its newest point was logged, since the epoch.
    """

    tracker: str
    run_id: str | None = None
    name: str | None = None
    project: str | None = None
    state: str | None = None
    step: float | None = None
    own_step: bool = False
    last_at_seconds: float | None = None
