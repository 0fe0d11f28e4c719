"""Rows that a program numbers itself: what each of them tells is of one thing that it looked at. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.triage.reading.record import Fault, SeenLine
    from onbox.triage.weighing.scene import Scene

LEAST_ROWS = 6  # in a row: fewer may be the ranks of one job
_NUMBER = lazy(r"(\W{0,3}[A-Za-z]{0,20}[ #]?\[?)(\d{1,9})([\]):.]{1,2}\s)")
_OF_WRITERS = lazy(r"(?i)^\W{0,3}(?:rank|gpu|node|worker|process|proc|host|task|replica|device|pid|thread)?\W{0,2}$")


class _Row(NamedTuple):
    """What stands around the number of a row, and the number."""

    form: tuple[str, str]
    number: int


def is_numbered_row(fault: Fault, scene: Scene) -> bool:
    """Whether a line is one of many that are counted one by one, and the program told more behind it."""
    if scene.dead or fault.trace is not None or fault.number >= scene.end:
        return False
    row = _row(fault.text)
    if row is None or (_OF_WRITERS.match(row.form[0]) and not fault.text.startswith("[0")):
        return False
    lines = scene.record.tail
    at = next((at for at, line in enumerate(lines) if line.number == fault.number), None)
    if at is None:
        return False
    return 1 + _in_a_row(lines[at + 1 :], row, 1) + _in_a_row(lines[:at][::-1], row, -1) >= LEAST_ROWS


def _in_a_row(lines: Sequence[SeenLine], row: _Row, step: int) -> int:
    """How many of these lines go on counting from the row."""
    for count, line in enumerate(lines, 1):
        if _row(line.text) != _Row(row.form, row.number + step * count):
            return count - 1
    return len(lines)


def _row(text: str) -> _Row | None:
    found = _NUMBER.match(text)
    return None if found is None else _Row((found[1], found[3]), int(found[2]))
