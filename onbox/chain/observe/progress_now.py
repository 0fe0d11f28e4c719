"""How far a run is at this moment, for whoever looks at it: the log itself is read, not the heartbeat's word on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.chain.observe.progress_watch import ProgressWatch
from onbox.contract.json_text import as_number
from onbox.system.clock import monotonic, parse_utc, wall

if TYPE_CHECKING:
    from collections.abc import Mapping


class ProgressNow:
    """settings: [progress] of the run's definition."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._watch = ProgressWatch(settings)
        self._log = ""

    def look(self, log: str, status: Mapping[str, Any], *, moves: bool) -> dict[str, Any] | None:
        """As `ProgressWatch.look`, of this log. status: the heartbeat; its own reading tells the pace at first."""
        if log != self._log:
            self._log = log
            self._begin(log, status)
        return self._watch.look(moves=moves)

    @property
    def links(self) -> dict[str, Any]:
        """What the log has told of a run at a tracker."""
        return self._watch.links

    def _begin(self, log: str, status: Mapping[str, Any]) -> None:
        began = parse_utc(str(status.get("attempt_began_at") or ""))
        self._watch.begin(log, age_seconds=None if began is None else max(0.0, wall() - began))
        told = status.get("progress")
        if not isinstance(told, dict) or status.get("log") != log:
            return
        at, current = parse_utc(str(told.get("at") or "")), as_number(told.get("current"))
        if at is not None and current is not None:
            pace = as_number(told.get("steps_per_second"))
            self._watch.recall(monotonic() - max(0.0, wall() - at), current, pace)
