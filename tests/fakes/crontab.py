"""A crontab(1) that keeps its table in a file, first on a PATH."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """#!/bin/sh
file={table}
case "$1" in
  -l) [ -e "$file" ] || {{ echo "no crontab for me" >&2; exit 1; }}; cat "$file" ;;
  -r) rm "$file" ;;
  -) cat >"$file" ;;
esac
"""


def fake_crontab(folder: Path, env: dict[str, str]) -> Path:
    """The file that holds the table; there is none yet. folder: where all of it lies; env: whose PATH finds it."""
    folder.mkdir()
    program = folder / "crontab"
    program.write_text(PROGRAM.format(table=folder / "table"))
    program.chmod(0o755)
    env["PATH"] = f"{folder}:{env['PATH']}"
    return folder / "table"
