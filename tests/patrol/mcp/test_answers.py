"""What an answer holds, and how a log's end is taken apart. Pure."""

from __future__ import annotations

import pytest

from onbox.contract.readings import Absent, Unseen
from onbox.fence import fenced
from patrol.mcp.answers import page, plain, unseen_of
from patrol.mcp.log_tail import Tail, parse_tail
from patrol.ssh.client import Answer, NoAnswer


def heard(text: bytes) -> Answer:
    return Answer(text, 0, 0.1, 0.1)


def tail(text: bytes, lines: int = 50, since: int | None = None, window: int = 100, *, grep: bool = False) -> object:
    return parse_tail(heard(text), lines, since, window, grep=grep)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (tail(b"6\n0\na\nb\nc\n\n"), Tail(("a", "b", "c"), 0, 6)),
        (tail(b"6\n0\na\nb\nc\n\n", lines=2), Tail(("b", "c"), 0, 6)),
        (tail(b"9\n4\nut\nb\nc\n\n"), Tail(("b", "c"), 4, 9)),  # the window begins within a line
        (tail(b"9\n4\nb\nc\n\n", since=4), Tail(("b", "c"), 4, 9)),
        (tail(b"99\n4\nb\ncu\n", since=4, window=4), Tail(("b",), 4, 6)),  # the rest comes with the next cursor
        (tail(b"9\n4\na\nb\nc\n\n", lines=1, since=4), Tail(("a",), 4, 6)),
        (tail(b"absent\n"), Absent("there is no such log yet")),
        (tail(b""), Unseen("the log could not be read")),
    ],
)
def test_the_end_of_a_log(found: object, wanted: object) -> None:
    assert found == wanted


def test_a_log_that_was_replaced_is_said() -> None:
    assert "it was replaced" in tail(b"3\n9\n\n", since=9).why  # type: ignore[attr-defined]


def test_no_answer_is_could_not_look() -> None:
    assert parse_tail(NoAnswer("timeout", "no word", b"", 1.0), 5, None, 9, grep=False) == Unseen("timeout: no word")


def test_a_fence_masks_and_bounds() -> None:
    assert fenced("") is None
    assert fenced("a\x1b[31mb\nc") == {"untrusted": "ab c"} or "\x1b" not in str(fenced("a\x1b[31mb"))
    assert "hunter2hunter2" not in str(fenced("password=hunter2hunter2"))
    assert len(str(fenced("x" * 99999))) < 3000


def test_absent_and_unseen_differ() -> None:
    assert (plain({"absent": "none"}), unseen_of({"absent": "none"})) == (None, None)
    assert (plain({"unknown": "no link"}), unseen_of({"unknown": "no link"})) == (None, "«no link»")
    assert plain({"a": 1}) == {"a": 1}


def test_pages_follow_each_other() -> None:
    first, cursor = page(list(range(5)), None, 3)
    assert (first, cursor) == ([0, 1, 2], "3")
    assert page(list(range(5)), cursor, 3) == ([3, 4], None)
    with pytest.raises(ValueError, match="cursor"):
        page([1], "7")
