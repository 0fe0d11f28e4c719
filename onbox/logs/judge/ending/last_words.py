"""What stands behind a loop as nothing in it did, whatever its words are: a framed result, a record of totals. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.ending.closing_line import form, is_bad, is_grave, is_result, said
from onbox.logs.judge.ending.results import is_record
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

FRAMED = 10  # lines at most between two rules
RESULTS = 5  # lines at most
ROWS = 3  # of a loop, until what is of another form stands out
_FRAME = lazy(r"([^\w\s])\1{11,200}")
_IN_THE_LOOP = lazy(
    r"(?i)(?<![a-z])(?:val\w*|eval\w*|epoch\w*|learning|lr|checkpoint|batch|start\w*|load\w*|best|so far|current\w*)"
    r"(?![a-z])"
)
_PAIRS = lazy(
    r"\W{0,8}(?:[A-Za-z][\w@./-]{0,30} {1,4}-?\d{1,12}\.\d{1,12}%?[,;|]? {0,4}){1,8}$"
)  # ` * Acc@1 50.4 Acc@5 91.2`
_TOTAL = lazy(
    r"[\"']?(?:iterations|epochs|steps|n_?iter\w*|n_?steps|n_?epochs|nfev|nit)[\"']?\s?[:=]\s?(\d{1,12})(?![\d.])"
)


def ends_in_frame_of_rules(lines: Sequence[str], counted: int) -> bool:
    """Whether a few lines between two rules stand behind those that count, and end the log; no such rule before."""
    last = lines[-1].strip() if lines else ""
    if not _FRAME.fullmatch(last) or last in map(str.strip, lines[:counted]):
        return False
    inside = lines[counted:-1]
    inside = inside[max(0, len(inside) - FRAMED - 1) :]
    above = [at for at, line in enumerate(inside) if line.strip() == last]
    if len(above) != 1:
        return False
    framed = inside[above[0] + 1 :]
    told = any(any(map(str.isdigit, line)) for line in framed)
    return told and not any(is_bad(line) or is_grave(line) or _IN_THE_LOOP.search(line) for line in framed)


def ends_in_totals(lines: Sequence[str]) -> bool:
    """Whether the last line is the only record, with how often the loop above went round: `{ error: 0.1, iterations:
    2723 }`, which is more than any of its lines has told.
    """
    if len(lines) <= ROWS or not is_record(lines[-1]) or any(map(is_record, lines[:-1])):
        return False
    found = _TOTAL.search(lines[-1])
    rows = lines[-1 - ROWS : -1]
    alike = len(set(map(form, rows))) == 1 and all(any(map(str.isdigit, row)) for row in rows)
    return found is not None and alike and not _IN_THE_LOOP.search(lines[-1])


def ends_in_results(lines: Sequence[str], counted: int) -> bool:
    """Whether a few results, and nothing else, stand behind the last of the lines that count; none like them before."""
    after = lines[counted:]
    if counted < ROWS or not 0 < len(after) <= RESULTS:
        return False
    known = {form(line) for line in lines[:counted]}
    return all(
        (is_result(line) or _PAIRS.match(line)) and form(line) not in known and not _IN_THE_LOOP.search(said(line))
        for line in after
    )
