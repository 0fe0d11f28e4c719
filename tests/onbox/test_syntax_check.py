"""What of a command line its shell cannot read, and what nobody can say that of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.chain.command.syntax_check import why_unreadable

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("line", ["if true", "fi", "while true", "case x in", "echo (", "if true; then\nexit 0\nx ("])
def test_what_is_open_or_closes_nothing_is_told(line: str) -> None:
    assert why_unreadable(line).startswith("bash cannot read its command: line ")


@pytest.mark.parametrize("line", ["python a.py\nexit 0\nnotes (of mine", "python a.py; true\n  exit\nit's", "true"])
def test_what_lies_behind_an_exit_is_read_by_no_shell(line: str) -> None:
    assert why_unreadable(line) == ""


def test_an_exit_in_a_here_document_ends_nothing() -> None:
    assert why_unreadable("cat <<END\nexit 0\nEND\necho (")


@pytest.mark.parametrize("does", ["echo odd >&2; kill -9 $$", "exit 1"])
def test_a_shell_that_was_killed_or_says_nothing_blames_no_command(tmp_path: Path, does: str) -> None:
    shell = tmp_path / "bash"
    shell.write_text(f"#!/bin/sh\n{does}\n")
    shell.chmod(0o755)
    assert why_unreadable("echo 'open", lambda _: str(shell)) == ""
