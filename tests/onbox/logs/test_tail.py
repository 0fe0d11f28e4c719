"""The last line of a log, and a search through one."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from onbox.logs.tail import BLOCK_BYTES, LINE_LIMIT, OVERLAP_BYTES, LogTail, find_in_log, last_line, look_at_log
from onbox.system.time_limit import TooLong
from tests.box import BOUND_SECONDS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("line", "tail"),
    [
        (None, b""),
        (None, b"\n\r\n \t\n"),
        (None, b"\x1b[2K\x1b[0m\n\x00\x07\n"),
        ("epoch 3", b"epoch 2\nepoch 3\n"),
        ("epoch 3", b"epoch 2\nepoch 3"),
        ("epoch 3", b"epoch 3\r\n"),
        ("epoch 3", b"epoch 3\n\n  \n\x1b[0m\n"),
        ("30%", b"10%\r20%\r30%"),
        ("30%", b"10%\r20%\r30%\r"),
        ("30%", b"10%\r\x1b[2K30%\r\x1b[2K"),
        ("red", b"\x1b[31mred\x1b[0m\n"),
        ("größe 模", "größe 模\n".encode()),
        ("\ufffd\ufffd", b"\xff\xfe\n"),
        ("\ufffd half", b"\xa8 half\n"),
        ("x" * (LINE_LIMIT - 1) + "…", b"x" * 4096),
        ("HF_TOKEN=***", b"HF_TOKEN=abcd\n"),
    ],
)
def test_the_last_line_is_one_that_can_be_read(line: str | None, tail: bytes) -> None:
    assert line == last_line(tail)


def test_a_log_is_looked_at_from_its_end(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"x" * 3_000_000 + b"\nepoch 3\n")
    os.utime(path, (7, 7))
    assert LogTail(3_000_009, 7.0, "epoch 3") == look_at_log(str(path))


def test_a_log_of_one_huge_line_has_a_short_last_line(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"x" * 3_000_000)
    look = look_at_log(str(path))
    assert look is not None
    assert look.last_line == "x" * (LINE_LIMIT - 1) + "…"


def test_binary_junk_is_a_log_too(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(bytes(range(256)) * 100)
    look = look_at_log(str(path))
    assert look is not None
    assert look.last_line is not None
    assert not set(look.last_line) & {chr(code) for code in [*range(32), *range(127, 160)]}


def test_an_empty_log_has_no_line_and_a_missing_one_is_none(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    assert look_at_log(str(path)) is None
    path.touch()
    look = look_at_log(str(path))
    assert look is not None
    assert (look.size_bytes, look.last_line) == (0, None)


@pytest.mark.parametrize(
    ("offset", "regex", "start"),
    [
        (8, "epoch 1", 0),
        (8, "^epoch 1$", 0),
        (25, "^epoch", 8),
        (27, "epoch 2", 0),
        (27, "epoch [2-9]", 0),
        (27, "epoch 2", 20),
        (None, "epoch 2", 21),
        (None, "epoch 3", 0),
        (None, "epoch 1", 10_000),
        (1, "", 1),
        (17, "größe", 0),
    ],
)
def test_the_first_match_is_found(tmp_path: Path, offset: int | None, regex: str, start: int) -> None:
    path = tmp_path / "train.log"
    path.write_bytes("\nepoch 1\n größe \n\nepoch 2\n".encode())
    assert offset == find_in_log(str(path), regex, start)


def test_no_log_holds_nothing(tmp_path: Path) -> None:
    assert find_in_log(str(tmp_path / "gone"), "x") is None
    (tmp_path / "empty").touch()
    assert find_in_log(str(tmp_path / "empty"), "") is None


@pytest.mark.parametrize("before", [-1, 0, 1, 3, 5])
@pytest.mark.parametrize("start", [0, 1, OVERLAP_BYTES])
def test_a_match_across_blocks_is_found(tmp_path: Path, before: int, start: int) -> None:
    path = tmp_path / "train.log"
    begin = start + BLOCK_BYTES - before
    path.write_bytes(b"\n" * begin + b"saved\n" + b"x\n" * 1000)
    assert begin + 5 == find_in_log(str(path), "^saved$", start)


def test_a_match_behind_several_blocks_is_found(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"\xff\x00\n" * BLOCK_BYTES + b"saved")
    assert find_in_log(str(path), "saved") == 3 * BLOCK_BYTES + 5


MID_LINE = b"x" * (BLOCK_BYTES - OVERLAP_BYTES) + b"saved" + b"y" * (OVERLAP_BYTES + 10)
CUT_LINE = b"x" * (BLOCK_BYTES - 8) + b"\nepoch 1" + b"0\n"


@pytest.mark.parametrize(
    ("content", "regex", "start"),
    [(MID_LINE, "^saved", 0), (CUT_LINE, "epoch 1$", 0), (b"not saved\n", "^saved", 4)],
)
def test_the_border_of_a_block_is_no_line_border(tmp_path: Path, content: bytes, regex: str, start: int) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(content)
    assert find_in_log(str(path), regex, start) is None


@pytest.mark.parametrize("regex", ["(a+)+$", "^(a|aa)+b"])
def test_a_search_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, regex: str) -> None:
    monkeypatch.setattr("onbox.logs.tail.SEARCH_SECONDS", 0.2)
    (tmp_path / "log").write_text("a" * 60 + "!\n")
    began = time.monotonic()
    with pytest.raises(TooLong):
        find_in_log(str(tmp_path / "log"), regex)
    assert time.monotonic() - began < BOUND_SECONDS
    assert find_in_log(str(tmp_path / "log"), "a!") is not None  # nothing of it is left behind
