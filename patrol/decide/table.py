"""The decision table: every rule, in the order in which it is asked.

RUN_RULES: the first that fires names the verdict. RUN_FLAGS and BOX_FLAGS: each that fires is told beside it.
LINK_RULES: for what could not be looked at. BOX_RULES: for a box by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from patrol.decide.rules_alive import LIVING, RUN_FLAGS
from patrol.decide.rules_box import BOX_FLAGS, BOX_RULES, LINK_RULES
from patrol.decide.rules_end import ENDED

if TYPE_CHECKING:
    from patrol.decide.rule import Rule

RUN_RULES = (*ENDED, *LIVING)
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
