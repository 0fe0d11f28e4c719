"""A log's last lines as paragraphs: a complaint in a box, or over several lines, is one sentence. Pure.

A line goes on with the one before it where both stand in a frame, where that one ends with a colon, or where it begins
with a small letter and without a prefix of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.logs.model.tables import is_row
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onbox.triage.reading.record import SeenLine

LINES_MAX = 8
LETTERS_MAX = 600
_FRAMED = lazy(r"^\s{0,12}[*|!│║#%+>]{1,3}(?:\s.*)?[*|!│║#%+<]{1,3}\s*$")
_EDGE = r"[\s*|!│║%#=+~_\\/<>-]{0,200}"
_INSIDE = lazy(rf"^{_EDGE}(?:O[/\\|]+{_EDGE})?(.*?)[\s*|!│║%#=+~]{{0,200}}$")
_RULE = lazy(r"^\s{0,12}([-=*%#~_+])\1{7,}\W*$")
_GOES_ON = lazy(r"^[a-z\"'(<\[\d]")
_UNENDED = lazy(r"[:,(]$|^(?:\S+ ){0,3}(?:error|exception|abort|failure)\W{0,3}$", re.IGNORECASE)


class Paragraph(NamedTuple):
    """lines: of the log. text: without frames, in one. level: the logger's word on its first line. boxed: it stands in
    a frame, or below a ruled line.
    """

    lines: tuple[SeenLine, ...]
    text: str
    level: str | None
    boxed: bool

    @property
    def number(self) -> int:
        return self.lines[0].number


def paragraphs(lines: Iterable[SeenLine]) -> list[Paragraph]:
    """In the order of the log."""
    found: list[Paragraph] = []
    ruled = False
    for line in lines:
        if is_row(line.text):
            continue  # figures, in whatever words
        if _RULE.match(line.text):
            ruled = True
            continue
        said = message(line.text)
        inside = " ".join(_INSIDE.sub(r"\1", said.text).split())
        if not inside:
            continue
        framed = bool(_FRAMED.match(line.text))
        before = found[-1] if found else None
        if before is not None and not ruled and _continues(before, line, inside, framed=framed):
            found[-1] = before._replace(
                lines=(*before.lines, line), text=f"{before.text} {inside}"[:LETTERS_MAX], boxed=before.boxed or framed
            )
        else:
            found.append(Paragraph((line,), inside, said.level, framed or ruled))
        ruled = False
    return found


def _continues(before: Paragraph, line: SeenLine, inside: str, *, framed: bool) -> bool:
    last = before.lines[-1]
    if len(before.lines) >= LINES_MAX or line.number - last.number > 1 + framed:
        return False
    said = message(line.text)
    if framed:
        return bool(_FRAMED.match(last.text))
    if said.level is not None or (said.text.strip() != line.text.strip() and said.source == ""):
        return False
    return bool(_UNENDED.search(before.text) or _GOES_ON.match(inside))
