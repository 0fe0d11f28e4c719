"""The detectors over the running attempt: which episodes there are, what is journaled when one begins or ends.

Nothing here stops anything: the runner asks `must_stop` where a person has written that into onbox.toml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.chain.state.read_status import read_status
from onbox.contract.events import Event
from onbox.contract.json_text import as_number
from onbox.model.detect import STOP, DetectSettings
from onbox.named_tuple import NamedTuple
from onbox.series.detectors.course import Course, Detection
from onbox.series.detectors.table import DETECTORS, look
from onbox.series.file import read_points
from onbox.system.clock import parse_utc, utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.chain.observe.resume_pairs import ResumePairs
    from onbox.contract.paths import RunPaths
    from onbox.series.point import Point

DIVERGED = frozenset({"loss-not-finite", "loss-risen", "grad-norm-risen"})
KEPT = 600  # points in memory; older ones are thinned
FINE = 300


class DetectedAttempt(NamedTuple):
    """resumed: it goes on from what an earlier attempt left. adopted: an earlier runner has watched it. pairs: None
    where there is nothing to compare with.
    """

    stage: str
    number: int
    resumed: bool = False
    adopted: bool = False
    pairs: ResumePairs | None = None


class MustStop(NamedTuple):
    """cause: as `Ended.cause`."""

    cause: str
    why: str


class DetectWatch:
    """One attempt at a time: `begin`, then `look` with every new point."""

    def __init__(self, paths: RunPaths, settings: DetectSettings) -> None:
        self._paths, self.settings = paths, settings
        self._attempt = DetectedAttempt("", 0)
        self._points: list[Point] = []
        self._open: dict[str, Detection] = {}

    def begin(self, attempt: DetectedAttempt) -> None:
        """An attempt runs from now on, or is adopted: then its episodes go on. One that is new has no past to read."""
        self._attempt, self._open, self._points = attempt, {}, []
        if attempt.resumed or attempt.adopted:
            self._recall(attempt)

    def _recall(self, attempt: DetectedAttempt) -> None:
        try:
            points = read_points(self._paths.series, attempt.stage)
        except OSError:
            points = []
        self._points = [one for one in points if attempt.resumed or one.attempt == attempt.number]
        status = read_status(self._paths) or {}
        if (status.get("stage"), status.get("attempt")) == (attempt.stage, attempt.number):
            self._open = {name: found for name, found in _told(status.get("detected")) if name in self._names()}

    @property
    def points(self) -> list[Point]:
        """Those of the stage that are known, oldest first."""
        return self._points

    def look(self, point: Point) -> list[dict[str, Any]]:
        """Records of episodes that begin or end with this point."""
        self._points = _with_point(self._points, point)
        pairs = self._attempt.pairs
        if pairs is not None and not pairs.is_over:
            pairs.look()
        course = Course(self._points, self.settings, pairs.pairs if pairs else (), self._attempt.resumed)
        before, self._open = self._open, look(course, self._open)
        records: list[dict[str, Any]] = []
        for name in self._names():
            if name in self._open and name not in before:
                told = {"reason": self._open[name].proof, "remedy": DETECTORS[name].remedy}
                records.append({"event": Event.DETECTED, "detector": name, "what": DETECTORS[name].words, **told})
            if name in before and name not in self._open:
                told = {"reason": f"no longer: {before[name].proof}"}
                records.append({"event": Event.DETECTED_OVER, "detector": name, "what": DETECTORS[name].words, **told})
        return records

    def must_stop(self) -> MustStop | None:
        """Why the attempt is to be ended, by `on_detect = "stop"`; None: it is not."""
        for name, found in self._open.items():
            if self.settings.answer(name) == STOP:
                return MustStop("diverged" if name in DIVERGED else "detected", f"{name}: {found.proof}")
        return None

    def as_data(self) -> list[dict[str, Any]]:
        """The episodes, for status.json."""
        return [
            {
                "detector": name,
                "what": DETECTORS[name].words,
                "proof": found.proof,
                "since": utc_text(found.at),
                "step": found.step,
                "baseline": found.baseline,
                "remedy": DETECTORS[name].remedy,
            }
            for name, found in self._open.items()
        ]

    @staticmethod
    def _names() -> Iterable[str]:
        return DETECTORS


def _told(detected: object) -> Iterable[tuple[str, Detection]]:
    """The episodes that a runner before this one left in the status."""
    for one in detected if isinstance(detected, list) else ():
        if isinstance(one, dict) and isinstance(one.get("detector"), str):
            at = parse_utc(str(one.get("since"))) or 0.0
            step, baseline = as_number(one.get("step")), as_number(one.get("baseline"))
            yield one["detector"], Detection(str(one.get("proof")), at, step, baseline)


def _with_point(points: list[Point], point: Point) -> list[Point]:
    """The points with one more. Of too many, every other of the older ones goes, those with a reading last."""
    points.append(point)
    if len(points) <= KEPT:
        return points
    older, newer = points[:-FINE], points[-FINE:]
    kept = [one for index, one in enumerate(older) if index % 2 == 0 or one.loss is not None or one.checkpoint_step]
    return (older[::2] if len(kept) > KEPT - FINE - FINE // 4 else kept) + newer
