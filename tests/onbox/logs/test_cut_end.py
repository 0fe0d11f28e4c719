"""What a log shows while its last line is still being written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.chain.observe.resume_pairs import ResumePairs
from onbox.logs.progress import ProgressReader

if TYPE_CHECKING:
    from pathlib import Path

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


LOGS = {
    "lines": b"step 1/9 loss 12.5 grad_norm 1.5e-3 lr 1e-05\nstep 2/9 loss 0.0125 grad_norm 2.5e+2 lr 1e-04\n",
    "a bar": b"\r 10%|# | 1/9 [loss=12.5]\r 20%|## | 2/9 [loss=1.25e-1]\r 30%| | 3/9 [0:03, loss=0.5]\n",
}


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_wherever_a_log_is_cut_no_reading_is_half_a_number(log: bytes) -> None:
    """A reading enters the series for ever, and is what the detectors judge."""
    shown = {12.5, 1.5e-3, 1e-05, 0.0125, 250.0, 1e-04, 0.125, 0.5}
    for cut in range(len(log) + 1):
        reader = ProgressReader()
        reader.feed(log[:cut])
        assert {one.value for one in reader.readings().values()} <= shown, log[:cut]


def test_half_a_loss_of_a_killed_attempt_is_not_compared(tmp_path: Path) -> None:
    old, new = tmp_path / "train.1.log", tmp_path / "train.2.log"
    old.write_bytes(b"step 1 loss 12.5\nstep 2 loss 12.4\nstep 3 loss 1")
    new.write_bytes(b"step 2 loss 12.4\nstep 3 loss 12.3\n")
    pairs = ResumePairs(str(old), str(new))
    pairs.look()
    assert [(one.before, one.now) for one in pairs.pairs] == [(12.4, 12.4)]
