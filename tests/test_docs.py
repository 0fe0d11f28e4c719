"""Pages that are rendered say what the tables in the code say now."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.box import REPOSITORY

PACKAGES = ("onbox", "patrol", "sentinels", "handbook")
NAMES = re.compile(r"(?<![\w.])[\w*]+\.py\b")


def test_every_rendered_page_is_up_to_date() -> None:
    program = [sys.executable, str(REPOSITORY / "scripts/gen_docs.py"), "--check"]
    result = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, f"run: python scripts/gen_docs.py\n{result.stdout}{result.stderr}"


def test_every_file_of_the_architecture_is_there() -> None:
    rooms = (REPOSITORY / "docs/architecture.md").read_text().partition("```\n")[2].partition("```")[0]
    folder, missing = "", []
    for line in rooms.splitlines():
        if not line.startswith(" "):
            folder = line.split()[0]
        missing += [f"{folder}{name}" for name in NAMES.findall(line) if not list(REPOSITORY.glob(f"{folder}{name}"))]
        missing += [] if (REPOSITORY / folder).is_dir() else [folder]
    assert missing == []


def test_every_file_of_the_walks_is_there() -> None:
    walks = (REPOSITORY / "docs/architecture.md").read_text().partition("## Four walks")[2]
    files = {path.relative_to(REPOSITORY).as_posix() for top in PACKAGES for path in (REPOSITORY / top).rglob("*.py")}
    named = re.findall(r"`([\w/]+\.py)`", walks)
    assert len(named) > 30
    assert [name for name in named if not any(file.endswith(f"/{name}") or file == name for file in files)] == []


def test_every_package_has_its_room() -> None:
    rooms = (REPOSITORY / "docs/architecture.md").read_text()
    named = set(re.findall(r"([\w]+)/", rooms))
    packages = {path.parent.name for top in PACKAGES for path in (REPOSITORY / top).rglob("__init__.py")}
    assert packages - named == set()


def test_every_package_names_files_that_are_there() -> None:
    for top in PACKAGES:
        for path in (REPOSITORY / top).rglob("__init__.py"):
            told = re.findall(r"`([\w./]+\.py)`", path.read_text())
            assert [name for name in told if not (path.parent / name).exists()] == [], path
