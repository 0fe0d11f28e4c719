"""The times of a run's numbers: where they come from, how many are drawn, and where nothing was seen. Pure."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.series.point import finite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from patrol.page.model import RunHistory

HOLE_CADENCES = 2.5
AROUND = 6  # pauses on each side
SERIES_CADENCE_SECONDS = 300.0  # a quiet runner writes a point at least so often
ROWS_LIMIT = 1500  # of one run; more are thinned, lowest and highest loss kept
SERIES_ROWS_LIMIT = 750  # a chart is not wider

Column = list["float | None"]


class NumberTable(NamedTuple):
    """Columns of numbers over the same times. name: by which a chart says whose times it has. holes: from, to."""

    name: str
    times: list[int]
    columns: Mapping[str, Column]
    holes: list[tuple[int, int]]

    def counted(self, column: str) -> list[tuple[int, float | None]]:
        """A column with its times."""
        return list(zip(self.times, self.columns[column], strict=True))

    def has(self, column: str) -> bool:
        """Whether there are numbers enough for a line."""
        return sum(value is not None for value in self.columns[column]) > 1


def of_ticks(run: RunHistory, now: float, cadence_seconds: float) -> NumberTable:
    """What the patrol's own looks saw."""
    times = [at for at, _, _, _ in run.points]
    names = ("current", "loss", "memory_percent", "disk_percent", "inodes_percent", "gpu_percent")
    columns: dict[str, Column] = {name: [getattr(point, name) for _, _, _, point in run.points] for name in names}
    return _table("ticks", times, columns, ROWS_LIMIT, (cadence_seconds, now if _is_open(run) else None))


def of_series(run: RunHistory, now: float) -> NumberTable:
    """What the run's own runner saw, as the looks brought it: many points between two looks."""
    points = run.series
    columns: dict[str, Column] = {
        "loss": [finite(point.loss) for point in points],
        "grad_norm": [finite(point.grad_norm) for point in points],
    }
    for name in ("step", "learning_rate", "metric", "steps_per_second", "memory_bytes", "gpu_percent"):
        columns[name] = [getattr(point, name) for point in points]
    end = now if _is_open(run) and run.seen_now else None
    return _table(
        "series", [round(point.at) for point in points], columns, SERIES_ROWS_LIMIT, (SERIES_CADENCE_SECONDS, end)
    )


def _table(
    name: str, times: list[int], columns: dict[str, Column], limit: int, rest: tuple[float, float | None]
) -> NumberTable:
    """rest: how often there is a point, and until when there should be some; None: the last one is the end."""
    rows = thinned(times, columns["loss"], limit)
    shown = {key: [column[row] for row in rows] for key, column in columns.items()}
    return NumberTable(name, [times[row] for row in rows], shown, holes_in(times, *rest))


def thinned(times: Sequence[int], losses: Column, limit: int) -> list[int]:
    """At most so many rows, by number: of each piece the first, and those of its lowest and highest loss."""
    if len(times) <= limit:
        return list(range(len(times)))
    piece = math.ceil(len(times) * 3 / limit)
    kept: set[int] = {len(times) - 1}
    for start in range(0, len(times), piece):
        rows = range(start, min(start + piece, len(times)))
        known = [(loss, row) for row in rows if (loss := losses[row]) is not None]
        kept.update((start, *(one[1] for one in (min(known), max(known)))) if known else (start,))
    return sorted(kept)


def holes_in(times: Sequence[int], usual_seconds: float, end: float | None) -> list[tuple[int, int]]:
    """Pauses in which the run was not seen: much longer than usual, and than those around them (a person looks more
    often, and of what is old fewer points are kept). end: until when it should have been seen; None: the last time is
    the end.
    """
    ends = list(times) if end is None else [*times, int(end)]
    pauses = [later - sooner for sooner, later in pairwise(ends)]
    found = []
    for at, pause in enumerate(pauses):
        if pause <= HOLE_CADENCES * usual_seconds:
            continue
        around = pauses[max(0, at - AROUND) : at] + pauses[at + 1 : at + 1 + AROUND]
        if pause > HOLE_CADENCES * median(around or [0]):
            found.append((ends[at], ends[at + 1]))
    return found


def _is_open(run: RunHistory) -> bool:
    return run.verdict is not None and run.verdict.state.value not in ("done", "failed", "stopped", "interrupted")
