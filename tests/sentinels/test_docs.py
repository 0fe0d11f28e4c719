"""The rendered page is that of the tables now."""

from __future__ import annotations

from sentinels.docs import render_page
from tests.box import REPOSITORY


def test_the_page_is_up_to_date() -> None:
    page = REPOSITORY / "docs/sentinel-truth.md"
    assert page.read_text(encoding="utf-8") == render_page(), "run: python scripts/gen_docs.py"
