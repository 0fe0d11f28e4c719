"""The run's series as the runner keeps it: one point at every beat, of what log, box and disk showed then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.chain.observe.checkpoint_watch import CheckpointWatch
from onbox.chain.observe.sample_file import SampleFile
from onbox.series.file import LIMIT_BYTES
from onbox.series.point import Point, as_reading, point_to_dict
from onbox.system.clock import wall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onbox.chain.observe.progress_watch import ProgressWatch
    from onbox.contract.paths import RunPaths
    from onbox.contract.progress import Progress
    from onbox.model.manifest import Stage

MOVES = 20
LEAST_LAP_SECONDS = 0.05  # what is written closer together tells no pace
DEAR = (b'"loss"', b'"metric"', b'"checkpoint_step"')  # points with a reading outlive the others


class SeriesWatch:
    """One attempt at a time: `begin`, then `take` at every beat. Nothing of it is needed by the run: what cannot be
    written is left out, and counted in `missed`.
    """

    def __init__(self, paths: RunPaths) -> None:
        self._file = SampleFile(paths.series, LIMIT_BYTES, DEAR)
        self._stage, self._attempt = "", 0
        self._lap = Lap()
        self._checkpoints: CheckpointWatch | None = None
        self._moves: list[tuple[float, float]] = []  # of the outermost counter: its newest values, and when they came
        self._places: dict[str, int] = {}  # of the log, where each reading was seen last

    @property
    def missed(self) -> int:
        return self._file.missed

    def begin(self, stage: Stage, project: str, attempt: int, points: Iterable[Point] = ()) -> None:
        """An attempt runs from now on. points: that an earlier runner took of it."""
        self._stage, self._attempt = stage.name, attempt
        self._lap, self._places, self._moves = Lap(), {}, []
        for point in points:
            if point.attempt == attempt:
                self._moved(point.step, point.log_at or point.at)
        self._checkpoints = CheckpointWatch(stage, project)

    def take(
        self,
        progress: ProgressWatch,
        *,
        log_path: str,
        resources: Mapping[str, Any] | None = None,
        artifact_ns: int | None = None,
    ) -> Point:
        """A point of now. resources: the newest sample. artifact_ns: when the newest artifact was written."""
        now, seen = wall(), progress.newest
        log_at, log_bytes = _log(log_path)
        point = Point(
            now,
            self._stage,
            self._attempt,
            step=None if seen is None else seen.current,
            unit=None if seen is None else seen.unit,
            steps_per_second=None if seen is None else self._lap.pace(_counted(seen), log_at or now, now),
            log_at=log_at,
            log_bytes=log_bytes,
            artifact_at=None if artifact_ns is None else artifact_ns / 1e9,
            **self._shown(progress),
            **self._complete(),
            **_used(resources or {}),
        )
        self._file.append(point_to_dict(point))
        self._moved(point.step, log_at or now)
        return point

    def _moved(self, step: float | None, at: float) -> None:
        if step is None or (self._moves and step == self._moves[-1][0]):
            return
        if self._moves and step < self._moves[-1][0]:
            self._moves = []
        self._moves = [*self._moves[1 - MOVES :], (step, at)]

    @property
    def pace(self) -> float | None:
        """Steps per second of the outermost counter over its last moves, which may be hours apart; None: not known."""
        if len(self._moves) < 2:
            return None
        (first, began), (last, ended) = self._moves[0], self._moves[-1]
        return (last - first) / (ended - began) if ended > began else None

    def _complete(self) -> dict[str, Any]:
        found = None if self._checkpoints is None else self._checkpoints.look()
        if found is None:
            return {}
        return {"checkpoint_step": found.step, "checkpoint_at": found.at, "checkpoints": found.checkpoints}

    def _shown(self, progress: ProgressWatch) -> dict[str, Any]:
        """The readings that the log has shown since the point before."""
        found: dict[str, Any] = {}
        for name, reading in progress.readings.items():
            if self._places.get(name) == reading.place:
                continue
            self._places[name] = reading.place
            found[name] = as_reading(reading.value)
            if name == "metric":
                found["metric_name"] = reading.called
        return found


class Lap:
    """How fast a counter moves, from one of its moves to the next."""

    def __init__(self) -> None:
        self._count: float | None = None
        self._written_at = self._seen_at = 0.0

    def pace(self, count: float | None, written_at: float, now: float) -> float | None:
        """Steps per second since it last moved; None where it has not. written_at: when the log was last written to,
        which is nearer to the step than the look at it.
        """
        if count is None or count == self._count:
            return None
        before, seconds = self._count, written_at - self._written_at
        if seconds < LEAST_LAP_SECONDS:
            seconds = now - self._seen_at
        self._count, self._written_at, self._seen_at = count, written_at, now
        if before is None or count < before or seconds < LEAST_LAP_SECONDS:
            return None
        return (count - before) / seconds


def _counted(seen: Progress) -> float | None:
    """The inner counter's steps, where there is one: an epoch may take hours."""
    if seen.current is None or seen.inner_current is None or not seen.inner_max:
        return seen.current
    return seen.current * seen.inner_max + seen.inner_current


def _log(path: str) -> tuple[float | None, int | None]:
    try:
        seen = os.stat(path)
    except OSError:
        return None, None
    return seen.st_mtime, seen.st_size


def _used(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Memory and GPUs of a sample."""
    gpus = sample.get("gpus") or ()
    shares = [gpu["utilization_percent"] for gpu in gpus if "utilization_percent" in gpu]
    sizes = [gpu["memory_used_bytes"] for gpu in gpus if "memory_used_bytes" in gpu]
    return {
        "memory_bytes": sample.get("memory_held_bytes"),
        "gpu_percent": sum(shares) / len(shares) if shares else None,
        "gpu_memory_bytes": sum(sizes) if sizes else None,
    }
