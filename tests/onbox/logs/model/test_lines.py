"""A log's bytes as lines, and lines without their prefixes."""

from __future__ import annotations

import pytest

from onbox.logs.model.lines import CARRY_LIMIT_BYTES, blocks, message, pieces, readable, stamp_seconds


def test_lines_are_numbered_across_blocks() -> None:
    found = [(block.first, block.lines) for block in blocks([b"a\nb", b"b\nc\nd"])]
    assert found == [(1, [b"a"]), (2, [b"bb", b"c"]), (4, [b"d"])]


def test_a_line_without_end_is_given_too() -> None:
    assert [block.lines for block in blocks([b"end"])] == [[b"end"]]


def test_an_endless_line_keeps_its_ends() -> None:
    (block,) = blocks([b"head" + b"x" * CARRY_LIMIT_BYTES, b"y" * CARRY_LIMIT_BYTES + b"tail"])
    (line,) = block.lines
    assert line.startswith(b"head")
    assert line.endswith(b"tail")
    assert len(line) < CARRY_LIMIT_BYTES


def test_an_endless_bar_is_given_in_parts() -> None:
    bar = b"10%|#| 1/10\r" * 200_000
    assert all(block.first == 1 for block in blocks([bar, b"end\n"]))


def test_carriage_returns_part_a_line() -> None:
    assert pieces(7, [b"1%\r2%\r\r"]) == [(7, b"1%"), (7, b"2%")]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"a\x00b\r", "ab"),
        (b"\xff\xfeok", "��ok"),
        (b"", ""),
    ],
)
def test_a_line_becomes_readable(line: bytes, text: str) -> None:
    assert readable(line) == text


def test_a_long_line_is_cut() -> None:
    assert len(readable(b"x" * 10_000_000)) < 3000


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('[rank3]:   File "x", line 3', '  File "x", line 3'),
        ("0: KeyError: 1", "KeyError: 1"),
        ("(Worker pid=12, ip=10.0.0.1) KeyError: 1", "KeyError: 1"),
        ("2026-01-01 12:00:00,123 - ERROR - KeyError: 1", "KeyError: 1"),
        ("2026-01-01T12:00:00.1Z stderr F KeyError: 1", "KeyError: 1"),
        ("stderr | KeyError: 1", "KeyError: 1"),
        ("trainer-1  | KeyError: 1", "KeyError: 1"),
        ("[1,3]<stderr>:KeyError: 1", "KeyError: 1"),
        ("ERROR:root:KeyError: 1", "KeyError: 1"),
        ("E1102 15:40:11.551021 123 foo.cc:3] KeyError: 1", "KeyError: 1"),
        ("wandb: ERROR KeyError: 1", "KeyError: 1"),
        ("KeyError: 1", "KeyError: 1"),
        ("    indented = 1", "    indented = 1"),
    ],
)
def test_prefixes_are_taken_off(line: str, said: str) -> None:
    assert message(line).text == said


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("2026-01-01 12:00:00 WARNING x", "WARNING"),
        ("[E ProcessGroupNCCL.cpp:475] x", "ERROR"),
        ("W1102 15:40:11.5 123 foo.cc:3] x", "WARNING"),
        ("nothing at all", None),
    ],
)
def test_the_level_is_found(line: str, level: str | None) -> None:
    assert message(line).level == level


def test_a_time_stamp_is_read() -> None:
    assert stamp_seconds("[2026-01-01 00:00:01] x") == stamp_seconds("2026-01-01T00:00:01Z y")
    assert stamp_seconds("step 12") is None
    assert stamp_seconds("0000-13-45 25:61:61 a time that does not exist") is not None
