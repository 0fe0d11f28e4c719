"""How far the running attempt is: its log read on from where the last look ended, at every beat.

Of a log that grows fast not every line is read: `onbox.logs.skim` decides which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.progress import NOTHING, render_progress
from onbox.logs.cursor import look_on
from onbox.logs.skim import FIRST, budget_after
from onbox.model.pace import PaceReading, pace_of, with_eta, with_reading
from onbox.system.clock import monotonic, utc_text, wall
from onbox.system.time_limit import TooLong, time_limit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.progress import Progress
    from onbox.logs.cursor import Cursor
    from onbox.logs.progress import LogReading, ProgressReader
    from onbox.logs.skim import Budget

LOOK_SECONDS = 5.0
TOO_MUCH = {"text": "unknown: the log grows faster than it can be read"}
TOO_LONG = {"text": "unknown: the regex of [progress] takes too long on this log"}


class ProgressWatch:
    """One attempt at a time: `begin`, then `look` as often as wanted. settings: [progress] of the configuration."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._path = ""
        self._cursor: Cursor | None = None
        self._reader: ProgressReader | None = None
        self._gave_up = False
        self._looked_at: float | None = None
        self._began: float | None = None
        self._readings: tuple[PaceReading, ...] = ()
        self._pace_told: float | None = None
        self.newest: Progress | None = None  # as of the last look
        self.usual_pace: float | None = None  # by the run's series, where the last readings tell none: a step of hours

    def begin(self, path: str, *, age_seconds: float | None = None) -> None:
        """The log of the attempt that runs, or ran. age_seconds: since it began; None: not known."""
        self._path, self._cursor, self._reader, self._gave_up = path, None, None, False
        self._looked_at = None
        self._began = None if age_seconds is None else monotonic() - age_seconds
        self._readings, self._pace_told = (), None
        self.newest = self.usual_pace = None

    def recall(self, at: float, current: float, pace: float | None) -> None:
        """What somebody else read of this log, at a time of `monotonic`; their pace is taken over."""
        self._readings, self._pace_told = (PaceReading(at, current),), pace

    @property
    def has_looked(self) -> bool:
        return self._reader is not None

    @property
    def links(self) -> dict[str, Any]:
        """What the log has told of a run at a tracker, as of the last look."""
        return {} if self._reader is None else self._reader.links()

    @property
    def readings(self) -> dict[str, LogReading]:
        """Loss, learning rate, grad norm and metric, as of the last look."""
        return {} if self._reader is None else self._reader.readings()

    def look(self, *, moves: bool = True) -> dict[str, Any] | None:
        """How far it is now, for status and marker; None where the log shows nothing of it or cannot be read.

        moves: False once it has ended: then no time is left.
        """
        if self._gave_up:
            return dict(TOO_LONG)
        try:
            with time_limit(LOOK_SECONDS):
                return self._look(moves=moves)
        except TooLong:
            if not self._settings.get("regex"):
                return dict(TOO_MUCH)  # the next look goes on behind it
            self._gave_up = True
            return dict(TOO_LONG)

    def _look(self, *, moves: bool) -> dict[str, Any] | None:
        from onbox.logs.progress import ProgressReader, ProgressSettings  # noqa: PLC0415 - 8 ms before the first stage

        try:
            seen = look_on(self._path, self._cursor, self._budget(moves=moves))
        except OSError:
            return None
        if seen is None:
            return None
        if self._reader is None or seen.is_fresh:
            self._reader = ProgressReader(ProgressSettings(self._settings.get("regex"), self._settings.get("max")))
        self._cursor, read_to = seen.cursor, 0 if self._cursor is None or seen.is_fresh else self._cursor.offset
        for stretch in seen.stretches:
            if stretch.start > read_to:
                self._reader.leap()
            self._reader.feed(stretch.data)
            read_to = stretch.end
        return self._told(self._reader.result(), moves=moves)

    def _budget(self, *, moves: bool) -> Budget:
        """The last look at an attempt may cost as much as the first."""
        before, self._looked_at = self._looked_at, monotonic()
        budget = FIRST if before is None or not moves else budget_after(self._looked_at - before)
        return budget._replace(each=bool(self._settings.get("regex")))

    def _told(self, progress: Progress, *, moves: bool) -> dict[str, Any] | None:
        self.newest, now = progress, monotonic()
        if progress.current is not None:
            self._readings = with_reading(self._readings, PaceReading(now, progress.current))
            self._pace_told = self._pace_told if len(self._readings) > 1 else None  # of another counter
        pace = self._pace_told or pace_of(self._readings)
        if pace is None and progress.eta_seconds is None:
            pace = self.usual_pace
        age = None if self._began is None else now - self._began
        progress = with_eta(progress, pace, moves=moves, attempt_seconds=age)
        text = render_progress(progress)
        known = {key: value for key, value in progress._asdict().items() if value is not None and value is not False}
        if text == NOTHING and not known.keys() - {"rule"}:
            return None
        told = {"text": text, "at": utc_text(wall()), **known}
        return told if pace is None else {**told, "steps_per_second": round(pace, 6)}
