"""A queue file as it is found: whole, growing, from another system, or wrong."""

from __future__ import annotations

import pytest

from onbox.sweep.cells.queue_file import parse_queue


def names(text: bytes, *, is_quiet: bool = True) -> list[str]:
    return [draft.name for draft in parse_queue(text, ("n",), "q.txt", is_quiet=is_quiet).drafts]


@pytest.mark.parametrize(
    "text", [b"n=1\nn=2\n", b"n=1\r\nn=2\r\n", b"\xef\xbb\xbfn=1\nn=2\n", b"# x\n\nn=1\n  \nn=2 # y\n", b"n=1\nn=2"]
)
def test_the_same_cells_however_it_was_written(text: bytes) -> None:
    assert names(text) == ["n=1", "n=2"]


def test_a_last_line_that_may_still_grow_is_waited_for() -> None:
    queue = parse_queue(b"n=1\nn=2", ("n",), "q.txt", is_quiet=False)
    assert [draft.name for draft in queue.drafts] == ["n=1"]
    assert queue.is_growing


def test_a_wrong_line_is_told_with_its_number_and_the_others_count() -> None:
    queue = parse_queue(b"n=1\nm=2\nn=1\nn=3\n", ("n",), "q.txt", is_quiet=True)
    assert [draft.name for draft in queue.drafts] == ["n=1", "n=3"]
    assert queue.problems == (
        "q.txt line 2: lacks n; m is in no command",
        "q.txt line 3: the same cell as q.txt:1: each cell runs once",
    )


def test_a_cell_knows_its_line() -> None:
    assert parse_queue(b"\nn=1\n", ("n",), "q.txt", is_quiet=True).drafts[0].origin == "q.txt:2"
