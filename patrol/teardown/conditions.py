"""The three conditions of a teardown, for each run: pulled, verified by loading, and a person's word. Pure."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class TeardownCondition(NamedTuple):
    """holds: None: could not look, which counts as no. proof: what was seen. command: what makes it hold; "": nothing
    that can be typed.
    """

    name: str
    holds: bool | None
    proof: str
    command: str = ""


class Ruling(NamedTuple):
    """What follows from the three. may: whether the box may be given back, as far as this run is concerned."""

    may: bool
    says: str


NOT_WHOLE = "what was loaded is not the whole of its results, as told above: pull again"
# pulled, verified, word. Every other row is a no, and says the first thing to do.
TABLE: dict[tuple[bool, bool, bool], Ruling] = {
    (False, False, False): Ruling(may=False, says="pull its results first"),
    (False, False, True): Ruling(may=False, says="a word does not replace the results: pull them first"),
    (False, True, False): Ruling(may=False, says=NOT_WHOLE),
    (False, True, True): Ruling(may=False, says=NOT_WHOLE),
    (True, False, False): Ruling(may=False, says="load each of its files once"),
    (True, False, True): Ruling(may=False, says="a word does not replace the check: load each of its files once"),
    (True, True, False): Ruling(may=False, says="say which box and which verb you mean"),
    (True, True, True): Ruling(may=True, says="its results are home and were loaded, and you named box and verb"),
}
assert set(TABLE) == set(product((False, True), repeat=3))


class RunConditions(NamedTuple):
    """One run of the box. alive: it runs, or that could not be seen; "": it does not."""

    run: str
    pulled: TeardownCondition
    verified: TeardownCondition
    word: TeardownCondition
    alive: str = ""

    @property
    def ruling(self) -> Ruling:
        if self.alive:
            return Ruling(may=False, says=self.alive)
        return TABLE[self.pulled.holds is True, self.verified.holds is True, self.word.holds is True]

    @property
    def conditions(self) -> tuple[TeardownCondition, ...]:
        return (self.pulled, self.verified, self.word)

    @property
    def next_command(self) -> str:
        """What is to be typed for the first condition that does not hold."""
        return next((one.command for one in self.conditions if one.holds is not True and one.command), "")


def may_be_given_back(runs: Sequence[RunConditions]) -> bool:
    """Whether all runs of a box agree. A box without a run proves nothing."""
    return bool(runs) and all(one.ruling.may for one in runs)
