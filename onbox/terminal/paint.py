"""rich, as this project uses it: no markup and no emoji codes in texts, because they come from boxes and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from onbox.model.screen import LABEL_WIDTH
from onbox.terminal import palette

if TYPE_CHECKING:
    from collections.abc import Iterable


def console_of(stream: TextIO) -> Console:
    return Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=False)


def line_of(*parts: tuple[str, str]) -> Text:
    """`(text, style)` after each other, on one line that is cut where the screen ends."""
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


def facts_table(rows: Iterable[tuple[str, Text]], *, label_columns: int = LABEL_WIDTH) -> Table:
    """`  label    text`, as in the plain form; long texts are folded within their column."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=1)
    table.add_column(width=label_columns, style=palette.FAINT, no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for label, text in rows:
        table.add_row("", Text(label), text)
    return table
