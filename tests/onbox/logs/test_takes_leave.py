"""The lines with which programs take leave: each row knows its example, and no row has the name of another."""

from __future__ import annotations

import pytest

from onbox.logs.judge.ending.takes_leave import LEAVES, Leave, ends_a_process


@pytest.mark.parametrize("leave", LEAVES, ids=lambda leave: leave.program)
def test_a_program_is_known_by_its_last_line(leave: Leave) -> None:
    assert ends_a_process(["working", leave.example])


def test_programs_are_told_apart() -> None:
    assert len({leave.program for leave in LEAVES}) == len(LEAVES)


def test_a_line_above_the_last_one_is_no_leave() -> None:
    assert not ends_a_process([LEAVES[0].example, "working"])
