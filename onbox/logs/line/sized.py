"""How much of a size is done, at the beginning of a line: `157277/169471 kB (92%)`. Pure.

Elsewhere on a line such a fraction is mostly memory, or a disk.
"""

from __future__ import annotations

from onbox.logs.line.remarks import read_eta
from onbox.logs.line.sights import CounterSight, SeenOnLine
from onbox.logs.model.lines import message
from onbox.regex import lazy

_SIZE = r"\d{1,12}(?:\.\d{1,4})?"
_DONE = lazy(
    rf"(?:\s{{0,12}}|(?:.{{1,120}}[-\ds])?Transferred:\s{{1,20}})(?P<current>{_SIZE})(?: (?P<of>[kKMGT]?i?B))? ?/ ?"
    rf"(?P<max>{_SIZE}) (?P<unit>[kKMGT]?i?B),? \(?(?P<percent>\d{{1,3}}) ?%"
)
_WHOLE_UNITS = frozenset({"B", "kB", "KB", "KiB"})  # whole numbers of these are told as they are, not rounded
OFF = 1.01  # percent, by which a share is rounded


def read_sized(text: str) -> SeenOnLine | None:
    """`435/435 MB (100%) computed`, `Transferred: 36.7 MiB / 120 MiB, 31%`: in the unit of the whole."""
    found = _DONE.match(text) or (_DONE.match(message(text).text) if text[:1].isdigit() else None)
    if found is None or found["of"] not in (None, found["unit"]):
        return None
    current, most = float(found["current"]), float(found["max"])
    if most <= 0 or abs(100 * current / most - int(found["percent"])) > OFF:
        return None
    whole = found["unit"] in _WHOLE_UNITS and "." not in found["current"] + found["max"]
    shown = int(current) if "." not in found["current"] else current
    exact = int(most) if whole else None
    sight = CounterSight("sized", "byte", "aux", shown, exact, not whole, "sized")
    return SeenOnLine((sight,), eta=read_eta(text), percent=float(found["percent"]))
