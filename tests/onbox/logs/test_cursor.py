"""Going on in a log that grows, is rotated, cut, or cut and grown again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.cursor import Cursor, look_on

if TYPE_CHECKING:
    from pathlib import Path


def _look(path: Path, cursor: Cursor | None) -> tuple[str, bytes, Cursor]:
    look = look_on(str(path), cursor)
    assert look is not None
    return look.event, b"|".join(stretch.data for stretch in look.stretches), look.cursor


def test_no_file(tmp_path: Path) -> None:
    assert look_on(str(tmp_path / "none.log"), None) is None


def test_only_new_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\n")
    event, data, cursor = _look(path, None)
    assert (event, data) == ("first", b"one\n")
    assert _look(path, cursor)[:2] == ("same", b"")
    with path.open("ab") as file:
        file.write(b"two\n")
    assert _look(path, cursor)[:2] == ("grown", b"two\n")


def test_rotated(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\n")
    cursor = _look(path, None)[2]
    path.rename(tmp_path / "a.log.1")
    path.write_bytes(b"other and longer\n")
    assert _look(path, cursor)[:2] == ("rotated", b"other and longer\n")


def test_truncated(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one two three\n")
    cursor = _look(path, None)[2]
    path.write_bytes(b"one\n")
    assert _look(path, cursor)[:2] == ("truncated", b"one\n")


def test_copied_away_cut_and_grown_past_the_offset(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x" * 1000)
    cursor = _look(path, None)[2]
    path.write_bytes(b"y" * 2000)
    event, data, after = _look(path, cursor)
    assert (event, len(data), after.offset) == ("rewritten", 2000, 2000)
