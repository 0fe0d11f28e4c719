"""The decision table: every rule, in the order in which it is asked.

RUN_RULES: the first that fires names the verdict. RUN_FLAGS and BOX_FLAGS: each that fires is told beside it.
LINK_RULES: for what could not be looked at. BOX_RULES: for a box by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from patrol.decide.rules.alive import LIVING
from patrol.decide.rules.box import BOX_FLAGS, BOX_RULES, LINK_RULES
from patrol.decide.rules.end import ENDED
from patrol.decide.rules.flags import RUN_FLAGS as LIVE_FLAGS
from patrol.decide.rules.tracker import TRACKER_FLAGS, UNCONFIRMED

if TYPE_CHECKING:
    from patrol.decide.rule import Rule

# Before "alive, and nothing is against it": a life without any sign of progress.
_AT = next(at for at, rule in enumerate(LIVING) if rule.name == "signals-unseen")
RUN_RULES = (*ENDED, *LIVING[:_AT], UNCONFIRMED, *LIVING[_AT:])
RUN_FLAGS = (*LIVE_FLAGS, *TRACKER_FLAGS)
GROUPS: tuple[tuple[str, tuple[Rule[Any], ...]], ...] = (
    ("run", RUN_RULES),
    ("flag", RUN_FLAGS),
    ("flag of the box", BOX_FLAGS),
    ("no look", LINK_RULES),
    ("box", BOX_RULES),
)
ALL_RULES: tuple[Rule[Any], ...] = tuple({rule.name: rule for _, group in GROUPS for rule in group}.values())
NAMES = frozenset(rule.name for rule in ALL_RULES)
LAST_NAMES = frozenset(group[-1].name for name, group in GROUPS if not name.startswith("flag"))
__all__ = [
    "ALL_RULES", "BOX_FLAGS", "BOX_RULES", "GROUPS", "LAST_NAMES", "LINK_RULES", "NAMES", "RUN_FLAGS", "RUN_RULES",
]  # fmt: skip
