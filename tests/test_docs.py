"""Pages that are rendered say what the tables in the code say now."""

from __future__ import annotations

import subprocess
import sys

from tests.box import REPOSITORY


def test_every_rendered_page_is_up_to_date() -> None:
    program = [sys.executable, str(REPOSITORY / "scripts/gen_docs.py"), "--check"]
    result = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, f"run: python scripts/gen_docs.py\n{result.stdout}{result.stderr}"
