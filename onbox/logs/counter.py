"""One counter of a log, and how it has moved so far. JSON-able: the runner keeps it."""

from __future__ import annotations

from onbox.named_tuple import NamedTuple


class Counter(NamedTuple):
    """One counter. maximum: the last exact one shown with it, None if never. resets: how often it went back inside the
    run, repeats: of these, from its end, begun: of these, to its beginning. advances: how often it went on.
    writer: who wrote of it first. apart: how often another writer's stood elsewhere.
    crossed: how often the epoch went on while this did not go back.
    stretched: how often its maximum changed while it stood still: `3/100`, `3/200` are an epoch and its batches.
    form: of the lines that tell it. lower: a smaller number that another line told of it, not believed yet.
    first, last, changed: numbers of the lines where it was first and last seen and last changed.
    """

    key: str
    unit: str
    kind: str
    current: int | float
    maximum: int | None
    rounded: bool
    rule: str
    eta: float | None
    elapsed: float | None
    beside_epoch: bool
    made: bool
    inner: bool
    measured: bool
    resets: int
    crossed: int
    epoch: float | None
    seen: int
    first: int
    last: int
    changed: int
    minimum: float
    advances: int = 0
    repeats: int = 0
    writer: str = ""
    apart: int = 0
    stretched: int = 0
    form: int = 0
    lower: float | None = None
    begun: int = 0
