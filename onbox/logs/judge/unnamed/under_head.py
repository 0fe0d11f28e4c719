"""Numbers that stand in a table of results, by the names above them. Pure.

`model   mse   rank` above `tanh-2   0.065   1/6`: how the models compare, row by row, is no progress. Nor is the index
of a data frame that is printed: its head has a name for each column but that one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

CELLS = 3  # of a head
ROWS = 40  # and no more, behind one
_FIRST = frozenset({"0", "1"})  # row of a frame
_LEFT_OUT = frozenset({"..", "..."})  # rows
_COMPARED = lazy(
    r"(?i)(?:model|name|method|dataset|class|label|layer|variant|algorithm|metric|feature|category|topic|cluster|system"
    r"|benchmark|lang(?:uage)?|optimi[sz]er|column|param(?:eter)?|tool|backend)s?"
)
_FRAME_HEAD = lazy(r"(?:\s{1,40}[A-Za-z_][\w.%()-]{0,40}){2,30}")
_CELL = lazy(r"[^\s|\u2502]{1,40}(?: [^\s|\u2502]{1,40}){0,3}")
_FRACTION = lazy(r"(?<![\w./-])\d{1,9} ?/ ?\d{1,9}(?![\w./-])")
_OF_RESULTS = lazy(
    r"(?i)(?:\w{1,20}[ _.-])?(?:ranks?|wins?|won|solved|pass(?:ed)?|fail(?:ed|ures)?|correct|acc(?:uracy)?|scores?"
    r"|votes?|hits?|agree\w{0,6}|success\w{0,3}|recall|precision|top-?\d?|place|position|ready|up|replicas|nodes|restarts|used|free)"
)


def without_frames(lines: Sequence[str]) -> list[str]:
    """The lines, those of data frames empty: names behind a gap, and rows below them, numbered from 0 or 1 on."""
    told = list(lines)
    for at, line in enumerate(lines):
        if line[:1].isspace() and _FRAME_HEAD.fullmatch(line):
            end = at + 1 + _rows_of_frame(lines[at + 1 : at + 1 + ROWS], columns=len(line.split()))
            told[at + 1 : end] = [""] * (end - at - 1)
    return told


def _rows_of_frame(lines: Sequence[str], *, columns: int) -> int:
    """How many of the lines are rows of a frame of so many named columns."""
    first = lines[0].split() if lines else []
    if len(first) != columns + 1 or first[0] not in _FIRST:
        return 0
    awaited: int | None = int(first[0])
    for at, line in enumerate(lines):
        index = "".join(line.split()[:1])
        if index in _LEFT_OUT:
            awaited = None  # any number, from here on
        elif not index.isdecimal() or awaited not in (None, int(index)):
            return at
        else:
            awaited = None if awaited is None else awaited + 1
    return len(lines)


def head_of(text: str) -> str:
    """The line, if it is the head of a table: several names; "" for any other."""
    if "  " not in text and "|" not in text and "\t" not in text:
        return ""
    cells = _CELL.findall(text)
    return text if len(cells) >= CELLS and all(cell[0].isalpha() for cell in cells) else ""


def lists_results(lines: Sequence[str]) -> bool:
    """Whether the last lines stand below a head whose first name is that of what is compared."""
    head = next(filter(None, map(head_of, reversed(lines[-ROWS:]))), "")
    found = _CELL.search(head)
    return found is not None and _COMPARED.fullmatch(found[0]) is not None


def ends_in_results_column(lines: Sequence[str]) -> bool:
    """Whether all fractions of the last line stand below such names, which the nearest head tells."""
    found = list(_FRACTION.finditer(lines[-1])) if lines else []
    head = next(filter(None, map(head_of, reversed(lines))), "") if found else ""
    return bool(head) and all(_is_below(head, *one.span()) for one in found)


def _is_below(head: str, start: int, end: int) -> bool:
    return any(
        _OF_RESULTS.fullmatch(cell[0]) is not None
        for cell in _CELL.finditer(head)
        if cell.start() < end and start < cell.end()
    )
