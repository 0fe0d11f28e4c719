"""What a row of the truth table is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.patrol.makers import before, box, box_before

if TYPE_CHECKING:
    from onbox.contract.states import RunState
    from patrol.memory.history import Before, BoxBefore
    from patrol.snapshot import RunLook, Snapshot
    from patrol.verdict import Severity

SEEN_HEALTHY, REACHED = before(), box_before()


class Case(NamedTuple):
    """truth: the real state, as somebody at the box's console would tell it. look: of the run; None: it was not seen.

    rule, severity, state: what is expected of the verdict; severity is the naming rule's own. flags: every further
    rule. resume: whether a resume may be tried. name: of the run that is meant where it was not seen; "": the box.
    """

    truth: str
    rule: str
    severity: Severity
    state: RunState
    why: str
    look: RunLook | None = None
    snapshot: Snapshot = box()
    before: Before = SEEN_HEALTHY
    box_before: BoxBefore = REACHED
    flags: tuple[str, ...] = ()
    resume: bool = False
    name: str = "digits"
