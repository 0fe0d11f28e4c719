"""Render docs/patrol-rules.md and docs/patrol-truth.md from the tables in the code and in the tests.

python scripts/render_patrol_docs.py            write them
python scripts/render_patrol_docs.py --check    end with 1 if one is out of date
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from patrol.decide.docs import cell, render_rules  # noqa: E402 - found by the line above
from tests.patrol.truth import CASES, GROUPS  # noqa: E402 - as above

if TYPE_CHECKING:
    from tests.patrol.case import Case

HEAD = """\
# The truth table of a patrol

*Rendered by `scripts/render_patrol_docs.py` from `tests/patrol/truth.py`, where each row is a test; do not edit.*

What is really so, as somebody at the box's console would tell it, and what the patrol says of it. {count} cases; the
rules are in [patrol-rules.md](patrol-rules.md).
"""


def render_truth() -> str:
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


PAGES = (("docs/patrol-rules.md", render_rules), ("docs/patrol-truth.md", render_truth))


def main() -> int:
    stale = []
    for name, render in PAGES:
        path = os.path.join(ROOT, name)
        wanted = render()
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if file.read() == wanted:
                    continue
        stale.append(name)
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(wanted)
    print("\n".join(stale) or "up to date")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
