"""From the numbers of a run to what its charts draw. Pure: JSON-ready data, which assets/page.js reads.

A chart is a row of CHARTS. It is drawn from the run's own series where there is one, else from what the ticks saw.
Times are whole seconds; numbers are rounded to what a chart can show. A line breaks where nothing was seen for long,
which the page says there, and where a counter begins anew.
"""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from onbox.contract.readings import observed
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from patrol.page.attempts import attempts_of
from patrol.page.axis import NumberTable, of_series, of_ticks
from patrol.page.forecast import forecast_of
from patrol.page.rates import rates_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onbox.contract.progress import Progress
    from patrol.page.axis import Column
    from patrol.page.model import RunHistory

MARKS_LIMIT = 24
AHEAD_LIMIT_SECONDS = 30 * 86400.0
AHEAD_SHARE = 1.0  # a line goes on for so long as it has been drawn
RATES = (("s", 1.0), ("min", 60.0), ("h", 3600.0), ("day", 86400.0))
GB = 1e9


class ChartLine(NamedTuple):
    """One line of a chart. ahead: where it goes from the last point on, as `(at, value)`."""

    name: str
    values: Column
    ahead: Sequence[tuple[float, float]] = ()


class Chart(NamedTuple):
    """table: whose times it is drawn over. limit: a level that is drawn across, with its name. top: of the axis; None:
    what the numbers need. log: whether it can be drawn with a logarithmic axis.
    """

    key: str
    table: NumberTable
    unit: str
    lines: list[ChartLine]
    limit: tuple[float, str] | None = None
    top: float | None = None
    log: bool = False

    @property
    def is_drawn(self) -> bool:
        """Whether there are numbers enough for a line."""
        return any(sum(value is not None for value in line.values) > 1 for line in self.lines)


class ChartSource(NamedTuple):
    """What charts are made from. cadence_seconds: how often a tick is due."""

    run: RunHistory
    ticks: NumberTable
    series: NumberTable
    now: float
    cadence_seconds: float


class Numbers(NamedTuple):
    """All charts of one run that there are numbers for, by key. holes: when no tick saw it. marks: when attempts began
    within the charts, and their names.
    """

    charts: dict[str, Chart]
    holes: list[tuple[int, int]]
    marks: list[tuple[int, str]]


def numbers_of(run: RunHistory, now: float, cadence_seconds: float) -> Numbers:
    source = ChartSource(run, of_ticks(run, now, cadence_seconds), of_series(run, now), now, cadence_seconds)
    charts = {chart.key: chart for make in CHARTS if (chart := make(source)).is_drawn}
    return Numbers(charts, source.ticks.holes, _marks(run, [*source.ticks.times, *source.series.times]))


def _marks(run: RunHistory, times: Sequence[int]) -> list[tuple[int, str]]:
    first, last = min(times, default=0), max(times, default=0)
    marks = [
        (round(one.began_at), safe_line(f"{one.stage} {one.number}", 30))
        for one in attempts_of(run)
        if first <= one.began_at <= last
    ]
    return marks[-MARKS_LIMIT:]


def data_of(numbers: Numbers) -> dict[str, Any]:
    """For the page."""
    charts = numbers.charts
    used = {chart.table.name: chart.table for chart in charts.values()}
    return {
        "tables": {name: _table_data(table) for name, table in used.items()},
        "marks": numbers.marks,
        "charts": {chart.key: _chart_data(chart) for chart in charts.values()},
    }


def _table_data(table: NumberTable) -> dict[str, Any]:
    """Times as the first one and the steps between them."""
    steps = (later - sooner for sooner, later in pairwise(table.times))
    return {"x": [*table.times[:1], *steps], "holes": table.holes}


def _chart_data(chart: Chart) -> dict[str, Any]:
    lines = [
        {"name": line.name, "y": [_short(value) for value in line.values], "ahead": _ahead(line, chart.table.times)}
        for line in chart.lines
    ]
    drawn = {"unit": chart.unit, "limit": chart.limit, "top": chart.top, "log": chart.log}
    return {"table": chart.table.name, **drawn, "lines": lines}


def _ahead(line: ChartLine, times: Sequence[int]) -> list[tuple[int, float | None]]:
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


# -- the charts


def _pick(source: ChartSource, of_series_: str, of_ticks_: str) -> tuple[NumberTable, Column]:
    """The run's own series, where it has this column."""
    if source.series.has(of_series_):
        return source.series, source.series.columns[of_series_]
    return source.ticks, source.ticks.columns[of_ticks_]


def _progress(source: ChartSource) -> Chart:
    table, values = _pick(source, "step", "current")
    run = source.run
    progress = observed(run.look.progress) if run.look else None
    ahead: list[tuple[float, float]] = []
    limit = None
    if progress is not None and progress.exact_max:
        limit = (float(progress.exact_max), f"{progress.exact_max}")
        eta, at = progress.eta_seconds, run.seen_at or source.now
        if run.seen_now and eta and progress.current is not None and eta <= AHEAD_LIMIT_SECONDS:
            ahead = [(at, progress.current), (at + eta, float(progress.exact_max))]
    return Chart("progress", table, units_of(progress), [ChartLine("progress", values, ahead)], limit)


def _loss(source: ChartSource) -> Chart:
    table, values = _pick(source, "loss", "loss")
    return Chart("loss", table, "", [ChartLine("loss", values)], log=_is_positive(values))


def _is_positive(values: Column) -> bool:
    known = [value for value in values if value is not None and math.isfinite(value)]
    return bool(known) and min(known) > 0


def _throughput(source: ChartSource) -> Chart:
    if source.series.has("steps_per_second"):
        table, rates, unit = source.series, source.series.columns["steps_per_second"], "steps"
    else:
        table, rates, unit = source.ticks, rates_of(source.ticks.counted("current")), _unit(source.run)
    usual = median([rate for rate in rates if rate] or [0.0])
    per, seconds = next((one for one in RATES if usual * one[1] >= 1.0), RATES[-1])
    values: Column = [None if rate is None else rate * seconds for rate in rates]
    return Chart("throughput", table, f"{unit}/{per}", [ChartLine("throughput", values)])


def _unit(run: RunHistory) -> str:
    progress = observed(run.look.progress) if run.look else None
    return units_of(progress)


def units_of(progress: Progress | None) -> str:
    """What it counts, as more than one: `steps`; a sweep's unit comes as `cells` already."""
    unit = safe_line(progress.unit, 12) if progress is not None and progress.unit else "step"
    return unit if unit.endswith("s") else f"{unit}s"


def _memory(source: ChartSource) -> Chart:
    """In bytes where the runner told them, else as what the looks tell: the share of the limit."""
    if not source.series.has("memory_bytes"):
        values = source.ticks.columns["memory_percent"]
        return Chart("memory", source.ticks, "%", [ChartLine("memory", values)], (100.0, "limit"), 100.0)
    values = [None if value is None else value / GB for value in source.series.columns["memory_bytes"]]
    memory = observed(source.run.box.memory) if source.run.box is not None else None
    limit = observed(memory.limit_bytes) if memory is not None else None
    level = None if limit is None else (limit / GB, "limit")
    return Chart("memory", source.series, "GB", [ChartLine("memory", values)], level)


def _disk(source: ChartSource) -> Chart:
    full, at = forecast_of(source.run, source.cadence_seconds), source.run.seen_at or source.now
    lines = []
    for what, name, column in (("inodes", "inodes", "inodes_percent"), ("bytes", "space", "disk_percent")):
        ahead = [(at, full.used_percent), (at + full.seconds, 100.0)] if full is not None and full.what == what else []
        lines.append(ChartLine(name, source.ticks.columns[column], ahead))
    return Chart("disk", source.ticks, "%", lines, (100.0, "full"), 100.0)


def _gpu(source: ChartSource) -> Chart:
    table, values = _pick(source, "gpu_percent", "gpu_percent")
    name = "all GPUs, mean" if table.name == "series" else "busiest GPU"
    return Chart("gpu", table, "%", [ChartLine(name, values)], None, 100.0)


def _learning_rate(source: ChartSource) -> Chart:
    values = source.series.columns["learning_rate"]
    return Chart("learning_rate", source.series, "", [ChartLine("learning rate", values)], log=_is_positive(values))


def _grad_norm(source: ChartSource) -> Chart:
    values = source.series.columns["grad_norm"]
    return Chart("grad_norm", source.series, "", [ChartLine("gradient norm", values)], log=_is_positive(values))


def _metric(source: ChartSource) -> Chart:
    named = next((point.metric_name for point in reversed(source.run.series) if point.metric_name), None)
    return Chart(
        "metric", source.series, "", [ChartLine(safe_line(named or "metric", 30), source.series.columns["metric"])]
    )


CHARTS: tuple[Callable[[ChartSource], Chart], ...] = (
    _progress,
    _loss,
    _throughput,
    _memory,
    _disk,
    _gpu,
    _metric,
    _learning_rate,
    _grad_norm,
)
