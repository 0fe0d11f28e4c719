"""Rows as lines of a terminal with colours, and the pane of the run that is selected."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from rich.text import Text

from onbox.terminal import palette
from onbox.terminal.columns import Column, ColumnCell, fitted, head_of, row_of
from onbox.terminal.marks import bar, sparkline
from onbox.terminal.paint import facts_table
from patrol.decide.phrases import ago
from patrol.report.rows import advice, facts
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from patrol.report.rows import ReportRow, RowSource

BAR, CURVE = 10, 8
PROOF = ("proof", "last")
LONG_CURVE = 40
MARK = "▸"
COLUMNS = (
    Column("STATE", 11),
    Column("RUN", 0),
    Column("STAGE", 12, from_width=100),
    Column("PROGRESS", BAR + 5),
    Column("COUNT", 15, right=True, from_width=100),
    Column("ETA", 6, right=True),
    Column("LOSS", 7, right=True),
    Column("TREND", CURVE, from_width=72),
    Column("SEEN", 6, right=True),
)
OF_SEVERITY = {
    Severity.WARNING: palette.WARNING,
    Severity.CRITICAL: palette.CRITICAL,
    Severity.UNKNOWN: palette.UNKNOWN,
}


def style_of(row: ReportRow) -> str:
    """By how bad it is; what is well, by its state."""
    return OF_SEVERITY.get(row.severity, palette.of_state(row.state.value))


def lines_of(row: ReportRow, now: float, width: int, *, stale_seconds: float = math.inf) -> list[Text]:
    """The row, and below it what is to be said beside its columns. stale_seconds: a word that is older proves no
    present: its age is marked, and a time left by it is none.
    """
    style, age = style_of(row), max(0.0, now - row.seen_at)
    cells = {
        "STATE": ColumnCell(row.state_word, style),
        "RUN": ColumnCell(row.name, palette.STRONG if row.severity is not Severity.OK else ""),
        "STAGE": ColumnCell(row.stage),
        "PROGRESS": _progress(row, style),
        "COUNT": ColumnCell(row.how_far if row.share is not None and row.state.value != "done" else ""),
        "ETA": ColumnCell("" if age > stale_seconds else row.eta),
        "LOSS": ColumnCell(row.loss, palette.CRITICAL if row.loss in ("nan", "inf", "-inf") else ""),
        "TREND": ColumnCell(sparkline(row.losses, CURVE), palette.MOVES),
        "SEEN": ColumnCell(ago(age), palette.WARNING if age > stale_seconds else palette.FAINT),
    }
    line = row_of(fitted(COLUMNS, width), cells)
    if not row.remark:
        return [line]
    words = Text(f"{'└ ':>13}", palette.FAINT, no_wrap=True, overflow="ellipsis")
    words.append(row.remark, style if row.severity is not Severity.OK else palette.FAINT)
    words.truncate(width, overflow="ellipsis")
    return [line, words]


def marked(lines: Sequence[Text], *, selected: bool) -> list[Text]:
    """The lines of a row with room for the mark of the one that is selected."""
    mark = Text(MARK if selected else " ", palette.STRONG)
    return [Text.assemble(mark if number == 0 else " ", line) for number, line in enumerate(lines)]


def _progress(row: ReportRow, style: str) -> ColumnCell:
    if row.state.value == "done":
        return ColumnCell(row.how_far or "all", style)
    if row.share is None:
        return ColumnCell(row.how_far.removesuffix("/unknown") and f"~{row.how_far.removesuffix('/unknown')}")
    return ColumnCell(f"{bar(row.share, BAR)} {int(100 * row.share):>3}%", style)


def head(width: int) -> Text:
    return head_of(fitted(COLUMNS, width))


def pane(subject: RowSource, row: ReportRow, now: float) -> Table:
    """Everything of one run: first what is wrong with it and what to type, because the screen may end there."""
    found = [(label, Text(text)) for label, text in facts(subject, now)]
    advised = _advised(advice(subject, now), style_of(row))
    proof = next((number for number, (label, _) in enumerate(advised) if label in PROOF), None)
    behind = _block_of(advised, proof) if proof is not None else []
    curve = sparkline(row.losses, LONG_CURVE)
    if curve:
        known = [loss for loss in row.losses if loss is not None]
        text = Text.assemble((curve, palette.MOVES), f"  {known[0]:.4g} → {known[-1]:.4g}, {len(known)} readings")
        found.insert(min(1, len(found)), ("loss", text))
    seen = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.seen_at))
    found.append(("seen", Text(f"{seen} · rule {subject.verdict.finding.rule}", palette.FAINT)))
    return facts_table([*(one for one in advised if one not in behind), *found, *behind])


def _block_of(advised: list[tuple[str, Text]], first: int) -> list[tuple[str, Text]]:
    """The proving line with the traceback below it, which has no labels."""
    end = next((number for number in range(first + 1, len(advised)) if advised[number][0]), len(advised))
    return advised[first:end]


def _advised(lines: Sequence[str], style: str) -> list[tuple[str, Text]]:
    """`  label    text` of the plain form, taken apart."""
    found = []
    for line in lines:
        label, _, text = line.strip().partition(" ")
        if line.startswith("    |"):
            label, text = "", line.strip()
        colour = style if label == "cause" else palette.STRONG if label in ("next", "decide", "also") else ""
        found.append((label, Text(text.strip(), colour)))
    return found
