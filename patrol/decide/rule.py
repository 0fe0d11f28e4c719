"""What a row of the decision table is, and how rows are asked. Pure."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Generic, TypeVar

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onbox.contract.states import RunState
    from patrol.verdict import Severity

S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)


class Condition(Generic[S_contra]):
    """One thing that must be so. says: as it reads in the table. What was not seen never holds."""

    def __init__(self, says: str, holds: Callable[[S_contra], bool]) -> None:
        self.says, self.holds = says, holds


class Rule(Generic[S_contra]):
    """One row. It fires when all of `when` hold.

    state: what the run is then; None: the rule says nothing of the run's state (flags). say: the message, with its
    numbers. remedy: one sentence. command: what to type next. resume: whether `onbox resume` may be tried for it; None:
    never. soft: seen too few times in a row to be believed. why: the reason for the row, with its source.

    A plain class, as all of them here: `dataclasses` costs each tick 8 ms, and generic NamedTuples need Python 3.11.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the columns of a row
        self,
        name: str,
        severity: Severity,
        state: RunState | None,
        when: tuple[Condition[S_contra], ...],
        say: Callable[[S_contra], str],
        why: str,
        remedy: Callable[[S_contra], str] = lambda _: "",
        command: Callable[[S_contra], str] = lambda _: "",
        resume: Callable[[S_contra], bool] | None = None,
        soft: Callable[[S_contra], bool] = lambda _: False,
    ) -> None:
        self.name, self.severity, self.state, self.when = name, severity, state, when
        self.say, self.why, self.remedy, self.command = say, why, remedy, command
        self.resume, self.soft = resume, soft

    def but(self, **changes: object) -> Rule[S_contra]:
        """The same row with other values."""
        other = copy(self)
        vars(other).update(changes)
        return other

    @property
    def can_resume(self) -> bool:
        return self.resume is not None


class Tried(NamedTuple):
    """One row that was asked. failed: the first condition that did not hold; "" where the rule fired."""

    rule: str
    failed: str

    @property
    def fired(self) -> bool:
        return not self.failed


def try_rule(rule: Rule[S], scene: S) -> Tried:
    """Ask one row."""
    return Tried(rule.name, next((one.says for one in rule.when if not one.holds(scene)), ""))


def first_that_fires(rules: Sequence[Rule[S]], scene: S) -> tuple[Rule[S], tuple[Tried, ...]]:
    """The first row that fires, and all that were asked. The last row of a table has no condition."""
    tried: list[Tried] = []
    for rule in rules:
        tried.append(try_rule(rule, scene))
        if tried[-1].fired:
            return rule, tuple(tried)
    raise LookupError("the last row of a table must have no condition")


def all_that_fire(rules: Sequence[Rule[S]], scene: S) -> Iterator[tuple[Rule[S], Tried]]:
    """Every row with what came of asking it."""
    for rule in rules:
        yield rule, try_rule(rule, scene)
