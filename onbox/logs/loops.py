"""Which loop of a log runs inside which: a fold around its epochs, a bar of seeds around bars of steps. Pure.

What is inside begins again each time that what is around it goes on. Where that has not happened yet, the names tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.regex import lazy

if TYPE_CHECKING:
    import re

    from onbox.logs.track import Counter

# What is done again and again, the whole work each time. A count of it alone is a remark (`fold 3 of 5: 0.91`).
_REPEATED = (
    "fold|chain|seed|run|repeat|repetition|split|experiment|replicate|replication|restart|candidate|config|configuration"
    "|bootstrap|subject|member|variant|setting"
)
_IN_A_BAR = f"{_REPEATED}|stage|phase|part|dataset|model"  # of these, only a bar's own description tells
REPEATED_UNITS = frozenset({"trial", "task", "round", "job", "pass", "cycle", "stage", "generation", "game", "fit"})

_INDEX = (
    r"s?(?:[ _]?(?:no\.?|number|idx|index|id))?[\s:=#_\[(-]{0,4}(?P<current>\d{1,9})[\])]?"
    r"\s{0,3}(?:/|of|out of)\s{0,3}(?P<max>\d{1,9})(?![\w./%-])"
)
_REPEATED_INDEX = lazy(rf"(?i)(?<![a-z_-])(?P<word>{_REPEATED}){_INDEX}")
_INDEX_IN_A_BAR = lazy(rf"(?i)(?<![a-z_-])(?P<word>{_IN_A_BAR}){_INDEX}")


def repeated_index(text: str, *, in_a_bar: bool) -> re.Match[str] | None:
    """`fold 2/5`, `Run 3 of 10`: which of how many repetitions of the work; None for most lines."""
    found = (_INDEX_IN_A_BAR if in_a_bar else _REPEATED_INDEX).search(text)
    return found if found and 0 < int(found["max"]) >= int(found["current"]) else None


def outermost(counters: list[Counter]) -> tuple[Counter, Counter] | None:
    """The counter around all others, and the newest one inside it; None where nothing is known to be inside another."""
    pairs = [(outer, inner) for outer in counters for inner in counters if is_around(outer, inner)]
    outers = {outer.key: outer for outer, _ in pairs}
    first = min(outers.values(), key=lambda counter: (counter.advances, counter.first), default=None)
    if first is None:
        return None
    inside = [inner for outer, inner in pairs if outer is first]
    return first, max(inside, key=lambda counter: (counter.last, counter.maximum is not None))


def is_around(outer: Counter, inner: Counter) -> bool:
    """Whether each value of `outer` stands for one whole pass of `inner`."""
    if outer is inner or outer.resets or inner.kind in ("outer", "bare", "done"):
        return False
    repeats = outer.kind == "outer" or outer.unit in REPEATED_UNITS
    if outer.inner or outer.maximum is None or not (repeats or (outer.made and inner.made)):
        return False
    if outer.advances and inner.resets:
        return abs(outer.advances - inner.resets) <= 1 and (repeats or outer.first < inner.first)
    if not repeats or inner.resets or inner.kind != "train" or inner.unit in REPEATED_UNITS:
        return False
    went_on = inner.first < outer.changed < inner.changed  # through a step of the outer one, without beginning again
    return outer.first + (outer.kind != "outer") <= inner.first and not went_on
