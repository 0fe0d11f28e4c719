"""The page docs/patrol-truth.md, rendered from the cases of the tests. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.docs.patrol_rules import cell
from tests.patrol.truth import CASES, GROUPS

if TYPE_CHECKING:
    from tests.patrol.case import Case

HEAD = """\
# The truth table of a patrol

*Rendered by `scripts/gen_docs.py` from `tests/patrol/truth.py`, where each row is a test; do not edit.*

What is really so, as somebody at the box's console would tell it, and what the patrol says of it. {count} cases; the
rules are in [patrol-rules.md](patrol-rules.md).
"""


def render_page() -> str:
    """The whole page."""
    parts = [HEAD.format(count=len(CASES))]
    for title, cases in GROUPS:
        head = [f"## {title}", "", "| what is really so | state said | rule | flags | why |", "|---|---|---|---|---|"]
        parts.append("\n".join([*head, *map(_row, cases), ""]))
    return "\n".join(parts)


def _row(case: Case) -> str:
    flags = ", ".join(f"`{flag}`" for flag in case.flags)
    rule = f"`{case.rule}` ({case.severity.name.lower()})" + (", resume may be tried" if case.resume else "")
    return f"| {cell(case.truth)} | {case.state.value} | {rule} | {flags} | {cell(case.why)} |"
