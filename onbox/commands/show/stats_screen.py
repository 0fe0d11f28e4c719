"""`onbox stats` on a terminal: the words of the plain form, with a bar where something can become full."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rich.text import Text

from onbox.commands.show.stats_text import picture_head, picture_lines
from onbox.outside import safe_line
from onbox.terminal import palette
from onbox.terminal.marks import bar
from onbox.terminal.paint import console_of, facts_table

if TYPE_CHECKING:
    from onbox.commands.show.stats_text import StatsLine
    from onbox.commands.stats import Picture

BAR = 10
LOUD = ("READ-ONLY", "LOST", "throttled: ", "full in ")


def print_picture(stream: TextIO, picture: Picture) -> None:
    console = console_of(stream)
    console.print(Text(safe_line(picture_head(picture)), palette.STRONG))
    console.print(facts_table((line.label, _words(line)) for line in picture_lines(picture)))


def _words(line: StatsLine) -> Text:
    words = Text()
    if line.full_percent is not None:
        words.append(f"{bar(line.full_percent / 100, BAR)} ", palette.of_share(line.full_percent))
    words.append(safe_line(line.text))
    for loud in LOUD:
        words.highlight_words([loud], palette.WARNING)
    return words
