"""`onbox status` on a terminal: stages as a table with bars, what the box has left, and the next step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TextIO

from rich.text import Text

from onbox.commands.show.status_text import (
    PROVES,
    around,
    fullest,
    head_line,
    log_lines,
    next_lines,
    run_line,
    stages_shown,
    traceback_lines,
    what_is_wrong,
)
from onbox.contract.json_text import as_number
from onbox.contract.progress import percent_of
from onbox.model.screen import clip
from onbox.model.units import format_duration, format_size
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.runs.journal import StageResult, result_words
from onbox.runs.state import shown_state
from onbox.series.point import finite
from onbox.terminal import palette
from onbox.terminal.columns import Column, ColumnCell, fitted, head_of, row_of
from onbox.terminal.marks import bar, sparkline
from onbox.terminal.paint import console_of, facts_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from onbox.chain.run_status import RunView
    from onbox.contract.samples import Sample
    from onbox.series.point import Point

BAR, CURVE = 10, 16
LOSS_CURVE, CURVE_LEAST = 24, 3
COLUMNS = (
    Column("STATE", 11),
    Column("STAGE", 14),
    Column("PROGRESS", BAR + 5),
    Column("COUNT", 13, right=True, from_width=72),
    Column("ETA", 7, right=True),
    Column("LOSS", 7, right=True),
    Column("TIME", 0, right=True),
)
LOUD = {"reason": palette.CRITICAL, "class": palette.CRITICAL, "WARNING": palette.WARNING, "again": palette.WARNING}


def print_status(
    stream: TextIO, view: RunView, data: Mapping[str, Any], samples: Sequence[Sample], points: Sequence[Point]
) -> None:
    """data: of `status_data.as_data`, for this view. samples, points: of the run, oldest first."""
    console = console_of(stream)
    state = str(data["state"])
    head = Text(head_line(data, wide=False), palette.STRONG)
    head.highlight_words([shown_state(data)], palette.of_state(state))
    console.print(head)
    _print_what_is_wrong(console, data)
    _print_stages(console, data)
    facts = [(label, Text(text)) for label, text in around(view, data, wide=False) if label != "box"]
    facts += [*_loss_curve(points, data), *_gauges(data["resources"] or {}, samples)]
    if facts:
        console.print(facts_table(facts))
    for line in [*log_lines(data, wide=False), *next_lines(data, wide=False)]:
        _print_line(console, line)


def print_runs(stream: TextIO, rows: Sequence[Mapping[str, Any]], indent: str = "") -> None:
    """One line each, as in the plain form, with the colour of its state."""
    console = console_of(stream)
    for data in rows:
        line = Text(clip(indent + run_line(data), console.width), no_wrap=True, overflow="ellipsis")
        line.highlight_words([shown_state(data)], palette.of_state(str(data["state"])))
        console.print(line)


def _print_what_is_wrong(console: Console, data: Mapping[str, Any]) -> None:
    """The traceback right below the line that proves the failure."""
    wrong = [(label, Text(text, LOUD.get(label, ""))) for label, text, _ in what_is_wrong(data)]
    proven = next((at + 1 for at, (label, _) in enumerate(wrong) if label in PROVES), 0)
    if wrong[:proven]:
        console.print(facts_table(wrong[:proven]))
    for line in traceback_lines(data, wide=False):
        console.print(Text(line, palette.FAINT, no_wrap=True, overflow="ellipsis"))
    if wrong[proven:]:
        console.print(facts_table(wrong[proven:]))


def _print_line(console: Console, line: str) -> None:
    """`  label    text` of the plain form; what is typed stays whole."""
    label = line[2:10] if line.startswith("  ") else ""
    text = Text(line)
    text.stylize(palette.FAINT, 0, len(label) + 2)
    if label.strip() in ("next", "ask"):
        text.stylize(palette.STRONG, len(label) + 2)
    console.print(text, soft_wrap=True)


def _print_stages(console: Console, data: Mapping[str, Any]) -> None:
    shown = fitted(COLUMNS, console.width)
    console.print(head_of(shown))
    for stage in stages_shown(data["stages"]):
        console.print(row_of(shown, _cells(stage, data)))
        if remark := _remark(stage):
            console.print(Text(f"{'└ ':>12}{remark}", palette.FAINT, no_wrap=True, overflow="ellipsis"))


def _cells(stage: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, ColumnCell]:
    state, how_far = str(stage["state"]), _how_far(stage, data)
    percent, style = 100.0 if state == "done" else how_far.percent, palette.of_state(state)
    seconds = stage["elapsed_seconds"] if stage["elapsed_seconds"] is not None else stage["duration_seconds"]
    took = format_duration(float(seconds)) if isinstance(seconds, int | float) and 0 <= seconds < 1e10 else ""
    return {
        "STATE": ColumnCell(state.upper(), style),
        "STAGE": ColumnCell(safe_line(stage["name"])),
        "PROGRESS": ColumnCell("" if percent is None else f"{bar(percent / 100, BAR)} {int(percent):>3}%", style),
        "COUNT": ColumnCell(how_far.counter),
        "ETA": ColumnCell(how_far.eta),
        "LOSS": ColumnCell(how_far.loss, palette.CRITICAL if how_far.loss in ("nan", "inf", "-inf") else ""),
        "TIME": ColumnCell(took),
    }


class HowFar(NamedTuple):
    """ "" and None: not known."""

    percent: float | None = None
    counter: str = ""
    eta: str = ""
    loss: str = ""


def _how_far(stage: Mapping[str, Any], data: Mapping[str, Any]) -> HowFar:
    """Of the stage at work as its log tells it now; of one that is done as its marker does."""
    if stage["result"] is not None:
        result = StageResult(**stage["result"])._replace(metric="")  # told below the row: it has no column
        counter = result_words(result._replace(loss=None))
        return HowFar(counter=counter, loss=result_words(result._replace(current=None)).removeprefix("loss "))
    progress = data["progress"] if stage["name"] == data["stage"] else None
    if not isinstance(progress, dict):
        return HowFar()
    current, maximum = as_number(progress.get("current")), as_number(progress.get("exact_max"))
    eta = as_number(progress.get("eta_seconds"))
    counter = "" if current is None else f"{current:.12g}" + (f"/{maximum:.12g}" if maximum else "")
    loss = progress.get("loss")
    shown = "" if loss is None else safe_line(loss, 12) if isinstance(loss, str) else f"{loss:.4g}"
    return HowFar(percent_of(progress), counter, "" if eta is None else format_duration(eta), shown)


def _remark(stage: Mapping[str, Any]) -> str:
    left = stage["timeout_left_seconds"]
    return " · ".join(
        filter(
            None,
            (
                f"attempt {stage['attempts']}" if stage["attempts"] > 1 else "",
                safe_line((stage["result"] or {}).get("metric") or ""),
                "" if left is None else f"timeout in {format_duration(left)}",
                safe_line(stage["note"] or ""),
            ),
        )
    )


def _loss_curve(points: Sequence[Point], data: Mapping[str, Any]) -> Iterator[tuple[str, Text]]:
    """Of the stage at work, else of the last one that had any. It ends with the loss that the table shows."""
    shown = [point for point in points if finite(point.loss) is not None]
    stage = data["stage"] or (shown[-1].stage if shown else None)
    losses = [value for point in shown if point.stage == stage and (value := finite(point.loss)) is not None]
    now = (data["progress"] or {}).get("loss") if data["stage"] else None
    if losses and isinstance(now, float) and math.isfinite(now) and now != losses[-1]:
        losses.append(now)
    if len(losses) >= CURVE_LEAST:
        text = f"  {losses[0]:.4g} → {losses[-1]:.4g}, lowest {min(losses):.4g}, {len(losses)} readings"
        yield "loss", Text.assemble((sparkline(losses, LOSS_CURVE), palette.MOVES), text)


def _gauges(sample: Mapping[str, Any], samples: Sequence[Sample]) -> Iterator[tuple[str, Text]]:
    """Memory, disks with their inodes, GPUs; only what was seen."""
    used, limit = sample.get("memory_working_set_bytes"), sample.get("memory_limit_bytes")
    if used is not None:
        past = [one.get("memory_working_set_bytes") for one in samples]
        words = f"{format_size(used)} of {format_size(limit)}" if limit else f"{format_size(used)}, no limit visible"
        yield "memory", _gauge(100 * used / limit if limit else None, words, sparkline(past, CURVE))
    for mount, (free, _, inodes_free, inodes_total) in fullest(list((sample.get("disks") or {}).items())):
        yield "disk", Text(f"{format_size(free)} free on {safe_line(mount)}")
        if inodes_total:
            yield "inodes", _gauge(100 - 100 * inodes_free / inodes_total, f"{inodes_free} free", "")
    for gpu in sample.get("gpus") or ():
        busy = gpu.get("utilization_percent")
        if busy is not None:
            text = f"{bar(busy / 100, BAR)} {busy:>3.0f}%  busy"
            yield f"gpu {gpu['number']}", Text(text, palette.MOVES)
    for name, why in (sample.get("could_not_look") or {}).items():
        yield safe_line(name), Text(f"could not look ({safe_line(why)})", palette.UNKNOWN)


def _gauge(percent: float | None, words: str, curve: str) -> Text:
    """A bar with its colour by how full it is; the words; how it went."""
    share = "" if percent is None else f"{bar(percent / 100, BAR)} {int(percent):>3}%  "
    return Text.assemble((share, palette.of_share(percent)), words, (f"  {curve}" if curve else "", palette.FAINT))
