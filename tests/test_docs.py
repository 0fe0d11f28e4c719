"""Pages that are rendered say what the tables in the code say now."""

from __future__ import annotations

import importlib
import re
import shlex
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import click
import pytest

from onbox.config.parse import parse_config
from onbox.project import parse_toml
from tests.box import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

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


# -- links: on a forge they work as they stand, and the site (mkdocs.yml) is built from the same pages

TEXTS = [
    path
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md")
    for path in REPOSITORY.glob(pattern)
    if ".venv" not in path.parts
]
LINKS = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)")


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "``", re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(text: str) -> set[str]:
    """Of its headings, as a forge makes them."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).lower() for head in heads)
    return {re.sub(r"[^\w\- ]", "", head).strip().replace(" ", "-") for head in plain}


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_every_link_leads_somewhere(page: Path) -> None:
    dead = []
    for path, anchor in LINKS.findall(without_code(page.read_text())):
        target = page.parent / path if path else page
        if not target.exists():
            dead.append(path)
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
            dead.append(f"{path}#{anchor}")
    assert dead == []


def test_every_page_has_its_place_on_the_site() -> None:
    nav = (REPOSITORY / "mkdocs.yml").read_text().partition("\nnav:")[2]
    pages = {path.relative_to(REPOSITORY / "docs").as_posix() for path in (REPOSITORY / "docs").rglob("*.md")}
    listed = set(re.findall(r"([\w/-]+\.md)$", nav, re.MULTILINE))
    decisions = {page for page in pages if page.startswith("decisions/0")}
    assert pages - decisions == listed
    index = (REPOSITORY / "docs/decisions/README.md").read_text()
    assert [page for page in decisions if page.removeprefix("decisions/") not in index] == []


# -- what a how-to tells to type

HOW_TO = sorted((REPOSITORY / "docs/howto").glob("*.md"))
PROGRAMS = {"onbox": "onbox.cli.app", "patrol": "patrol.cli", "sentinel": "sentinels.cli", "handbook": "handbook.cli"}


def commands_of(page: Path) -> list[list[str]]:
    text = page.read_text()
    typed = re.findall(r"^ {4,}((?:onbox|patrol|sentinel|handbook) .*)$", text, re.MULTILINE)
    typed += re.findall(r"`((?:onbox|patrol|sentinel|handbook) [^`]*)`", text)
    return [shlex.split(part) for line in typed for part in line.split(" && ")]


@pytest.mark.parametrize("page", HOW_TO, ids=lambda path: path.stem)
def test_every_command_of_a_how_to_is_there_with_its_options(page: Path) -> None:
    assert commands_of(page)
    for words in commands_of(page):
        if words[0] not in PROGRAMS:
            continue
        found: click.Command = importlib.import_module(PROGRAMS[words[0]]).PROGRAM
        context, rest = click.Context(found), words[1:]
        while isinstance(found, click.Group) and rest and (below := found.get_command(context, rest[0])) is not None:
            found, rest = below, rest[1:]
        assert found.name != words[0], f"no such command: {words}"
        known = {name for one in found.params for name in one.opts}
        if isinstance(found, click.Group) and (start := found.get_command(context, "start")) is not None:
            known |= {name for one in start.params for name in one.opts}  # what no command means
        ours = rest[: rest.index("--")] if "--" in rest else rest
        assert [word for word in ours if word.startswith("-") and word not in known] == [], words


@pytest.mark.parametrize("page", HOW_TO, ids=lambda path: path.stem)
def test_every_key_of_a_how_to_is_one(page: Path) -> None:
    for block in re.findall(r"^( *)```toml\n(.*?)^\1```$", page.read_text(), re.MULTILINE | re.DOTALL):
        parse_config(parse_toml(textwrap.dedent(block[1]).encode(), page.name), default_name="digits")
