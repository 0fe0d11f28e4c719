"""No line is slow: the patterns take linear time, whatever stands in a line."""

from __future__ import annotations

import time

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence
from onbox.triage.rules.table import ROWS

NEEDS = " ".join(sorted({word for row in ROWS for word in row.need.split("|")}))
LINES = [
    NEEDS,
    "loss " * 400,
    "train_loss_" * 180,
    "error 4 " * 250,
    "1 " * 1000,
    "aaaa_" * 400,
    "a" * 2000,
    "x/y" * 600,
]


@pytest.mark.parametrize("line", LINES, ids=[line[:12].strip() for line in LINES])
def test_a_dense_line_takes_a_moment(line: str) -> None:
    began = time.process_time()
    classify("\n".join(f"{line} {letter} error" for letter in "abcdefgh").encode(), Evidence(exit_code=1))
    assert time.process_time() - began < 20.0
