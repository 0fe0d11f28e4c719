"""What a terminal sends for a key, by its name."""

from __future__ import annotations

import pytest

from onbox.terminal.keys import names_of


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        (b"", []),
        (b"q", ["q"]),
        (b"Q", ["q"]),
        (b"\x1b[A\x1b[B", ["up", "down"]),
        (b"\x1bOA", ["up"]),
        (b"\r\n", ["enter", "enter"]),
        (b"\x1b", ["esc"]),
        (b"\x1b[5~j", ["page_up", "j"]),
        (b"\x1b[1;5A", []),
        (b"\x1b[200~", []),
        ("é".encode(), []),
        (b"\x00\xff", []),
    ],
)
def test_keys_have_names_and_others_are_left_out(typed: bytes, names: list[str]) -> None:
    assert names_of(typed) == names
