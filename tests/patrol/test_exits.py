"""The page of exit codes, the help and the code say the same."""

from __future__ import annotations

import re

from click.testing import CliRunner

from patrol.act.perform import with_words
from patrol.cli import PROGRAM
from patrol.exits import EXIT_MEANINGS
from tests.box import REPOSITORY


def test_the_page_has_every_code() -> None:
    page = (REPOSITORY / "docs" / "exit-codes.md").read_text().partition("# Exit codes of `patrol`")[2]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)] == [
        code for code, _ in EXIT_MEANINGS
    ]


def test_the_help_has_every_command_and_code() -> None:
    text = CliRunner().invoke(PROGRAM, ["--help"]).output
    unfolded = " ".join(text.split())
    assert all(f" {code} {meaning}" in unfolded for code, meaning in EXIT_MEANINGS)
    assert all(re.search(rf"^  {name}\b", text, re.MULTILINE) for name in PROGRAM.table)
    page = "".join((REPOSITORY / "docs" / name).read_text() for name in ("patrol.md", "results.md"))
    assert all(f"patrol {name}" in page for name in PROGRAM.table)


def test_a_line_stays_a_line() -> None:
    assert with_words("x" * 300, "resumed") == "x" * 188 + "… · resumed"
    assert len(with_words("x" * 300, "y" * 300)) == 199
    assert with_words("x", "y") == "x · y"
