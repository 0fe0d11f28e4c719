"""When a viewer without a terminal says how far the run is: a log of CI or ssh is neither silent for hours nor flooded.
Pure.
"""

from __future__ import annotations

FIRST_SECONDS = 15.0  # what is over by then needs no word between its beginning and its end
LEAST_SECONDS = 60.0
MOST_SECONDS = 1800.0
SHARE_OF_ELAPSED = 20  # the longer it runs, the rarer: a twentieth of the time that it has run
STEP_PERCENT = 5.0
STEP_SECONDS = 10.0  # between two lines, however fast it goes


class ProgressPace:
    """One line 15 s after the beginning; then one a minute at first, one in half an hour at last, and one for each 5 %.
    All times are by one clock.
    """

    def __init__(self, now: float) -> None:
        self.began, self.said_at, self.said_percent = now, now, 0.0
        self.stage = ""

    def is_due(self, now: float, stage: str, percent: float | None) -> bool:
        """Whether to say it now. percent: None: not known. A stage that has just begun is new."""
        if stage != self.stage:
            self.began, self.said_at, self.said_percent, self.stage = now, now, percent or 0.0, stage
            return False
        waited = now - self.said_at
        stepped = percent is not None and percent - self.said_percent >= STEP_PERCENT and self.said_at > self.began
        return waited >= (min(STEP_SECONDS, self.pause(now)) if stepped else self.pause(now))

    def said(self, now: float, percent: float | None) -> None:
        self.said_at, self.said_percent = now, percent if percent is not None else self.said_percent

    def pause(self, now: float) -> float:
        """From the last line to the next one, where it goes slowly."""
        if self.said_at <= self.began:
            return FIRST_SECONDS
        return min(MOST_SECONDS, max(LEAST_SECONDS, (now - self.began) / SHARE_OF_ELAPSED))
