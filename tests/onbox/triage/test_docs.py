"""docs/triage.md is what the tables say."""

from __future__ import annotations

from pathlib import Path

from onbox.triage.docs import render_page

PAGE = Path(__file__).resolve().parents[3] / "docs" / "triage.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_page(), "run: python scripts/gen_docs.py"
