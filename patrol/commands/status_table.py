"""`patrol status` on a terminal: the last words as a table, and what to type where something is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rich.text import Text

from onbox.system.clock import wall
from onbox.terminal import palette
from onbox.terminal.paint import console_of
from patrol.memory.codec import look_from_text
from patrol.report.remembered import subject_of, with_losses
from patrol.report.rows import row_of
from patrol.report.table import head, lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from patrol.memory.rows import LastWord
    from patrol.memory.store import Memory
    from patrol.report.rows import RowSource

LOUD = ("PATROL STALE", "STALE:", "never:")


def print_table(
    stream: TextIO, about: Sequence[str], words: Sequence[LastWord], memory: Memory, *, stale_seconds: float
) -> None:
    """about: what the plain form says of the patrol itself. stale_seconds: older words are marked. A word that
    cannot be read back keeps its line.
    """
    console, now = console_of(stream), wall()
    for line in about:
        console.print(Text(line, palette.CRITICAL if any(word in line for word in LOUD) else palette.FAINT))
    if not words:
        return
    console.print(head(console.width))
    looks = {box: look_from_text(memory.last_look(box)) for box in dict.fromkeys(word.box for word in words)}
    for word in words:
        subject = subject_of(word, looks[word.box])
        if subject is None:
            console.print(Text(word.line))
            continue
        _print_run(console, with_losses(subject, memory), now, stale_seconds)


def _print_run(console: Console, subject: RowSource, now: float, stale_seconds: float) -> None:
    row = row_of(subject, now)
    for line in lines_of(row, now, console.width, stale_seconds=stale_seconds):
        console.print(line)
    if row.next_command:  # whole, to be copied
        console.print(Text.assemble((f"{'next ':>13}", palette.FAINT), row.next_command), soft_wrap=True)
