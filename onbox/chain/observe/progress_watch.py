"""How far the running attempt is: its log read on from where the last look ended, at every beat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.contract.progress import NOTHING, render_progress
from onbox.logs.alike import PROBE_BYTES, hardly_alike
from onbox.logs.cursor import look_on
from onbox.model.pace import PaceReading, pace_of, with_eta, with_reading
from onbox.system.clock import monotonic, utc_text, wall
from onbox.system.time_limit import TooLong, time_limit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onbox.contract.progress import Progress
    from onbox.logs.cursor import Cursor, NewBytes
    from onbox.logs.progress import LogReading, ProgressReader

LOOK_SECONDS = 5.0
TOO_MUCH = {"text": "unknown: the log grows faster than it can be read"}
TOO_LONG = {"text": "unknown: the regex of [progress] takes too long on this log"}
LINES_MAX = 400  # of a look: where hardly two lines are alike each costs a closer one, and less of it is read next time
LOOK_BYTES_MIN = 1 << 14
LOOK_BYTES = 3 << 17  # of a log that grew by more since the last look, the newest part is read (and its beginning)


class ProgressWatch:
    """One attempt at a time: `begin`, then `look` as often as wanted. settings: [progress] of the configuration."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._path = ""
        self._cursor: Cursor | None = None
        self._reader: ProgressReader | None = None
        self._gave_up = False
        self._look_bytes = LOOK_BYTES
        self._began: float | None = None
        self._readings: tuple[PaceReading, ...] = ()
        self._pace_told: float | None = None
        self.newest: Progress | None = None  # as of the last look
        self.usual_pace: float | None = None  # by the run's series, where the last readings tell none: a step of hours

    def begin(self, path: str, *, age_seconds: float | None = None) -> None:
        """The log of the attempt that runs, or ran. age_seconds: since it began; None: not known."""
        self._path, self._cursor, self._reader, self._gave_up = path, None, None, False
        self._look_bytes = LOOK_BYTES
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
            seen = look_on(self._path, self._cursor, self._look_bytes)
        except OSError:
            return None
        if seen is None:
            return None
        if self._reader is None or seen.is_fresh:
            self._reader = ProgressReader(ProgressSettings(self._settings.get("regex"), self._settings.get("max")))
        self._cursor = seen.cursor
        pieces = _affordable(seen)
        lines, size = self._reader.track.line, sum(map(len, pieces))
        for number, piece in enumerate(pieces):
            torn = size < sum(map(len, seen.pieces)) + seen.skipped_bytes and number == len(pieces) - 1
            if torn:
                self._reader.leap()
            self._reader.feed(piece[piece.find(b"\n") + 1 :] if torn else piece)
        if size >= LOOK_BYTES_MIN:
            affordable = size * LINES_MAX // max(1, self._reader.track.line - lines)
            self._look_bytes = min(LOOK_BYTES, max(LOOK_BYTES_MIN, affordable))
        return self._told(self._reader.result(), moves=moves)

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


def _affordable(seen: NewBytes) -> tuple[bytes, ...]:
    """The new bytes; of many lines that are hardly alike only the newest, and the log's beginning at the first look."""
    if sum(map(len, seen.pieces)) <= 2 * LOOK_BYTES_MIN or not hardly_alike(seen.pieces[-1][-PROBE_BYTES:]):
        return seen.pieces
    last = seen.pieces[-1][-LOOK_BYTES_MIN:]
    return (seen.pieces[0][:LOOK_BYTES_MIN], last) if seen.is_fresh else (last,)
