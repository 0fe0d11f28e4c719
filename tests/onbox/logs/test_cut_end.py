"""What a log shows while its last line is still being written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.logs.progress import ProgressReader

if TYPE_CHECKING:
    from onbox.contract.progress import Progress


def read(log: bytes) -> Progress:
    reader = ProgressReader()
    reader.feed(log)
    return reader.result()


@pytest.mark.parametrize(
    "growing",
    [b"step 94/1", b"step 94/100", b"step 9", b"\rstep 94/10", b"step 94"],
)
def test_half_a_number_is_not_read(growing: bytes) -> None:
    seen = read(b"step 92/1000\nstep 93/1000\n" + growing)
    assert (seen.current, seen.exact_max) == (93, 1000)


def test_half_a_number_of_a_bar_that_is_drawn_over_is_not_read() -> None:
    seen = read(b"step 10/1000\rstep 11/1000\rstep 12/100")
    assert (seen.current, seen.exact_max) == (11, 1000)


@pytest.mark.parametrize("growing", [b"step 94/1000", b"step 1000/1000"])
def test_a_whole_last_line_is_read_though_its_end_has_not_come(growing: bytes) -> None:
    seen = read(b"step 92/1000\nstep 93/1000\n" + growing)
    assert (seen.current, seen.exact_max) == (int(growing[5:-5]), 1000)


def test_half_a_loss_is_not_read() -> None:
    reader = ProgressReader()
    reader.feed(b"step 1 loss 0.5123\nstep 2 loss 0.4")
    assert reader.readings()["loss"].value == 0.5123
