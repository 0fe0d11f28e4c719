"""Where no terminal shows it all the time: now and then a line that says how far the run is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from onbox.chain.viewer.event_text import progress_line
from onbox.chain.viewer.progress_pace import ProgressPace
from onbox.contract.progress import percent_of
from onbox.model.units import format_duration
from onbox.system.clock import monotonic, parse_utc, wall

if TYPE_CHECKING:
    from collections.abc import Callable

SAID_STATES = ("running", "stalled", "waiting")


class ProgressLines:
    """Of one run, at the pace of `ProgressPace`."""

    def __init__(self) -> None:
        self._pace = ProgressPace(monotonic())

    def due(self, status: dict[str, Any]) -> str | None:
        """The line, when it is time for one."""
        if status.get("stage_state") not in SAID_STATES:
            return None
        progress, now = status.get("progress"), monotonic()
        percent = percent_of(progress) if isinstance(progress, dict) else None
        if not self._pace.is_due(now, str(status.get("stage")), percent):
            return None
        self._pace.said(now, percent)
        return progress_line(with_elapsed(status), time.strftime("%H:%M:%S", time.gmtime()))


def with_elapsed(status: dict[str, Any]) -> dict[str, Any]:
    """With how long the attempt has run, in words."""
    began = parse_utc(str(status.get("attempt_began_at", "")))
    return status if began is None else {**status, "elapsed": format_duration(max(0.0, wall() - began))}


def beats(say: Callable[[str | None], None]) -> Callable[[dict[str, Any]], None]:
    """What says such lines of a runner's own heartbeats."""
    lines = ProgressLines()
    return lambda status: say(lines.due(status))
