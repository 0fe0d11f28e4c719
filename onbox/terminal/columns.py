"""Rows of fixed columns that fit the screen. Pure but for rich's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from onbox.model.screen import clip, columns
from onbox.named_tuple import NamedTuple
from onbox.terminal import palette

if TYPE_CHECKING:
    from collections.abc import Sequence


class Column(NamedTuple):
    """title: over the column. width: 0: what the others leave. right: for numbers. from_width: of the screen, below
    which the column is left out.
    """

    title: str
    width: int
    right: bool = False
    from_width: int = 0


class ColumnCell(NamedTuple):
    text: str
    style: str = ""


def fitted(table: Sequence[Column], width: int) -> list[Column]:
    """Its columns on a screen of this width, each with the width that it has there."""
    shown = [column for column in table if width >= column.from_width]
    rest = width - sum(column.width for column in shown) - (len(shown) - 1)
    return [column if column.width else column._replace(width=max(1, rest)) for column in shown]


def head_of(shown: Sequence[Column]) -> Text:
    return row_of(shown, {column.title: ColumnCell(column.title, palette.FAINT) for column in shown})


def row_of(shown: Sequence[Column], cells: dict[str, ColumnCell]) -> Text:
    """cells: by title; a column without one stays empty."""
    line = Text(no_wrap=True, overflow="crop")
    for number, column in enumerate(shown):
        cell = cells.get(column.title, ColumnCell(""))
        text = clip(cell.text, column.width)
        room = " " * (column.width - columns(text))
        line.append(" " if number else "").append(room if column.right else "")
        line.append(text, cell.style).append("" if column.right else room)
    return line
