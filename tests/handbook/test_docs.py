"""The page in docs/ says what the code says."""

from __future__ import annotations

from handbook.cli import PROGRAM
from handbook.exits import EXIT_MEANINGS
from tests.box import REPOSITORY


def test_exit_codes_and_commands_are_those_of_the_code() -> None:
    text = (REPOSITORY / "docs" / "handbook.md").read_text(encoding="utf-8")
    for code, meaning in EXIT_MEANINGS:
        assert f"| {code} | {meaning} |" in text
    for command in PROGRAM.table:
        assert f"handbook {command}" in text


def test_who_takes_over_one_of_several_runs_is_told_to_name_it() -> None:
    text = (REPOSITORY / "docs" / "howto" / "take-over.md").read_text(encoding="utf-8")
    assert "handbook log --run digits " in text
