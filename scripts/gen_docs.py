"""Render the pages of docs/, and the parts of them, that are tables in the code.

python scripts/gen_docs.py            write them
python scripts/gen_docs.py --check    end with 1 if one is out of date
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from scripts.docs import (  # noqa: E402 - found by the line above
    commands,
    configuration,
    next_steps,
    patrol_rules,
    patrol_ssh,
    patrol_truth,
    progress,
    sentinel,
    triage,
    trust,
)

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES: tuple[tuple[str, Callable[[], str]], ...] = (
    ("docs/commands.md", commands.render_page),
    ("docs/configuration.md", configuration.render_page),
    ("docs/next-steps.md", next_steps.render_page),
    ("docs/triage.md", triage.render_page),
    ("docs/progress.md", progress.render_page),
    ("docs/patrol-rules.md", patrol_rules.render_page),
    ("docs/patrol-truth.md", patrol_truth.render_page),
    ("docs/sentinel-truth.md", sentinel.render_page),
    ("docs/trust.md", trust.render_page),
)
# A page of which one table is rendered: the page as it is -> the page with its table renewed
PARTS: tuple[tuple[str, Callable[[str], str]], ...] = (("docs/patrol-ssh.md", patrol_ssh.renew),)


def main() -> int:
    wanted = {name: render() for name, render in PAGES}
    wanted |= {name: renew(_text_of(name) or "") for name, renew in PARTS}
    stale = [name for name, text in wanted.items() if _text_of(name) != text]
    if "--check" not in sys.argv:
        for name in stale:
            with open(os.path.join(ROOT, name), "w", encoding="utf-8") as file:
                file.write(wanted[name])
    print("\n".join(stale) or "up to date")
    return 1 if stale and "--check" in sys.argv else 0


def _text_of(name: str) -> str | None:
    """The page as it is. None: there is none yet."""
    try:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
