"""`onbox sweep status` and `onbox sweep table`: what is, from the disk and the kernel. Reading changes nothing."""

from __future__ import annotations

import csv
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from onbox.cli.command import command
from onbox.commands.shared.project import load_project_to_read
from onbox.commands.show.own_box import with_own_box
from onbox.commands.show.status_text import step_lines
from onbox.commands.sweeps.named import sweep_paths
from onbox.commands.sweeps.options import common, sweep_argument
from onbox.contract.exits import Exit
from onbox.model.screen import SEPARATOR, joined, labelled, whole
from onbox.outside import safe_line
from onbox.runs.state import shown_state
from onbox.sweep.look import look_at_sweep
from onbox.sweep.results import ResultsTable, read_table
from onbox.sweep.state.frozen_sweep import read_definition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.cli.command import Options
    from onbox.contract.paths import RunPaths

SHOWN_FAILED = 10
SHOWN_ROWS = 50


@command()
@sweep_argument
@common
def run_status(args: Options) -> int:
    return show_status_at(args, sweep_paths(args))


def show_status_at(args: Options, paths: RunPaths) -> int:
    """Also what `onbox status NAME` shows of a sweep."""
    data = with_own_box(look_at_sweep(paths).data, load_project_to_read(args.config))
    print(json.dumps(data, indent=2) if args.json else _text(data))
    return Exit.DONE


def _text(data: dict[str, Any]) -> str:
    lines = [joined([f"sweep {data['run']} ({data['run_id']}): {shown_state(data)}", *data["text"].split(SEPARATOR)])]
    for label, text in _prose(data):
        lines += labelled(label, safe_line(text)) if text else []
    if any(data[key] for key in ("running_cells", "failed_cells", "warnings")):
        lines += whole("logs", f"onbox logs CELL --run {data['run']}")
    lines += whole("markers", data["markers"])
    return "\n".join([*lines, *step_lines(data, follow=f"onbox attach {data['run']}")])


def _prose(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "reason", data["reason"] or ""
    yield "waiting", data["waiting_for"] or ""
    yield "WARNING", data["disk"] or ""
    yield from (("WARNING", one) for one in data["warnings"])
    yield from (("running", f"{one['cell']}{_gpus(one)}") for one in data["running_cells"])
    failed = data["failed_cells"]
    yield from (("FAILED", f"{one['cell']} · {one['failure_class']}") for one in failed[:SHOWN_FAILED])
    if len(failed) > SHOWN_FAILED:
        yield "FAILED", f"and {len(failed) - SHOWN_FAILED} more: onbox sweep table {data['run']}"
    yield "best", data["best"] or ""
    yield from (("queue", one) for one in data["queue_problems"])
    yield "runner", data["runner"]


def _gpus(cell: dict[str, Any]) -> str:
    return f" · GPU {', '.join(map(str, cell['gpus']))}" if cell.get("gpus") else ""


@command()
@sweep_argument
@click.option("--sort", metavar="METRIC", help='"-accuracy": the largest first (default: [sweep] sort)')
@click.option("--csv", is_flag=True, help="for a spreadsheet: every number in full")
@click.option("--all", is_flag=True, help="every cell, however many")
@common
def run_table(args: Options) -> int:
    paths = sweep_paths(args)
    found = read_definition(paths)
    assert found is not None
    table = read_table(paths, args.sort or found.frozen.settings.sort)
    if args.sort and not table.has(args.sort):
        there = ", ".join(name for name in table.columns if name not in ("state", "cell"))
        print(
            f"onbox: no cell has {safe_line(args.sort.lstrip('-+'))!r}, so nothing is sorted; there are: {there}",
            file=sys.stderr,
        )
    if args.json:
        print(json.dumps({"schema": 1, "sweep": os.path.basename(paths.root), "cells": table.as_data()}, indent=2))
    elif args.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows(table.rows)
    else:
        print(_aligned(table, None if args.all else SHOWN_ROWS))
    return Exit.DONE


def _aligned(table: ResultsTable, most: int | None) -> str:
    rows = table.rows if most is None else table.rows[:most]
    lines = [list(table.columns), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(table.columns))]
    shown = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    more = len(table.rows) - len(rows)
    return "\n".join(shown + ([f"and {more} more: --all, or --csv"] if more else []))


def _cell(value: object) -> str:
    return "-" if value in (None, "") else f"{value:.6g}" if isinstance(value, float) else safe_line(value, 60)
