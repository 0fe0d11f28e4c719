"""docs/patrol-ssh.md tells of the reasons that there are."""

from __future__ import annotations

import os
import runpy

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")


def test_table_of_reasons_is_as_rendered() -> None:
    with open(os.path.join(ROOT, "docs", "patrol-ssh.md"), encoding="utf-8") as file:
        page = file.read()
    render = runpy.run_path(os.path.join(ROOT, "scripts", "render_ssh_docs.py"))["render"]
    assert render(page) == page, "run: python scripts/render_ssh_docs.py"
