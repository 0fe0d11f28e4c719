"""A point of a run's series: how far it was, how well and how fast it learned, at one look of the runner. Pure.

series.jsonl holds one point a line, oldest first: `schema`, `at`, `stage`, `attempt`, and those of the other fields of
`Point` that were seen. A loss, learning rate, grad norm or metric stands in the first point after the log showed it,
so that each is one reading; between two readings there are points without it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from onbox.contract.json_text import as_number, as_whole, parse_object
from onbox.named_tuple import NamedTuple
from onbox.system.clock import parse_utc, utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = 1
NAME_LIMIT = 80
WHOLE_LIMIT = 1e15
NOT_FINITE = ("nan", "inf", "-inf")

Reading = float | str


class Point(NamedTuple):
    """at: seconds since 1970. None always means: not seen (the log does not show it, or not since the point before).

    step: of the run's outermost counter, as its log shows it; unit: `step`, `epoch`, ... steps_per_second: since the
    counter last moved; of the inner counter (batches of an epoch) where there is one; None in a point in which nothing
    moved. loss, grad_norm: a number, or "nan", "inf", "-inf". metric, metric_name: the first of accuracy, F1, ... on a
    line. checkpoint_step, checkpoint_at: the newest complete checkpoint; checkpoints: how many complete ones there are.
    memory_bytes: what the container holds and cannot drop (no file cache), as the patrol weighs it against the limit.
    gpu_percent: mean utilisation of the GPUs; gpu_memory_bytes: of all.
    log_at, artifact_at: when the log and the newest artifact were last written to; log_bytes: the size of the log.
    """

    at: float
    stage: str
    attempt: int
    step: float | None = None
    unit: str | None = None
    loss: Reading | None = None
    learning_rate: float | None = None
    grad_norm: Reading | None = None
    metric: float | None = None
    metric_name: str | None = None
    steps_per_second: float | None = None
    checkpoint_step: int | None = None
    checkpoint_at: float | None = None
    checkpoints: int | None = None
    memory_bytes: int | None = None
    gpu_percent: float | None = None
    gpu_memory_bytes: int | None = None
    log_at: float | None = None
    log_bytes: int | None = None
    artifact_at: float | None = None


_TIMES = ("at", "checkpoint_at", "log_at", "artifact_at")
_TEXTS = ("stage", "unit", "metric_name")
_WHOLE = ("attempt", "checkpoint_step", "checkpoints", "memory_bytes", "gpu_memory_bytes", "log_bytes")
_READINGS = ("loss", "grad_norm")


def point_to_dict(point: Point) -> dict[str, Any]:
    """As in series.jsonl, without `schema`: what was not seen is left out, times are UTC texts."""
    known = {key: value for key, value in point._asdict().items() if value is not None}
    return {key: utc_text(value) if key in _TIMES else _short(value) for key, value in known.items()}


def parse_points(lines: Iterable[bytes]) -> list[Point]:
    """The points among the lines, in their order; half lines and junk are passed over, and so is a field of a point
    that holds what it cannot.
    """
    return [point for line in lines if (point := parse_point(line)) is not None]


def parse_point(line: bytes) -> Point | None:
    """The point of a line; None where it is none."""
    data = parse_object(line)
    return None if data is None else point_from_dict(data)


def point_from_dict(data: dict[str, Any]) -> Point | None:
    """The inverse of `point_to_dict`; None where time, stage or attempt are missing."""
    known = {key: value for key in Point._fields if (value := _sound(key, data.get(key))) is not None}
    return Point(**known) if {"at", "stage", "attempt"} <= known.keys() else None


def finite(reading: Reading | None) -> float | None:
    """A reading as a number to reckon with; None for one that is not seen, or not finite."""
    return None if isinstance(reading, str) else as_number(reading)


def as_reading(value: object) -> Reading | None:
    """A number, or the word for one that is not finite; None for everything else."""
    if isinstance(value, str):
        return value if value in NOT_FINITE else None
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return as_number(value)


def _sound(key: str, value: object) -> Any:
    if key in _TIMES:
        return parse_utc(value) if isinstance(value, str) else None
    if key in _TEXTS:
        return value[:NAME_LIMIT] if isinstance(value, str) and value.isprintable() else None
    if key in _WHOLE:
        return as_whole(value)
    return as_reading(value) if key in _READINGS else as_number(value)


def _short(value: Any) -> Any:
    """Numbers at the precision that a log shows: six or seven digits; whole ones as such."""
    if not isinstance(value, float):
        return value
    return int(value) if value.is_integer() and abs(value) < WHOLE_LIMIT else float(f"{value:.7g}")
