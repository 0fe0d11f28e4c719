"""From the numbers of a run's ticks to what its charts draw. Pure: JSON-ready data, which assets/page.js reads.

A chart is a row of CHARTS. Times are whole seconds; numbers are rounded to what a chart can show. Where nothing was
seen for longer than HOLE_CADENCES ticks the line breaks, and the page says so there; it also breaks where a counter
begins anew.
"""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.contract.readings import observed
from onbox.outside import safe_line
from patrol.decide.rule_context import share
from patrol.decide.trend import soonest_full
from patrol.page.attempts import attempts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from patrol.page.model import RunHistory, Told

HOLE_CADENCES = 2.5
ROWS_LIMIT = 1500  # of one run; more are thinned, lowest and highest loss kept
MARKS_LIMIT = 24
AHEAD_LIMIT_SECONDS = 30 * 86400.0
AHEAD_SHARE = 1.0  # a line goes on for so long as it has been drawn
WINDOWS = 12.0  # of the time that was looked at, a disk is foretold
STILL = 3.0  # so often the usual time between two moves a counter may stand
RATES = (("s", 1.0), ("min", 60.0), ("h", 3600.0), ("day", 86400.0))

Column = list[float | None]


class Line(NamedTuple):
    """One line of a chart. ahead: where it goes from the last point on, as `(at, value)`."""

    name: str
    values: Column
    ahead: Sequence[tuple[float, float]] = ()


class Chart(NamedTuple):
    """limit: a level that is drawn across, with its name. top: of the axis; None: what the numbers need."""

    key: str
    unit: str
    lines: list[Line]
    limit: tuple[float, str] | None = None
    top: float | None = None
    log: bool = False

    @property
    def is_drawn(self) -> bool:
        """Whether there are numbers enough for a line."""
        return any(sum(value is not None for value in line.values) > 1 for line in self.lines)


class Numbers(NamedTuple):
    """All charts of one run. times: of every row. holes: from, to. marks: when attempts began, and their names."""

    times: list[int]
    charts: dict[str, Chart]
    holes: list[tuple[int, int]]
    marks: list[tuple[int, str]]
    hole_seconds: float


def numbers_of(run: RunHistory, now: float, cadence_seconds: float) -> Numbers:
    """The charts that there are numbers for."""
    points = thinned(run.points)
    times = [at for at, _, _, _ in points]
    hole = hole_seconds(times, cadence_seconds)
    made = [make(run, points, now, cadence_seconds) for make in CHARTS]
    charts = {chart.key: chart for chart in made if chart.is_drawn}
    return Numbers(times, charts, holes_in(times, hole, now, alive=_is_open(run)), _marks(run, times), hole)


def data_of(numbers: Numbers) -> dict[str, Any]:
    """For the page: times as the first one and the steps between them."""
    times = numbers.times
    return {
        "x": [*times[:1], *(later - sooner for sooner, later in pairwise(times))],
        "hole": round(numbers.hole_seconds),
        "holes": numbers.holes,
        "marks": numbers.marks,
        "charts": {chart.key: _chart_data(chart, times) for chart in numbers.charts.values()},
    }


def _chart_data(chart: Chart, times: Sequence[int]) -> dict[str, Any]:
    lines = [
        {"name": line.name, "y": [_short(value) for value in line.values], "ahead": _ahead(line, times)}
        for line in chart.lines
    ]
    return {"unit": chart.unit, "limit": chart.limit, "top": chart.top, "log": chart.log, "lines": lines}


def _ahead(line: Line, times: Sequence[int]) -> list[tuple[int, float | None]]:
    """Cut where it would be longer than what was seen: the words beside the chart say where it ends."""
    if not line.ahead or len(times) < 2:
        return []
    (begin, value), (end, goal) = line.ahead[0], line.ahead[-1]
    room = AHEAD_SHARE * (times[-1] - times[0])
    if end - begin > room:
        end, goal = begin + room, value + (goal - value) * room / (end - begin)
    return [(round(begin), _short(value)), (round(end), _short(goal))]


def _short(value: float | None) -> float | int | None:
    """Five digits; JSON has no word for nan and infinity, and a chart no place."""
    if value is None or not math.isfinite(value):
        return None
    short = float(f"{value:.5g}") if abs(value) < 1e5 else round(value)
    return int(short) if short == int(short) else short


# -- times


def thinned(points: Sequence[Told]) -> Sequence[Told]:
    """At most ROWS_LIMIT of them: of each piece the first, and those of its lowest and highest loss."""
    if len(points) <= ROWS_LIMIT:
        return points
    piece = math.ceil(len(points) * 3 / ROWS_LIMIT)
    kept: set[int] = {len(points) - 1}
    for start in range(0, len(points), piece):
        rows = range(start, min(start + piece, len(points)))
        known = [row for row in rows if points[row][3].loss is not None]
        by_loss = sorted(known, key=lambda row: points[row][3].loss or 0.0)
        kept.update((start, *by_loss[:1], *by_loss[-1:]))
    return [points[row] for row in sorted(kept)]


def hole_seconds(times: Sequence[int], cadence_seconds: float) -> float:
    """From how long a pause on nothing was looked at. A person's looks may come faster than the timer's."""
    pauses = [later - sooner for sooner, later in pairwise(times)]
    usual = median(pauses) if len(pauses) >= 8 else 0.0
    return HOLE_CADENCES * max(cadence_seconds, usual, 60.0)


def holes_in(times: Sequence[int], hole: float, now: float, *, alive: bool) -> list[tuple[int, int]]:
    """Pauses in which the run was not seen. alive: it has not ended, so that it is not seen since the last point."""
    ends = [*times, int(now)] if alive else list(times)
    return [(sooner, later) for sooner, later in pairwise(ends) if later - sooner > hole]


def _is_open(run: RunHistory) -> bool:
    return run.verdict is not None and run.verdict.state.value not in ("done", "failed", "stopped", "interrupted")


def _marks(run: RunHistory, times: Sequence[int]) -> list[tuple[int, str]]:
    """Beginnings of attempts within the charts."""
    marks = [
        (round(one.began_at), safe_line(f"{one.stage} {one.number}", 30))
        for one in attempts_of(run)
        if times and times[0] <= one.began_at <= times[-1]
    ]
    return marks[-MARKS_LIMIT:]


# -- the charts


def _progress(run: RunHistory, points: Sequence[Told], now: float, _: float) -> Chart:
    values: Column = [point.current for _, _, _, point in points]
    progress = observed(run.look.progress) if run.look else None
    ahead: list[tuple[float, float]] = []
    limit = None
    if progress is not None and progress.exact_max:
        limit = (float(progress.exact_max), f"{progress.exact_max}")
        eta, at = progress.eta_seconds, run.seen_at or now
        if run.seen_now and eta and progress.current is not None and eta <= AHEAD_LIMIT_SECONDS:
            ahead = [(at, progress.current), (at + eta, float(progress.exact_max))]
    unit = f"{safe_line(progress.unit, 12)}s" if progress is not None and progress.unit else "steps"
    return Chart("progress", unit, [Line("progress", values, ahead)], limit)


def _loss(_: RunHistory, points: Sequence[Told], __: float, ___: float) -> Chart:
    values: Column = [point.loss for _, _, _, point in points]
    known = [value for value in values if value is not None and math.isfinite(value)]
    return Chart("loss", "", [Line("loss", values)], log=bool(known) and min(known) > 0)


def _throughput(run: RunHistory, points: Sequence[Told], _: float, __: float) -> Chart:
    rates = rates_of(points)
    usual = median([rate for rate in rates if rate] or [0.0])
    per, seconds = next((unit for unit in RATES if usual * unit[1] >= 1.0), RATES[-1])
    progress = observed(run.look.progress) if run.look else None
    unit = safe_line(progress.unit, 12) if progress is not None and progress.unit else "step"
    values: Column = [None if rate is None else rate * seconds for rate in rates]
    return Chart("throughput", f"{unit}s/{per}", [Line("throughput", values)])


def rates_of(points: Sequence[Told]) -> Column:
    """Counts per second since the counter moved last. Looks may come faster than it moves: then the rate is still that
    of its last move, until it has not moved for much longer than it usually takes. None where it began anew or was
    not seen.
    """
    moves = _moves(points)
    usual = median([seconds for _, seconds in moves if seconds]) if any(seconds for _, seconds in moves) else 0.0
    rates: Column = []
    moved_at, rate = None, None
    for (at, _, _, point), (steps, seconds) in zip(points, moves, strict=True):
        if point.current is None or steps is None:
            rate, moved_at = None, at
        elif seconds:
            rate, moved_at = steps / seconds, at
        elif moved_at is not None and at - moved_at > STILL * usual:
            rate = 0.0
        rates.append(rate)
    return rates


def _moves(points: Sequence[Told]) -> list[tuple[float | None, float]]:
    """Of each point: by how much the counter is ahead of where it was (None: it began anew, or is not known), and since
    how many seconds; 0 seconds: it stands.
    """
    found: list[tuple[float | None, float]] = []
    last: tuple[float, int] | None = None  # where the counter was, and since when
    for at, _, _, point in points:
        current = point.current
        if current is None or last is None or current < last[0]:
            found.append((None, 0.0))
            last = (current, at) if current is not None else None
        elif current > last[0] and at > last[1]:
            found.append((current - last[0], float(at - last[1])))
            last = (current, at)
        else:
            found.append((0.0, 0.0))
    return found


def _memory(_: RunHistory, points: Sequence[Told], __: float, ___: float) -> Chart:
    lines = [Line("memory", [point.memory_percent for _, _, _, point in points])]
    return Chart("memory", "%", lines, (100.0, "limit"), 100.0)


class Forecast(NamedTuple):
    """A file system that will be full: "bytes" or "inodes" of a mount, now so many percent used, in so many seconds."""

    mount: str
    what: str
    used_percent: float
    seconds: float


def forecast_of(run: RunHistory, cadence_seconds: float) -> Forecast | None:
    """The one that is full first, if it goes on as in the last ticks; None: none within a month, or it was not seen."""
    disks = observed(run.box.disks) if run.box is not None else None
    if not disks or run.box_before is None or run.seen_at is None or not run.seen_now:
        return None
    full = soonest_full(disks, run.box_before, run.seen_at, cadence_seconds)
    looked = [at for at, mount, _, _ in run.box_before.disks if full is not None and mount == full.mount]
    if full is None or full.seconds > min(AHEAD_LIMIT_SECONDS, WINDOWS * (run.seen_at - min(looked, default=0.0))):
        return None
    disk = next(one for one in disks if one.mount == full.mount)
    free, total = disk.bytes_free, disk.bytes_total
    if full.what == "inodes":
        free, total = observed(disk.inodes_free) or 0, observed(disk.inodes_total) or 0
    return Forecast(full.mount, full.what, 100.0 - (share(free, total) or 0.0), full.seconds)


def _disk(run: RunHistory, points: Sequence[Told], now: float, cadence: float) -> Chart:
    full, at = forecast_of(run, cadence), run.seen_at or now
    lines = []
    for what, name, field in (("inodes", "inodes", "inodes_percent"), ("bytes", "space", "disk_percent")):
        values: Column = [getattr(point, field) for _, _, _, point in points]
        ahead = [(at, full.used_percent), (at + full.seconds, 100.0)] if full is not None and full.what == what else []
        lines.append(Line(name, values, ahead))
    return Chart("disk", "%", lines, (100.0, "full"), 100.0)


def _gpu(_: RunHistory, points: Sequence[Told], __: float, ___: float) -> Chart:
    return Chart("gpu", "%", [Line("busiest GPU", [point.gpu_percent for _, _, _, point in points])], None, 100.0)


CHARTS: tuple[Callable[[RunHistory, Sequence[Told], float, float], Chart], ...] = (
    _progress,
    _loss,
    _throughput,
    _memory,
    _disk,
    _gpu,
)
