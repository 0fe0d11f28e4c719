"""`onbox series`: how a run went, point by point: as a short table, JSON or CSV."""

from __future__ import annotations

import csv
import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from onbox.chain.state.frozen_run import read_head
from onbox.cli.command import argument, command, config_option, json_option
from onbox.commands.shared.project import load_project_to_read
from onbox.commands.shared.run_log import run_or_cell
from onbox.contract.exits import Exit
from onbox.contract.runfile import is_sweep
from onbox.errors import Trouble
from onbox.model.units import counted, format_duration, format_size
from onbox.outside import safe_line
from onbox.series.file import read_points, stages_of
from onbox.series.point import SCHEMA, Point, finite, point_to_dict
from onbox.system.clock import local_text, wall
from onbox.terminal.marks import sparkline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onbox.cli.command import Options
    from onbox.contract.paths import RunPaths

EXAMPLES = """\
examples:
  onbox series                  step, loss, steps per second, memory, ...: newest, lowest, highest, and their course
  onbox series --stage train --csv >train.csv
  onbox series --json
"""


@command(EXAMPLES, exclusive=[("--json", "--csv")])
@argument("run", required=False, metavar="RUN", help="name of the run, or a sweep's cell (default: the configured run)")
@config_option
@click.option("--stage", metavar="STAGE", help="the points of this stage only")
@json_option
@click.option("--csv", is_flag=True, help="one line per point, with a header")
def run(args: Options) -> int:
    paths = run_or_cell(load_project_to_read(args.config), args.run)
    _refuse_sweep(paths)
    points = _points(paths, args.stage)
    if args.json:
        print(json.dumps({"schema": SCHEMA, "points": [point_to_dict(point) for point in points]}))
    elif args.csv:
        write_csv(points)
    else:
        print(render_series(points, wall()))
    return Exit.DONE


def _refuse_sweep(paths: RunPaths) -> None:
    """Its one stage trains nothing."""
    with suppress(ValueError):  # of a damaged run.json the series may be whole
        head = read_head(paths)
        if head is not None and is_sweep(head):
            raise Trouble(
                Exit.USAGE, f"run {head.run} is a sweep: each of its cells has a series of its own: onbox series CELL"
            )


def _points(paths: RunPaths, stage: str | None) -> list[Point]:
    try:
        points = read_points(paths.series)
    except OSError as error:
        raise Trouble(Exit.USAGE, f"cannot read {paths.series}: {error.strerror or error}") from error
    stages = stages_of(points)
    if stage is not None and stage not in stages:
        there = f"there are points of: {', '.join(stages)}" if stages else "there are none yet"
        raise Trouble(Exit.USAGE, f"no points of a stage {safe_line(stage)}; {there}")
    return [point for point in points if stage in (None, point.stage)]


def write_csv(points: Sequence[Point]) -> None:
    """Every field of a point is a column; what was not seen is empty."""
    writer = csv.DictWriter(sys.stdout, Point._fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(point_to_dict(point) for point in points)


def render_series(points: Sequence[Point], now: float) -> str:
    """A table for each stage."""
    if not points:
        return "no points yet: the runner takes one every sample_every while a stage runs"
    return "\n\n".join(_stage_table([one for one in points if one.stage == name], now) for name in stages_of(points))


def _stage_table(points: Sequence[Point], now: float) -> str:
    head = (
        f"{points[-1].stage}: {counted(len(points), 'point')} since {local_text(points[0].at)},"
        f" the newest {format_duration(max(0.0, now - points[-1].at))} ago"
    )
    rows = [row for name, text in _COLUMNS.items() if (row := _row(points, name, text)) is not None]
    widths = [max(len(row[index]) for row in (_HEAD, *rows)) for index in range(4)]
    return "\n".join([head, *(_line(row, widths) for row in (_HEAD, *rows))])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    title, *numbers, course = row
    cells = [f"{title:<{widths[0]}}", *(f"{text:>{width}}" for text, width in zip(numbers, widths[1:], strict=True))]
    return "  ".join(["", *cells, course]).rstrip()


_HEAD = ("", "newest", "lowest", "highest", "")


def _row(points: Sequence[Point], name: str, text: Callable[[float], str]) -> tuple[str, ...] | None:
    """None: no point has a value of it."""
    shown = [value for point in points if (value := getattr(point, name)) is not None]
    values = [value for one in shown if (value := finite(one)) is not None]
    if not shown:
        return None
    newest = shown[-1] if isinstance(shown[-1], str) else text(shown[-1])
    return (
        _title(points, name),
        newest,
        *(text(best(values)) if values else "" for best in (min, max)),
        sparkline(values),
    )


def _title(points: Sequence[Point], name: str) -> str:
    if name == "metric":
        return next(point.metric_name for point in reversed(points) if point.metric is not None) or name
    return name.removesuffix("_bytes").removesuffix("_percent").replace("_per_", "/").replace("_", " ")


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 10000 else f"{value:.12g}"


_COLUMNS: dict[str, Any] = {
    "step": _number,
    "loss": _number,
    "learning_rate": _number,
    "grad_norm": _number,
    "metric": _number,
    "steps_per_second": _number,
    "checkpoint_step": _number,
    "memory_bytes": lambda value: format_size(int(value)),
    "gpu_percent": lambda value: f"{value:.0f}%",
    "gpu_memory_bytes": lambda value: format_size(int(value)),
}
