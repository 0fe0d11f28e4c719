"""Which terminals get tables; everything else gets plain lines."""

from __future__ import annotations

import io

import pytest

from onbox.terminal.capable import is_utf8, obeys, shows_tables


class Stream(io.StringIO):
    """A standard output. encoding: of its text layer."""

    encoding = "utf-8"

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


GOOD = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("environ", "columns", "shown"),
    [
        (GOOD, 80, True),
        (GOOD, 60, True),
        (GOOD, 59, False),
        (GOOD, 40, False),
        ({**GOOD, "NO_COLOR": "1"}, 80, False),
        ({**GOOD, "NO_COLOR": ""}, 80, True),
        ({"TERM": "dumb"}, 80, False),
        ({}, 80, False),
        ({**GOOD, "LC_ALL": "C"}, 80, False),
    ],
)
def test_a_table_is_shown_where_it_can_be_read(
    environ: dict[str, str], columns: int, *, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert shows_tables(Stream(terminal=True), environ) is shown


def test_a_pipe_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert not shows_tables(Stream(terminal=False), GOOD)
    assert not obeys(Stream(terminal=False), GOOD)


@pytest.mark.parametrize(
    ("encoding", "environ", "is_it"),
    [
        ("utf-8", {}, True),
        ("UTF8", {"LANG": "de_DE.UTF-8"}, True),
        ("utf-8", {"LANG": "en_US.utf8"}, True),
        ("utf-8", {"LANG": "C.UTF-8"}, True),
        ("utf-8", {"LANG": "sr_RS.UTF-8@latin"}, True),
        ("utf-8", {"LANG": "C.UTF-8", "LC_ALL": "POSIX"}, False),
        ("utf-8", {"LC_CTYPE": "de_DE.ISO-8859-1"}, False),
        ("iso8859-1", {}, False),
        ("no-such-encoding", {}, False),
        (None, {}, False),
    ],
)
def test_the_locale_counts_beside_the_encoding(encoding: str | None, environ: dict[str, str], *, is_it: bool) -> None:
    assert is_utf8(encoding, environ) is is_it
